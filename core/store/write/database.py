"""The database of one zonda: opened once, one writing connection, readers on their own.

The engine thread alone uses ``transaction``; everybody reads through ``reader``. SQLite in WAL
mode, transactions by hand (BEGIN IMMEDIATE), foreign keys on.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zonda.hooks.errors import StoreError

from ..file import turn
from ..file import version as schema
from ..file.faults import to_store_error
from ..file.lock import RequestLock
from ..read.reader import Reader
from ..schema.prepared import SQL
from ..values.sealing import Sealer
from .edges import Edges
from .transaction import Fenced, Transaction

#: Pages in the write-ahead log that are worth a checkpoint: pages that are written over and over
#: go into the file once. 16 MB at most stand in the log.
CHECKPOINT_PAGES = 4000
MEMORY = ":memory:"


class Store:
    """An open database. Make one with ``open_store``."""

    def __init__(
        self, connection: sqlite3.Connection, path: str, sealer: Sealer, read_only: bool
    ) -> None:
        self.path = path
        self.sealer = sealer
        self.read_only = read_only
        self._connection = connection
        #: The number of commits: what was read is still so while it stays the same.
        self.commits = 0
        self._readers: list[Reader] = []
        # A connection that is closed while another thread uses it takes the process down.
        self._in_use = threading.Lock()
        # Rows as last committed here; one process writes resources, the holder of the lock.
        self._rows: dict[str, tuple[Any, ...]] = {}
        self._edges = Edges()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that is committed at the end, or rolled back on any error.

        Raises StoreError where the database fails; nothing of the transaction is kept then.
        """
        with self._in_use:
            try:
                turn.begin_transaction(self._connection)
                tx = Transaction(self._connection, self._rows, self._edges)
                yield tx
                tx.finish()
                self._connection.execute("COMMIT")
                self.commits += 1
                tx.remember()
            except sqlite3.Error as error:
                self._undo()
                raise to_store_error(error, self.path) from error
            except BaseException:
                self._undo()
                raise

    def forget_rows(self) -> None:
        """Read every row again: another process may have been the engine meanwhile."""
        self._rows.clear()
        self._edges.forget()

    def _undo(self) -> None:
        self.forget_rows()
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error

    def reader(self) -> Reader:
        """A reader with a connection of its own (for one thread at a time)."""
        if self.path == MEMORY:
            return Reader(self._connection, self.sealer, self.path)
        try:
            connection, _ = _open_read_only(self.path)
        except sqlite3.Error as error:
            raise to_store_error(error, self.path) from error
        reader = Reader(connection, self.sealer, self.path)
        self._readers.append(reader)
        return reader

    def close_reader(self, reader: Reader) -> None:
        """Close a reader that nobody needs any more."""
        self._readers.remove(reader)
        reader.close()

    def is_awaited(self, request_id: str) -> bool:
        """Whether the process that has left a request waits for the answer; not one that died."""
        lock = RequestLock(self.path, request_id)
        if lock.is_taken():
            return True
        lock.remove()
        return False

    def close(self) -> None:
        """Close every connection, when it is not in use any more."""
        for reader in list(self._readers):
            reader.close()
        with self._in_use:
            self._connection.close()


def has_database(path: str | Path) -> bool:
    """Whether there is a file that ``open_store`` can read, or says why it cannot."""
    try:
        return schema.has_tables(str(path))
    except (sqlite3.Error, OSError):
        return True


