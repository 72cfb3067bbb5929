"""A deterministic world in which the engine's steps are run, crashed, doubled and overtaken."""
