"""The commands ``plugin``. Imports ``options`` and ``console``."""
