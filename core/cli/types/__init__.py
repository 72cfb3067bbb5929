"""The commands ``resource type`` and ``type``. Imports ``options`` and ``console``."""
