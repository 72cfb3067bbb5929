"""The commands ``stack drift``. Imports ``options``, ``console`` and ``progress``."""
