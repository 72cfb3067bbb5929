"""The database of one zonda: opened once, one writing connection, readers on their own.

The engine thread alone uses ``transaction``; everybody reads through ``reader``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..database.protocols import Connection, Database
from ..file.connection import MEMORY
from ..read.opening import find_database
from ..read.reader import Reader
from ..values.sealing import Sealer
from .duties import Ownership
from .edges import Edges
from .known_rows import KnownRows
from .transaction import Fenced, Transaction


class Store:
    """An open database. Make one with ``open_store``."""

    def __init__(
        self, database: Database, connection: Connection, sealer: Sealer, read_only: bool
    ) -> None:
        self.database = database
        self.sealer = sealer
        self.read_only = read_only
        self._connection = connection
        #: The number of commits: what was read is still so while it stays the same.
        self.commits = 0
        self._readers: list[Reader] = []
        # A connection that is closed while another thread uses it takes the process down.
        self._in_use = threading.Lock()
        # Rows as last committed here; one process writes resources, the holder of the lock.
        self._rows = KnownRows()
        self._edges = Edges()
        #: The trees that this process owns as a member of a cluster; None: it owns all.
        self.ownership: Ownership | None = None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that is committed at the end, or rolled back on any error.

        Raises StoreError where the database fails; nothing of the transaction is kept then.
        """
        with self._in_use:
            connection = self._connection
            try:
                connection.begin()
                tx = Transaction(connection, self._rows, self._edges, self.ownership)
                try:
                    yield tx
                finally:  # what was seen, an error too, is true for a member only
                    if tx.duties is not None:
                        tx.duties.check_fence()
                tx.finish()
                connection.commit()
                self.commits += 1
                tx.remember()
            except connection.Error as error:
                self._undo()
                raise connection.to_store_error(error) from error
            except BaseException:
                self._undo()
                raise

    def reopen(self) -> None:
        """Connect anew, as no member of a cluster yet. Raises StoreError."""
        with self._in_use:
            self.ownership = None
            with suppress(self._connection.Error):
                self._connection.close()
            key_check = self.sealer.fingerprint
            self._connection = self.database.open(key_check, read_only=self.read_only)
            self.forget_rows()

    def name_session(self, name: str) -> None:
        """Name the session that writes, so that another member can cut it on the server."""
        with self.transaction():
            self._connection.execute("SELECT set_config('application_name', %s, false)", (name,))

    def forget_rows(self) -> None:
        """Read every row again: another process may have been the engine meanwhile."""
        self._rows.clear()
        self._edges.forget()

    def _undo(self) -> None:
        self.forget_rows()
        try:
            if self._connection.in_transaction:
                self._connection.rollback()
        except self._connection.Error as error:
            raise self._connection.to_store_error(error) from error

    def reader(self) -> Reader:
        """A reader with a connection of its own (for one thread at a time)."""
        connection = self.database.open_reader()
        reader = Reader(connection, self.sealer)
        if connection is not self._connection:
            self._readers.append(reader)
        return reader

    def close_reader(self, reader: Reader) -> None:
        """Close a reader that nobody needs any more."""
        self._readers.remove(reader)
        reader.close()

    def is_awaited(self, request_id: str) -> bool:
        """Whether the process that has left a request waits for the answer; not one that died.

        Of another member of a cluster nobody knows: what it has asked for is carried out.
        """
        return self.ownership is not None or self.database.is_awaited(request_id)

    def close(self) -> None:
        """Close every connection, when it is not in use any more."""
        for reader in list(self._readers):
            reader.close()
        with self._in_use:
            self._connection.close()
        self.database.close()


def open_store(
    url: str | Path | Database,
    *,
    sealer: Sealer,
    read_only: bool = False,
    synchronous: str = "NORMAL",
) -> Store:
    """Open a database, making it if needed; see ``find_database`` and ``Database.open``."""
    database = find_database(url, synchronous) if isinstance(url, str | Path) else url
    connection = database.open(sealer.fingerprint, read_only=read_only)
    return Store(database, connection, sealer, read_only)


__all__ = [
    "MEMORY",
    "Fenced",
    "Store",
    "Transaction",
    "find_database",
    "open_store",
]
