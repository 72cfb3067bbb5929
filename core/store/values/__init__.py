"""Values as columns: JSON text, sealing, caches of what was opened. Imports ``file``."""
