"""Names of stacks and resources for completion in a shell: read with next to no import.

Whatever cannot be read has no names: nobody who presses a key wants to hear why.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from ..schema.prepared import SQL

#: Seconds that a database which is in use is waited for.
_PATIENCE = 0.2


def stack_names(database: Path, project: str) -> list[str]:
    """The live stacks of a project, nested ones left out."""
    with suppress(sqlite3.Error, ValueError), closing(_open(database)) as connection:
        return [name for (name,) in connection.execute(SQL["stack_names"], (project,))]
    return []


def resource_names(database: Path, project: str, path: str) -> dict[str, bool]:
    """The resources of ``STACK`` or ``STACK/OWNER``, and whether each has a nested stack."""
    stack, *owners = path.split("/")
    with suppress(sqlite3.Error, ValueError), closing(_open(database)) as connection:
        found = connection.execute(SQL["stack_id_named"], (project, stack)).fetchone()
        key = found[0] if found else None
        for owner in owners:
            key = _members(connection, key).get(owner)
        return {name: child is not None for name, child in _members(connection, key).items()}
    return {}


def _members(connection: sqlite3.Connection, stack_id: str | None) -> dict[str, str | None]:
    """The resources of a stack with the ids of the stacks that are nested in them."""
    return dict(connection.execute(SQL["resource_names"], (stack_id,)).fetchall())


def _open(database: Path) -> sqlite3.Connection:
    uri = f"{database.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, timeout=_PATIENCE, uri=True)
