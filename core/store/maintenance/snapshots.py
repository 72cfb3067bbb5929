"""A connection that reads a database as it is at one time, whatever an engine writes meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy
from sqlalchemy.pool import NullPool

from zonda.hooks.errors import StoreError

from ..database.protocols import Connection, Database
from ..file import version as file_version
from ..file.connection import FileConnection, connect_read_only
from ..file.database import DatabaseFile
from ..file.faults import to_store_error


@contextmanager
def open_snapshot(database: Database) -> Iterator[sqlalchemy.Connection]:
    """A connection to a database, in one transaction that only reads.

    Raises StoreError, as does what is read through it, for a database that is missing, damaged or
    another program's.
    """
    check_existence(database)
    engine = make_engine(database, reads=True)
    try:
        with engine.connect() as connection:
            yield connection
    except sqlite3.Error as error:  # of the connecting
        raise to_store_error(error, database.where) from error
    except sqlalchemy.exc.DBAPIError as error:
        raise build_error(error, database) from error


def make_engine(database: Database, *, reads: bool) -> sqlalchemy.Engine:
    """Make what SQLAlchemy connects by; ``reads``: to a snapshot of the database."""
    if isinstance(database, DatabaseFile):
        made = sqlalchemy.create_engine(
            "sqlite://", creator=lambda: connect_read_only(database.where)[0], poolclass=NullPool
        )

        @sqlalchemy.event.listens_for(made, "begin")
        def begin_transaction(connection: sqlalchemy.Connection) -> None:
            connection.exec_driver_sql("BEGIN")

        return made
    from ..postgresql.connection import connect

    def connect_in_transaction() -> Any:
        raw = connect(database.url, database.where)
        raw.autocommit = False
        return raw

    made = sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=connect_in_transaction, poolclass=NullPool
    )
    if not reads:
        return made
    return made.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def check_existence(database: Database) -> None:
    """Raise StoreError where there is no database."""
    if not database.is_made():
        raise StoreError(
            f"There is no database {database.where} yet.",
            hint="Create a stack first, or check ZONDA_HOME.",
        )


def find_driver_connection(connection: sqlalchemy.Connection, database: Database) -> Connection:
    """The connection below one of SQLAlchemy, with the same transaction."""
    raw: Any = connection.connection.dbapi_connection
    if isinstance(raw, FileConnection):
        return raw
    from ..postgresql.connection import ServerConnection

    return ServerConnection(raw, database.where)


def read_version(connection: Connection, where: str) -> str | None:
    """The version of the schema; None where there are no tables at all.

    Raises StoreError for the database of another program.
    """
    if isinstance(connection, FileConnection):
        return file_version.read_version(connection, where)
    from ..postgresql import connection as connections
    from ..postgresql.tables import read_version as read_version_of_server

    assert isinstance(connection, connections.ServerConnection | connections.PooledConnection)
    return read_version_of_server(connection, where)


def build_error(error: sqlalchemy.exc.DBAPIError, database: Database) -> StoreError:
    """The StoreError for an error that SQLAlchemy has wrapped."""
    if isinstance(error.orig, sqlite3.Error):
        return to_store_error(error.orig, database.where)
    from ..postgresql.connection import ServerConnection
    from ..postgresql.faults import to_store_error as to_store_error_of_server

    if isinstance(error.orig, ServerConnection.Error):
        return to_store_error_of_server(error.orig, database.where)
    return StoreError(f"The database {database.where} cannot be read: {error.orig}.")
