"""Groups of arguments that several commands share. Imports ``console``."""
