"""The analysis of which expressions are hidden. Called by ``definition``; imports ``syntax``."""
