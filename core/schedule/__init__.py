"""The clock room: a few fixed sweeps that call the engine and hold no logic."""
