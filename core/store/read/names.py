"""Names of stacks and resources for completion in a shell: read with next to no import.

Whatever cannot be read has no names: nobody who presses a key wants to hear why.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

#: Seconds that a file which is in use is waited for.
_PATIENCE = 0.2
#: Runs a statement of ``schema.statements`` by its name, with its parameters; returns the rows.
Ask = Callable[..., list[Any]]


def list_stack_names(url: str, project: str) -> list[str]:
    """List the live stacks of a project, nested ones left out. ``url``: of the database."""
    return [name for (name,) in _read(url, lambda ask: ask("stack_names", project))]


def list_resource_names(url: str, project: str, path: str) -> dict[str, bool]:
    """List the resources of ``STACK`` or ``STACK/OWNER``, and whether each has a nested stack."""
    stack, *owners = path.split("/")

    def read_members(ask: Ask) -> list[Any]:
        found = ask("stack_id_named", project, stack)
        key = found[0][0] if found else None
        for owner in owners:
            key = dict(ask("resource_names", key)).get(owner)
        return ask("resource_names", key)

    return {name: child is not None for name, child in _read(url, read_members)}


def _read(url: str, read: Callable[[Ask], list[Any]]) -> list[Any]:
    if not url.startswith(("postgresql://", "postgres://")):
        return _read_file(Path(url.removeprefix("sqlite:///")), read)
    with suppress(ImportError):  # the extra is not installed
        from ..postgresql.names import read_server

        return read_server(url, read)
    return []


def _read_file(database: Path, read: Callable[[Ask], list[Any]]) -> list[Any]:
    from ..schema.prepared import SQL

    uri = f"{database.absolute().as_uri()}?mode=ro"
    with (
        suppress(sqlite3.Error, ValueError),
        closing(sqlite3.connect(uri, timeout=_PATIENCE, uri=True)) as connection,
    ):
        return read(lambda name, *values: connection.execute(SQL[name], values).fetchall())
    return []
