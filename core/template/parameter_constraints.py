"""The ``constraints`` of parameters: from a template's section to the classes of hooks.

Called by ``parameters``. Which kinds exist in which version, their shapes, and which type each
kind fits; the checks of values themselves are the classes' own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from zonda.hooks.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from zonda.hooks.errors import Path, SchemaError

from .faults import near
from .parameter_types import BOOLEAN, JSON, LIST, NUMBER, STRING, TYPES, to_number
from .versions import MODULO_SINCE

DESCRIPTION = "description"

#: Which parameter types a kind of constraint fits.
FITS: dict[type[Constraint], tuple[str, ...]] = {
    Length: (STRING, LIST, JSON),
    Range: (NUMBER,),
    Modulo: (NUMBER,),
    AllowedValues: (STRING, NUMBER, BOOLEAN, LIST),
    AllowedPattern: (STRING,),
    CustomConstraint: tuple(kind for kind in TYPES if kind != JSON),
}


def parse_constraints(name: str, entries: Any, version: str, path: Path) -> list[Constraint]:
    """The constraints of parameter ``name``, which stand at ``path``; raises SchemaError."""
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise SchemaError(
            f"Invalid parameter constraints for parameter {name}, expected a list", at=path
        )
    return [_parse(entry, version, (*path, index)) for index, entry in enumerate(entries)]


def check_keys(entry: Any, known: Collection[str], what: str, path: Path) -> None:
    """Raise SchemaError unless ``entry`` is a map with no other keys than ``known``."""
    if not isinstance(entry, Mapping):
        raise SchemaError(f"Invalid {what}, expected a mapping", at=path)
    for key in entry:
        if key not in known:
            raise SchemaError(
                f"Invalid key '{key}' for {what}", at=(*path, key), hint=near(key, known)
            )


def _parse(entry: Any, version: str, path: Path) -> Constraint:
    kinds = [kind for kind in _PARSERS if kind != "modulo" or version >= MODULO_SINCE]
    check_keys(entry, (*kinds, DESCRIPTION), "parameter constraints", path)
    for kind in kinds:
        if kind in entry:
            return _PARSERS[kind](entry[kind], entry.get(DESCRIPTION), (*path, kind))
    raise SchemaError("No constraint expressed", at=path, hint=f"One of {', '.join(kinds)}.")


def _modulo(definition: Any, description: Any, path: Path) -> Constraint:
    check_keys(definition, ("step", "offset"), "modulo constraint", path)
    step, offset = _number(definition, "step", path), _number(definition, "offset", path)
    if step is None or offset is None:
        raise SchemaError(
            "A modulo constraint must have a step value and an offset value specified.", at=path
        )
    if int(step) != step or int(offset) != offset:
        raise SchemaError("step/offset must be integer", at=path)
    if step == 0:
        raise SchemaError("step cannot be 0.", at=path)
    if abs(offset) >= abs(step):
        raise SchemaError("offset must be smaller (by absolute value) than step.", at=path)
    if step * offset < 0:
        raise SchemaError("step and offset must be both positive or both negative.", at=path)
    return Modulo(step, offset, description)


def _range(definition: Any, description: Any, path: Path) -> Constraint:
    low, high = _bounds(definition, "range", path)
    return Range(low, high, description)


def _length(definition: Any, description: Any, path: Path) -> Constraint:
    low, high = _bounds(definition, "length", path)
    return Length(low, high, description)


def _bounds(definition: Any, kind: str, path: Path) -> tuple[Any, Any]:
    check_keys(definition, ("min", "max"), f"{kind} constraint", path)
    low, high = _number(definition, "min", path), _number(definition, "max", path)
    if low is None and high is None:
        raise SchemaError(
            f"A {kind} constraint must have a min value and/or a max value specified.", at=path
        )
    return low, high


def _number(definition: Mapping[str, Any], key: str, path: Path) -> int | float | None:
    value = definition.get(key)
    if value is None:
        return None
    try:
        return to_number(value)
    except ValueError as error:
        raise SchemaError(
            f"{key} must be a number, not {value!r}", at=(*path, key), heat_type="ValueError"
        ) from error


def _allowed_values(definition: Any, description: Any, path: Path) -> Constraint:
    if not isinstance(definition, list):
        raise SchemaError("AllowedValues must be a list", at=path)
    return AllowedValues(definition, description)


def _allowed_pattern(definition: Any, description: Any, path: Path) -> Constraint:
    if not isinstance(definition, str):
        raise SchemaError("AllowedPattern must be a string", at=path)
    return AllowedPattern(definition, description)


def _custom(definition: Any, description: Any, path: Path) -> Constraint:
    if not isinstance(definition, str):
        raise SchemaError(f"A custom constraint is a name, not {definition!r}", at=path)
    return CustomConstraint(definition, description)


#: By name, in the order in which one wins where an entry holds several.
_PARSERS: dict[str, Callable[[Any, Any, Path], Constraint]] = {
    "modulo": _modulo,
    "range": _range,
    "length": _length,
    "allowed_values": _allowed_values,
    "allowed_pattern": _allowed_pattern,
    "custom_constraint": _custom,
}
