"""A database on a PostgreSQL server: opened, made on first use, locked.

Called by ``write.database``. One connection writes, a pool of them reads; both connect when they
are first asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import Error, ProgrammingError

from zonda.hooks.errors import StoreError

from ..schema import version as schema
from .connection import PooledConnection, ServerConnection, connect, make_pool
from .lock import AdvisoryLock, EngineLock
from .tables import make_tables, read_version

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

    from ..database.protocols import Row

#: Connections that read, at most.
READERS = 8


class Server:
    """One database on a server. ``url``: what libpq reads, ``postgresql://USER@HOST/NAME``."""

    folder = None

    def __init__(self, url: str) -> None:
        try:
            known = conninfo_to_dict(url)
        except ProgrammingError:
            raise StoreError(  # what libpq says has the whole URL in it
                "The setting database_url is no URL of PostgreSQL.",
                hint="Write postgresql://USER:PASSWORD@HOST:PORT/NAME; a character like @ or / in"
                " the password stands as %40 or %2F.",
            ) from None
        self.url = url
        host, port = known.get("host") or "localhost", known.get("port") or "5432"
        self.where = f"postgresql://{host}:{port}/{known.get('dbname') or ''}"
        self._writing: ServerConnection | None = None
        self._beside: list[ServerConnection] = []

    @cached_property
    def _pool(self) -> ConnectionPool[psycopg.Connection[Row]]:
        return make_pool(self.url, READERS)

    @cached_property
    def _reads(self) -> PooledConnection:
        connect(self.url, self.where).close()  # says at once why it cannot be reached
        return PooledConnection(self._pool, self.where)

    def is_made(self) -> bool:
        """Whether it has tables. Raises StoreError where it cannot be reached."""
        try:
            return read_version(self._reads, self.where) is not None
        except Error as error:
            raise self._reads.to_store_error(error) from error

    def is_unreadable(self) -> bool:
        """Never: who reaches it finds a database."""
        return False

    def open(self, key_check: str, *, read_only: bool) -> ServerConnection | PooledConnection:
        """Open the database, making its tables if needed. Raises StoreError.

        It is not brought up to date by that: other engines may still use the older schema.
        """
        connection: ServerConnection | PooledConnection
        connection = self.open_reader() if read_only else self._connect()
        try:
            version = read_version(connection, self.where)
            if version is None and isinstance(connection, ServerConnection):
                make_tables(connection, key_check)
                version = read_version(connection, self.where)
            if version is None:
                raise StoreError(
                    f"The database {self.where} is empty.", hint="Create a stack first."
                )
            sql = connection.dialect.sql
            schema.check_version(self.where, version, schema.read_compatible(connection, sql))
            kept = connection.execute(sql["meta_value"], ("key_check",))
            schema.check_key(self.where, kept.fetchone(), key_check)
        except Error as error:
            connection.close()
            raise connection.to_store_error(error) from error
        except BaseException:
            connection.close()
            raise
        if isinstance(connection, ServerConnection):
            self._writing = connection
        return connection

    def _connect(self) -> ServerConnection:
        return ServerConnection(connect(self.url, self.where), self.where)

    def open_reader(self) -> PooledConnection:
        """Open a reader, which takes connections of the pool as it needs them."""
        return PooledConnection(self._pool, self.where)

    def engine_lock(self) -> AdvisoryLock:
        """The right to run the engine."""
        return EngineLock("engine", self._find_session, self._reads)

    def server_lock(self) -> AdvisoryLock:
        """The right to be the long-running engine."""
        return self._make_lock("server")

    def request_lock(self, request_id: str) -> AdvisoryLock:
        """The lock of the process that waits for the answer to a request."""
        return self._make_lock(f"request {request_id}")

    def is_awaited(self, request_id: str) -> bool:
        """Whether a process waits for the answer to a request."""
        return self.request_lock(request_id).is_taken()

    def _make_lock(self, name: str) -> AdvisoryLock:
        return AdvisoryLock(name, self._find_session, self._reads)

    def _find_session(self) -> ServerConnection:
        """The connection that writes; before it is open, one that is as long there."""
        if self._writing is not None:
            return self._writing
        if not self._beside:
            self._beside.append(self._connect())
        return self._beside[0]

    def close(self) -> None:
        """Close every connection."""
        for each in (self._writing, *self._beside):
            if each is not None:
                each.close()
        self._writing = None
        self._beside.clear()
        if "_pool" in self.__dict__:
            self._pool.close()
