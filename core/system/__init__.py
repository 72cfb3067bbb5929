"""The clock, ids, memory, folders, addresses: alone in reading time and chance. Imports nothing."""