def open_store(
    url: str | Path, *, sealer: Sealer, read_only: bool = False, synchronous: str = "NORMAL"
) -> Store:
    """Open the database ``url`` (a path, ``sqlite:///path`` or ``:memory:``), making it if needed.

    One of an older zonda is brought up to date, also by who only reads, where it can be written.
    ``synchronous`` is NORMAL (safe against the death of the process) or FULL (against power cuts
    too). Raises StoreError, with what to do, for a file that is damaged, another program's, of a
    newer zonda, sealed with another key, or in a folder that cannot be written.
    """
    path = str(url).removeprefix("sqlite:///")
    try:
        if path == MEMORY:
            connection = _connect(path, "")
            schema.make_tables(connection, _compute_key_check(sealer))
        elif read_only:
            connection = _open_to_read(path)
        else:
            connection = _open_to_write(path, sealer)
            connection.execute(f"PRAGMA synchronous={synchronous}")
        _check(connection, path, sealer)
    except sqlite3.Error as error:
        raise to_store_error(error, path) from error
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be made: {error.strerror}.",
            hint="Make its folder writable, or choose another ZONDA_HOME.",
        ) from error
    return Store(connection, path, sealer, read_only)


def _open_to_write(path: str, sealer: Sealer) -> sqlite3.Connection:
    if not os.path.exists(path):
        schema.make_database(path, _compute_key_check(sealer))
    connection = _connect(path, "rw")
    version = _read_version(connection, path)
    if version is None:
        connection.close()
        schema.make_database(path, _compute_key_check(sealer))
    elif version < schema.HEAD:
        connection.close()
        _upgrade(path)
    if version is None or version < schema.HEAD:
        connection = _connect(path, "rw")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA journal_size_limit=67108864")
    connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
    return connection


def _open_to_read(path: str) -> sqlite3.Connection:
    connection, version = _open_read_only(path) if os.path.exists(path) else (None, None)
    if connection is None or version is None:
        raise StoreError(
            f"There is no database {path} yet.", hint="Create a stack first, or check ZONDA_HOME."
        )
    if version < schema.HEAD and _is_writable(path):
        connection.close()
        _upgrade(path)
        connection, _ = _open_read_only(path)
    return connection


def _open_read_only(path: str) -> tuple[sqlite3.Connection, str | None]:
    """A connection that only reads, and the version of the schema.

    SQLite shares memory with those that write through a file beside the database. Where that
    cannot be made, since nobody can write there, the database is what its file says.
    """
    connection = _connect(path, "ro")
    try:
        return connection, _read_version(connection, path)
    except sqlite3.OperationalError:
        wal = f"{path}-wal"
        if _is_writable(path) or (os.path.exists(wal) and os.path.getsize(wal)):
            raise
    connection = _connect(path, "ro&immutable=1")
    return connection, _read_version(connection, path)


def _is_writable(path: str) -> bool:
    folder = os.path.dirname(os.path.abspath(path))
    return os.access(path, os.W_OK) and os.access(folder, os.W_OK)


def _read_version(connection: sqlite3.Connection, path: str) -> str | None:
    """As ``schema.read_version``; closes the connection where that raises."""
    try:
        return schema.read_version(connection, path)
    except BaseException:
        connection.close()
        raise


def _connect(path: str, mode: str) -> sqlite3.Connection:
    target = f"{Path(path).absolute().as_uri()}?mode={mode}" if mode else path
    connection = sqlite3.connect(
        target, timeout=turn.STRETCH, isolation_level=None, check_same_thread=False, uri=bool(mode)
    )
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _upgrade(path: str) -> None:
    from ..file.migrate import upgrade  # alembic takes 0.3 s to import, and is needed once

    upgrade(path)


def _check(connection: sqlite3.Connection, path: str, sealer: Sealer) -> None:
    """Raise StoreError, the connection closed, for another schema or another key."""
    try:
        version = schema.read_version(connection, path)
        if version != schema.HEAD:
            raise schema.build_version_error(path, version or "")
        kept = connection.execute(SQL["meta_value"], ("key_check",)).fetchone()
        if kept is None or kept[0] != _compute_key_check(sealer):
            raise StoreError(
                f"The database {path} was made with another sealing key.",
                hint="Give that key in ZONDA_KEY or put its key file back.",
            )
    except BaseException:
        connection.close()
        raise


def _compute_key_check(sealer: Sealer) -> str:
    return sealer.hmac(b"zonda key check")


__all__ = ["Fenced", "Store", "Transaction", "has_database", "open_store"]
