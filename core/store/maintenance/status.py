"""The status of a database: its schema, its engine, how much is in it, whose key it wants."""

from __future__ import annotations

import os
from contextlib import suppress

from sqlalchemy import Table, func, select, text
from sqlalchemy.engine import Connection

from zonda.hooks.records import dataclass

from ..database.protocols import Database
from ..file.version import COMPANIONS
from ..schema.tables import EVENT, META, RESOURCE, STACK
from ..schema.version import HEAD, read_compatible
from .snapshots import check_existence, find_driver_connection, open_snapshot, read_version


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a database. ``size``: bytes, with the files beside it.

    ``compatible_from``: the oldest schema whose release can use it.
    ``fingerprint``: that of the key it was made with. ``engine``: whether any process is the
    engine, ``process`` which, as far as known. ``stacks`` are those at the top, ``resources`` those
    of all stacks that are not deleted.
    """

    where: str
    schema: str
    newest_schema: str
    compatible_from: str
    engine: bool
    process: int | None
    stacks: int
    resources: int
    events: int
    size: int
    fingerprint: str


def read_status(database: Database) -> Status:
    """Read the status of a database; changes nothing, not even an older schema.

    Raises StoreError where it cannot be read.
    """
    check_existence(database)
    lock = database.engine_lock()
    taken = lock.is_taken()
    with open_snapshot(database) as connection:
        live = STACK.c.deleted_at.is_(None)
        found = connection.execute(select(META.c.value).where(META.c.name == "key_check"))
        raw = find_driver_connection(connection, database)
        schema = read_version(raw, database.where) or ""
        return Status(
            where=database.where,
            schema=schema,
            newest_schema=HEAD,
            compatible_from=read_compatible(raw, raw.dialect.sql) or schema,
            engine=taken,
            process=lock.read_holder() if taken else None,
            stacks=_count(connection, STACK, live, STACK.c.owner_resource_id.is_(None)),
            resources=_count(connection, RESOURCE, RESOURCE.c.stack_id == STACK.c.id, live),
            events=_count(connection, EVENT),
            size=_measure(connection, database),
            fingerprint=found.scalar() or "",
        )


def _count(connection: Connection, table: Table, *conditions: object) -> int:
    query = select(func.count()).select_from(table).where(*conditions)  # type: ignore[arg-type]
    return int(connection.execute(query).scalar_one())


def _measure(connection: Connection, database: Database) -> int:
    """The bytes of a database, with the files that SQLite keeps beside it."""
    if database.folder is None:
        return int(
            connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
        )
    size = 0
    for companion in ("", *COMPANIONS):
        with suppress(OSError):
            size += os.path.getsize(f"{database.where}{companion}")
    return size
