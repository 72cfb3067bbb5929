"""A database that fails at the n-th statement of a transaction: full, or kept locked."""

from __future__ import annotations

import sqlite3
from typing import Any

from zonda.core.store.file import turn
from zonda.core.store.file.connection import DIALECT, FileConnection

KINDS = {
    sqlite3.SQLITE_FULL: "database or disk is full",
    sqlite3.SQLITE_BUSY: "database is locked",
    sqlite3.SQLITE_IOERR: "disk I/O error",
}


class Faulty:
    """Stands in for the store's connection; ``arm`` makes one of the next statements fail."""

    dialect, Error, where = DIALECT, sqlite3.Error, ":memory:"
    to_store_error, add_events = FileConnection.to_store_error, FileConnection.add_events
    wait_for_others, make_list = FileConnection.wait_for_others, FileConnection.make_list

    def __init__(self, connection: FileConnection) -> None:
        self._connection = connection
        self._left: int | None = None
        self._kind = sqlite3.SQLITE_FULL
        self._paused = False
        self.has_failed = False

    def pause(self, on: bool) -> None:
        """Count no statements meanwhile."""
        self._paused = on

    def arm(self, statements: int | None, kind: int = sqlite3.SQLITE_FULL) -> None:
        """Fail after so many statements; None: not at all."""
        self._left, self._kind = statements, kind

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def begin(self) -> None:
        turn.begin_transaction(self)  # type: ignore[arg-type]

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        self.execute("ROLLBACK")

    def close(self) -> None:
        self._connection.close()

    def execute(self, statement: str, *values: Any) -> Any:
        self._perhaps(statement)
        return self._connection.execute(statement, *values)

    def executemany(self, statement: str, values: Any) -> Any:
        self._perhaps(statement)
        return self._connection.executemany(statement, values)

    def _perhaps(self, statement: str) -> None:
        if self._left is None or self._paused or statement == "ROLLBACK":
            return
        self._left -= 1
        if self._left >= 0:
            return
        self._left, self.has_failed = None, True
        if self._kind == sqlite3.SQLITE_FULL and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")  # SQLite does that by itself
        error = sqlite3.OperationalError(KINDS[self._kind])
        error.sqlite_errorcode = self._kind
        raise error
