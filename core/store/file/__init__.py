"""The file of the database: its lock, its version, migrations, SQLite's errors.

Called by ``write``, ``read`` and ``values``; imports ``schema``.
"""
