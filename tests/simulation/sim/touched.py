"""Which stacks and resources were written, noted by the database itself.

For the watcher, which would read every row after every commit. What is rolled back is not noted.
"""

from __future__ import annotations

import sqlite3

NOTED = "CREATE TEMP TABLE touched (kind TEXT, id TEXT, PRIMARY KEY (kind, id))"
NOTE = """CREATE TEMP TRIGGER touched_by_{what}_of_{table} AFTER {what} ON main.{table}
BEGIN INSERT OR IGNORE INTO touched VALUES ('{table}', {row}.id); END"""
TABLES = ("stack", "resource")
WRITES = {"INSERT": "new", "UPDATE": "new", "DELETE": "old"}


class Touched:
    """Collects from now on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute(NOTED)
        for table in TABLES:
            for what, row in WRITES.items():
                connection.execute(NOTE.format(what=what, table=table, row=row))

    def take(self) -> tuple[list[str], list[str]]:
        """Ids of stacks and of resources, in order; forgotten with that."""
        found: dict[str, list[str]] = {table: [] for table in TABLES}
        for table, key in self._connection.execute("SELECT kind, id FROM touched ORDER BY id"):
            found[table].append(key)
        self._connection.execute("DELETE FROM touched")
        return found["stack"], found["resource"]
