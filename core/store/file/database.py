"""A SQLite file as a database: opened, made on first use, brought up to date, locked.

Called by ``write.database``. SQLite is in WAL mode; the locks are files beside the database.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from zonda.hooks.errors import StoreError

from ..schema import version as versions
from . import connection as connections
from . import version as schema
from .connection import MEMORY, FileConnection
from .faults import to_store_error
from .lock import EngineLock, RequestLock, ServerLock

#: Pages in the write-ahead log that are worth a checkpoint: pages that are written over and over
#: go into the file once. 16 MB at most stand in the log.
CHECKPOINT_PAGES = 4000


class DatabaseFile:
    """A file, or a database in memory. ``synchronous``: SQLite's, NORMAL or FULL."""

    def __init__(self, path: str, synchronous: str = "NORMAL") -> None:
        self.url = self.where = path
        self._synchronous = synchronous
        self._in_memory: FileConnection | None = None

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return Path(self.where).parent

    def is_made(self) -> bool:
        """Whether there is a file that can be opened, or whose opening says why it cannot."""
        try:
            return schema.has_tables(self.where)
        except (sqlite3.Error, OSError):
            return True

    def is_unreadable(self) -> bool:
        """Whether what stands there is no database."""
        try:
            schema.has_tables(self.where)
        except sqlite3.OperationalError:  # it cannot be opened, yet it is there
            return False
        except (sqlite3.Error, OSError):
            return True
        return False

    def open(self, key_check: str, *, read_only: bool) -> FileConnection:
        """Open the file, making it if needed.

        One of an older zonda is brought up to date, also by who only reads, where it can be
        written. Raises StoreError, with what to do, for a file that is damaged, another program's,
        of a newer zonda, sealed with another key, or in a folder that cannot be written.
        """
        path = self.where
        try:
            if path == MEMORY:
                connection = self._in_memory = connections.connect(path, "")
                schema.make_tables(connection, key_check)
            elif read_only:
                connection = _open_to_read(path)
            else:
                connection = _open_to_write(path, key_check)
                connection.execute(f"PRAGMA synchronous={self._synchronous}")
            _check(connection, path, key_check)
        except sqlite3.Error as error:
            raise to_store_error(error, path) from error
        except OSError as error:
            raise StoreError(
                f"The database {path} cannot be made: {error.strerror}.",
                hint="Make its folder writable, or choose another ZONDA_HOME.",
            ) from error
        return connection

    def open_reader(self) -> FileConnection:
        """Open a connection that reads; that of a database in memory is the one that writes."""
        if self._in_memory is not None:
            return self._in_memory
        try:
            return connections.connect_read_only(self.where)[0]
        except sqlite3.Error as error:
            raise to_store_error(error, self.where) from error

    def engine_lock(self) -> EngineLock:
        """The right to run the engine."""
        return EngineLock(self.where)

    def server_lock(self) -> ServerLock:
        """The right to be the long-running engine."""
        return ServerLock(self.where)

    def request_lock(self, request_id: str) -> RequestLock:
        """The lock of the process that waits for the answer to a request."""
        return RequestLock(self.where, request_id)

    def is_awaited(self, request_id: str) -> bool:
        """Whether a process waits for the answer to a request; not one that has died."""
        lock = RequestLock(self.where, request_id)
        if lock.is_taken():
            return True
        lock.remove()
        return False

    def close(self) -> None:
        """Nothing else is open."""


def _open_to_write(path: str, key_check: str) -> FileConnection:
    if not os.path.exists(path):
        schema.make_database(path, key_check)
    connection = connections.connect(path, "rw")
    version = connections.read_version_or_close(connection, path)
    if version is None:
        connection.close()
        schema.make_database(path, key_check)
    elif version < versions.HEAD:
        connection.close()
        _upgrade(path)
    if version is None or version < versions.HEAD:
        connection = connections.connect(path, "rw")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA journal_size_limit=67108864")
    connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
    return connection


def _open_to_read(path: str) -> FileConnection:
    connection, version = (
        connections.connect_read_only(path) if os.path.exists(path) else (None, None)
    )
    if connection is None or version is None:
        raise StoreError(
            f"There is no database {path} yet.", hint="Create a stack first, or check ZONDA_HOME."
        )
    if version < versions.HEAD and connections.is_writable(path):
        connection.close()
        _upgrade(path)
        connection, _ = connections.connect_read_only(path)
    return connection


def _upgrade(path: str) -> None:
    from .migrate import upgrade  # alembic takes 0.3 s to import, and is needed once

    upgrade(path)


def _check(connection: FileConnection, path: str, key_check: str) -> None:
    """Raise StoreError, the connection closed, for another schema or another key."""
    try:
        sql = connection.dialect.sql
        version = schema.read_version(connection, path)
        versions.check_version(path, version, versions.read_compatible(connection, sql))
        kept = connection.execute(sql["meta_value"], ("key_check",)).fetchone()
        versions.check_key(path, kept, key_check)
    except BaseException:
        connection.close()
        raise
