"""The tables of a database on a server: made on first use at the newest schema.

Called by ``database``. Two processes may begin together: a lock of the transaction is taken first.
"""

from __future__ import annotations

from zonda.hooks.errors import StoreError

from ..schema import version as versions
from ..schema.prepared_postgresql import SCHEMA, SQL
from .connection import PooledConnection, ServerConnection
from .lock import compute_key

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"


def read_version(connection: ServerConnection | PooledConnection, where: str) -> str | None:
    """The version of the schema; None where there are no tables at all.

    Raises StoreError for the database of another program, or one of another encoding.
    """
    ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
    if encoding != "UTF8":
        raise StoreError(
            f"The database {where} has the encoding {encoding}, which cannot keep every text.",
            hint="Make one with createdb -E UTF8 -T template0.",
        )
    tables = {name for (name,) in connection.execute(_TABLES)}
    if not tables:
        return None
    row = None
    if "alembic_version" in tables:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if row is None or "stack" not in tables:
        raise StoreError(
            f"The database {where} has no schema of zonda.",
            hint="It belongs to another program: choose another database_url.",
        )
    return str(row[0])


def make_tables(connection: ServerConnection, key_check: str) -> None:
    """Make every table in an empty database, unless another process has by now."""
    connection.begin()
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (compute_key("schema"),))
    if connection.execute(_TABLES).fetchone() is None:
        for statement in (*SCHEMA, versions.VERSION_TABLE):
            connection.execute(statement)
        connection.execute("INSERT INTO alembic_version VALUES (%s)", (versions.HEAD,))
        connection.execute(SQL["put_meta"], ("key_check", key_check))
    connection.commit()
