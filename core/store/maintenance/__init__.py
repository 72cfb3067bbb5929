"""The care of a database: its status, its check, backups, their restoration.

Called by the commands of ``zonda db`` and nobody else, so SQLAlchemy may be imported here. Imports
every other part of the store; knows no engine but by its lock.
"""
