"""The ``constraints`` of parameters: from a template's section to the classes of hooks.

Called by ``parameters``. Which kinds exist in which version and which keys they have; everything
else is the classes' own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from zonda.hooks.errors import Path, SchemaError
from zonda.hooks.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)

from ..source.diagnostics import suggestion
from ..source.versions import MODULO_SINCE

DESCRIPTION = "description"


def parse_constraints(name: str, entries: Any, version: str, path: Path) -> list[Constraint]:
    """Parse the constraints of parameter ``name``, which stand at ``path``; raises SchemaError."""
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise SchemaError(
            f"Invalid parameter constraints for parameter {name}, expected a list", at=path
        )
    return [
        _parse_constraint(entry, version, (*path, index)) for index, entry in enumerate(entries)
    ]


def check_keys(entry: Any, known: Collection[str], what: str, path: Path) -> None:
    """Raise SchemaError unless ``entry`` is a map with no other keys than ``known``."""
    if not isinstance(entry, Mapping):
        raise SchemaError(f"Invalid {what}, expected a mapping", at=path)
    for key in entry:
        if key not in known:
            raise SchemaError(
                f"Invalid key '{key}' for {what}", at=(*path, key), hint=suggestion(key, known)
            )


def _parse_constraint(entry: Any, version: str, path: Path) -> Constraint:
    kinds = [kind for kind in _PARSERS if kind != "modulo" or version >= MODULO_SINCE]
    check_keys(entry, (*kinds, DESCRIPTION), "parameter constraints", path)
    for kind in kinds:
        if kind in entry:
            return _build_constraint(kind, entry, (*path, kind))
    raise SchemaError("No constraint expressed", at=path, hint=f"One of {', '.join(kinds)}.")


def _build_constraint(kind: str, entry: Mapping[str, Any], path: Path) -> Constraint:
    try:
        return _PARSERS[kind](entry[kind], entry.get(DESCRIPTION))
    except SchemaError as error:
        error.at = (*path, *error.at)
        raise


def _build_modulo(definition: Any, description: Any) -> Constraint:
    check_keys(definition, ("step", "offset"), "modulo constraint", ())
    return Modulo(definition.get("step"), definition.get("offset"), description)


def _build_bounds(cls: type[Range] | type[Length], definition: Any, description: Any) -> Constraint:
    check_keys(definition, ("min", "max"), f"{cls.__name__.lower()} constraint", ())
    return cls(definition.get("min"), definition.get("max"), description)


def _build_allowed_values(definition: Any, description: Any) -> Constraint:
    if isinstance(definition, str):
        raise SchemaError("AllowedValues must be a list")
    return AllowedValues(definition, description)


def _build_custom(definition: Any, description: Any) -> Constraint:
    if not isinstance(definition, str):
        raise SchemaError(f"A custom constraint is a name, not {definition!r}")
    return CustomConstraint(definition, description)


#: By name, in the order in which one wins where an entry holds several.
_PARSERS: dict[str, Callable[[Any, Any], Constraint]] = {
    "modulo": _build_modulo,
    "range": partial(_build_bounds, Range),
    "length": partial(_build_bounds, Length),
    "allowed_values": _build_allowed_values,
    "allowed_pattern": AllowedPattern,
    "custom_constraint": _build_custom,
}
