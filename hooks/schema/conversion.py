"""Scalars from text: numbers and booleans as Heat reads them.

Used by constraints, by properties and by the template's parameters. Knows no schema.
"""

from __future__ import annotations

from numbers import Number
from typing import Any, Final

TRUE_WORDS: Final = frozenset({"1", "t", "true", "on", "y", "yes"})
FALSE_WORDS: Final = frozenset({"0", "f", "false", "off", "n", "no"})

#: Names of property types and of parameter types, in lower case, to one word each.
KINDS: Final = {
    "integer": "integer",
    "string": "string",
    "number": "number",
    "boolean": "boolean",
    "map": "map",
    "json": "map",
    "list": "list",
    "comma_delimited_list": "list",
    "commadelimitedlist": "list",
    "any": "any",
}


def normalize_kind(type_name: str) -> str:
    """``"Map"`` and ``"json"`` -> ``"map"``; an unknown name is given back in lower case."""
    name = type_name.lower()
    return KINDS.get(name, name)


def to_number(value: Any) -> Any:
    """Numbers and booleans as they are, text as an integer or else a float.

    Raises ValueError for other text and for values that are neither.
    """
    if isinstance(value, Number):
        return value
    if not isinstance(value, str):
        raise ValueError(f"Value must be a number; got {value!r}")
    try:
        return int(value)
    except ValueError:
        return float(value)


def to_boolean(value: Any) -> bool:
    """True or False for the words that parameters take (``on``, ``yes``, ``t``, ``1``, ...).

    Raises ValueError for anything else.
    """
    word = str(value).strip().lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    words = ", ".join(f"'{known}'" for known in sorted(TRUE_WORDS | FALSE_WORDS))
    raise ValueError(f"Unrecognized value '{value}', acceptable values are: {words}")


def to_kind(type_name: str, value: Any) -> Any:
    """``value`` as the scalar type ``type_name`` has it; other types leave it alone.

    Raises ValueError, e.g. ``Value "x" is invalid for data type "number".``
    """
    try:
        match normalize_kind(type_name):
            case "string":
                return str(value)
            case "number" | "integer":
                return to_number(value)
            case "boolean":
                return to_boolean(value)
    except ValueError as error:
        text = f'Value "{value}" is invalid for data type "{type_name}".'
        raise ValueError(text) from error
    return value
