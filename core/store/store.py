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

from .edges import Edges
from .faults import explain
from .prepared import SCHEMA, SQL
from .reads import Reader
from .sealing import Sealer
from .transaction import Fenced, Transaction

#: The newest migration; a test compares it with ``migrations/``.
HEAD = "0014"
#: Pages in the write-ahead log that are worth a checkpoint: pages that are written over and over
#: go into the file once. 16 MB at most stand in the log.
CHECKPOINT_PAGES = 4000
MEMORY = ":memory:"
_VERSION_TABLE = (
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)


class Store:
    """An open database. Make one with ``open_store``."""

    def __init__(
        self, connection: sqlite3.Connection, path: str, sealer: Sealer, read_only: bool
    ) -> None:
        self.path = path
        self.sealer = sealer
        self.read_only = read_only
        self._connection = connection
        self._readers: list[Reader] = []
        # A connection that is closed while another thread uses it takes the process down.
        self._in_use = threading.Lock()
        # Rows as last committed here; one process writes resources, the holder of the lock.
        self._rows: dict[str, tuple[Any, ...]] = {}
        self._edges = Edges()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction that is committed at the end, or undone if anything is raised.

        Raises StoreError where the database fails; nothing of the transaction is kept then.
        """
        with self._in_use:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                tx = Transaction(self._connection, self._rows, self._edges)
                yield tx
                tx.finish()
                self._connection.execute("COMMIT")
                tx.remember()
            except sqlite3.Error as error:
                self._undo()
                raise explain(error, self.path) from error
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
            raise explain(error, self.path) from error

    def reader(self) -> Reader:
        """A reader with a connection of its own (for one thread at a time)."""
        if self.path == MEMORY:
            return Reader(self._connection, self.sealer, self.path)
        reader = Reader(_connect(self.path, read_only=True), self.sealer, self.path)
        self._readers.append(reader)
        return reader

    def close(self) -> None:
        """Close every connection, when it is not in use any more."""
        for reader in self._readers:
            reader.close()
        with self._in_use:
            self._connection.close()


def open_store(
    url: str | Path, *, sealer: Sealer, read_only: bool = False, synchronous: str = "NORMAL"
) -> Store:
    """Open the database ``url`` (a path, ``sqlite:///path`` or ``:memory:``), making it if needed.

    ``synchronous`` is NORMAL (safe against the death of the process) or FULL (against power cuts
    too). Raises StoreError, with what to do, for a file that is damaged, of a newer zonda, sealed
    with another key, or in a folder that cannot be written.
    """
    path = str(url).removeprefix("sqlite:///")
    if read_only and path != MEMORY and not os.path.exists(path):
        raise StoreError(
            f"There is no database {path} yet.", hint="Create a stack first, or check ZONDA_HOME."
        )
    if not read_only and path != MEMORY:
        _make_private(path)
    connection = _connect(path, read_only=read_only)
    try:
        if not read_only:
            connection.execute(f"PRAGMA synchronous={synchronous}")
            _prepare(connection, path, sealer)
        _check(connection, path, sealer)
    except sqlite3.Error as error:
        connection.close()
        raise explain(error, path) from error
    except BaseException:
        connection.close()
        raise
    return Store(connection, path, sealer, read_only)


def _make_private(path: str) -> None:
    """Make the file, for its owner alone; SQLite gives its companions the mode of the file."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError:
        return  # it is there, or SQLite will find the same and say so


def _connect(path: str, *, read_only: bool) -> sqlite3.Connection:
    target, uri = path, False
    if read_only and path != MEMORY:
        target, uri = f"{Path(path).absolute().as_uri()}?mode=ro", True
    try:
        connection = sqlite3.connect(
            target, timeout=5.0, isolation_level=None, check_same_thread=False, uri=uri
        )
        connection.execute("PRAGMA foreign_keys=ON")
        if not read_only and path != MEMORY:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA journal_size_limit=67108864")
            connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
    except sqlite3.Error as error:
        raise explain(error, path) from error
    return connection


def _prepare(connection: sqlite3.Connection, path: str, sealer: Sealer) -> None:
    """Make an empty database what it should be; bring an older one up to date."""
    version = _version(connection)
    if version == HEAD:
        return
    if version is None:
        connection.execute("BEGIN IMMEDIATE")
        if _version(connection) is None:
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(_VERSION_TABLE)
            connection.execute("INSERT INTO alembic_version VALUES (?)", (HEAD,))
            connection.execute(SQL["put_meta"], ("key_check", _key_check(sealer)))
        connection.execute("COMMIT")
    elif version < HEAD:
        from .migrate import upgrade  # alembic takes 0.3 s to import, and is needed once

        upgrade(path)


def _version(connection: sqlite3.Connection) -> str | None:
    known = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'alembic_version'"
    ).fetchone()
    if known is None:
        return None
    found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if found is None else str(found[0])


def _check(connection: sqlite3.Connection, path: str, sealer: Sealer) -> None:
    version = _version(connection)
    if version != HEAD:
        raise _another(path, version)
    kept = connection.execute(SQL["meta_value"], ("key_check",)).fetchone()
    if kept is None or kept[0] != _key_check(sealer):
        raise StoreError(
            f"The database {path} was made with another sealing key.",
            hint="Give that key in ZONDA_KEY or put its key file back.",
        )


def _another(path: str, version: str | None) -> StoreError:
    """What is wrong with a database whose schema is not ours."""
    if version is None:
        return StoreError(
            f"The database {path} has no schema of zonda.",
            hint="Choose another ZONDA_HOME, or move the file away.",
        )
    if version < HEAD:
        return StoreError(
            f"The database {path} has the schema {version} of an older zonda (this one: {HEAD}).",
            hint="A command that changes something brings it up to date, or says why it cannot.",
        )
    return StoreError(
        f"The database {path} has the schema {version} of a newer zonda (this one: {HEAD}).",
        hint="Use the zonda that wrote it, or a newer one.",
    )


def _key_check(sealer: Sealer) -> str:
    return sealer.hmac(b"zonda key check")


__all__ = ["HEAD", "Fenced", "Store", "Transaction", "open_store"]
