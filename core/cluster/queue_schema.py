"""The schema of the queue: Procrastinate's tables, made on first use and migrated with ours.

Which of its migrations have been applied is kept as the comment on the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from procrastinate.schema import SchemaManager

from zonda.core.store.database.protocols import Database
from zonda.core.store.postgresql.connection import ServerConnection, connect
from zonda.core.store.postgresql.lock import compute_key
from zonda.hooks.errors import StoreError

from .placement import SCHEMA

_APPLIED = f"SELECT obj_description(to_regnamespace('{SCHEMA}'), 'pg_namespace')"
_LOCK = "SELECT pg_advisory_xact_lock(%s)"


def make(database: Database) -> bool:
    """Make the tables of the queue where there are none; returns whether that was so.

    Raises StoreError, also for those of another release of Procrastinate.
    """
    with closing(_open(database)) as connection:
        applied = _read_applied(connection)
        if applied is None:
            return _change(connection, _make)
    newest = list_migrations()[-1].name
    if applied != newest:
        raise StoreError(
            f"The queue of the cluster is at {applied}, and {newest} is needed.",
            hint="Run 'zonda db upgrade'.",
        )
    return False


def upgrade(database: Database) -> bool:
    """Make the tables of the queue, or migrate them; returns whether there was anything to do.

    Raises StoreError.
    """
    with closing(_open(database)) as connection:
        return _change(connection, lambda found: _make(found) or _migrate(found))


def list_migrations() -> list[Path]:
    """Procrastinate's migrations, the oldest first."""
    return sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))


def _open(database: Database) -> ServerConnection:
    return ServerConnection(connect(database.url, database.where), database.where)


def _change(connection: ServerConnection, change: Callable[[ServerConnection], bool]) -> bool:
    """Change the schema in one transaction, one process after the other."""
    try:
        connection.begin()
        connection.execute("SET LOCAL statement_timeout = 0")
        connection.execute(_LOCK, (compute_key("queue"),))
        is_changed = change(connection)
        connection.commit()
    except connection.Error as error:
        raise connection.to_store_error(error) from error
    return is_changed


def _read_applied(connection: ServerConnection) -> str | None:
    try:
        found: str | None = connection.execute(_APPLIED).fetchone()[0]
    except connection.Error as error:
        raise connection.to_store_error(error) from error
    return found


def _make(connection: ServerConnection) -> bool:
    if _read_applied(connection) is not None:
        return False
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    _apply(connection, SchemaManager.get_schema(), list_migrations()[-1].name)
    return True


def _migrate(connection: ServerConnection) -> bool:
    applied = _read_applied(connection) or ""
    newer = [each for each in list_migrations() if each.name > applied]
    for each in newer:
        _apply(connection, each.read_text("utf-8"), each.name)
    return bool(newer)


def _apply(connection: ServerConnection, text: str, name: str) -> None:
    connection.execute(f"SET LOCAL search_path TO {SCHEMA}")
    connection.driver.execute(text.encode())  # as it is: it has no parameters
    connection.execute(f"COMMENT ON SCHEMA {SCHEMA} IS '{name}'")
