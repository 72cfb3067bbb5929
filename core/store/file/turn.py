"""The turn of a writing process: SQLite lets one write at a time, and has no queue.

Called by the store and by upgrades. What holds the database longest is the plan of a large stack on
a machine that has much else to do: seconds, not minutes.
"""

from __future__ import annotations

import sqlite3

#: Seconds that SQLite waits at a stretch; Ctrl-C is heard in between.
STRETCH = 5.0
#: Stretches after which a writer gives up: a minute together.
STRETCHES = 12


def begin_transaction(connection: sqlite3.Connection) -> None:
    """Begin a transaction that writes; raises sqlite3.Error when others write all the while."""
    for _ in range(STRETCHES - 1):
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
    connection.execute("BEGIN IMMEDIATE")
