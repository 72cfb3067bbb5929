"""The membership of one process in a cluster: its lease, its clock, what members tell each other.

Called by ``core.app`` where the database is on a server; nothing of it is imported for SQLite.
"""
