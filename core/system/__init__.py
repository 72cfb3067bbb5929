"""The clock, ids, memory and folders: the only readers of time and chance. Imports nothing."""
