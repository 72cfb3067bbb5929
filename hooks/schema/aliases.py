"""The paths of errors by the names that the template wrote.

Translation rules move the value of an alias to the property that it stands for (``alias_of``), and
what is found out about that property is told under the alias. Pure; called by ``properties`` and by
the errors that plug-ins raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Path
from ..function import Function
from .property import Schema


def find_written_path(schemata: Mapping[str, Schema], given: Any, path: Path) -> Path:
    """``path``, which begins with a property's name, by the names that stand in ``given``.

    ``given``: the properties as the template has them, functions in place.
    """
    found: list[str | int] = []
    schema: Schema | None = None
    for step in path:
        if isinstance(given, Function):
            break
        if isinstance(step, str) and isinstance(given, Mapping):
            fields = schemata if not found else ({} if schema is None else schema.fields)
            written = step if step in given else find_alias(fields, given, step)
            schema = fields.get(step)
            given = given.get(written)
            found.append(written)
        elif isinstance(step, int) and isinstance(given, Sequence) and step < len(given):
            schema = None if schema is None else schema.items
            given = given[step]
            found.append(step)
        else:
            break
    return (*found, *path[len(found) :])


def find_alias(fields: Mapping[str, Schema], given: Mapping[str, Any], name: str) -> str:
    """The other name under which a property is given, or its own."""
    return next(
        (each for each in given if each in fields and fields[each].alias_of == name),
        name,
    )
