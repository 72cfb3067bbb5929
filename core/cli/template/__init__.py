"""The commands ``template`` and ``capabilities``. Imports ``options`` and ``console``."""
