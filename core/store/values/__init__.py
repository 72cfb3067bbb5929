"""Values as columns: JSON text, sealing, caches of opened values. Imports ``file``."""
