"""Commands that change a stack. Imports ``options``, ``console`` and ``progress``."""
