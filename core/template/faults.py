"""Faults are collected, not thrown: what every section parser of this room shares.

A parser appends to a list and goes on; ``stack.load`` raises them all at once. The order of the
list is the order in which Heat checks, so that the first is the one Heat would raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from zonda.hooks.errors import Path, PathItem, TemplateError, UnknownReference

#: Codes, stable for ever. 100 to 109 stand in hooks/errors.py and source.py.
SECTION = "ZON103"
RESOURCE_SHAPE = "ZON104"
OUTPUT_SHAPE = "ZON105"
GROUPS = "ZON106"
DUPLICATE_NAMES = "ZON107"
STACK_NAME = "ZON108"
ENVIRONMENT = "ZON109"
PARAMETER = "ZON111"
PARAMETER_MISSING = "ZON112"
PARAMETER_UNKNOWN = "ZON113"
PARAMETER_IMMUTABLE = "ZON114"
CONDITION = "ZON115"
FUNCTION = "ZON116"
TYPE_UNKNOWN = "ZON122"
TYPE_TEMPLATE = "ZON123"
REGISTRY = "ZON124"
FILE_MISSING = "ZON125"
POLICY = "ZON126"
EXTERNAL = "ZON127"
PROPERTY = "ZON140"


#: What a function may raise while it is resolved.
FAULTS = (TemplateError, TypeError, ValueError, KeyError, AttributeError, IndexError)


class Poisoned(TemplateError):
    """A value that is missing because of a fault that was reported already: never shown."""

    def __init__(self, message: str = "depends on something that is wrong itself") -> None:
        super().__init__(message)


def near(name: object, known: Iterable[object]) -> str:
    """A hint that names what was probably meant, or nothing."""
    if not isinstance(name, str):
        return ""
    found = get_close_matches(name, [item for item in known if isinstance(item, str)], n=1)
    return f"Did you mean {found[0]}?" if found else ""


def unknown_reference(
    name: object, where: str, known: Iterable[object], at: Sequence[PathItem] = ()
) -> UnknownReference:
    """The fault of naming a resource that is not there (or disabled)."""
    return UnknownReference(
        f'The specified reference "{name}" (in {where}) is incorrect.',
        at=at,
        hint=near(name, known),
    )


def from_exception(error: Exception) -> TemplateError:
    """``error`` as a TemplateError; Python's own carry Heat's class name in ``heat_type``."""
    if isinstance(error, TemplateError):
        return error
    made = TemplateError(_sentence(error), heat_type=type(error).__name__, code=FUNCTION)
    made.__cause__ = error
    return made


def wrapped(error: Exception, *, path: Path, label: str = "") -> TemplateError:
    """``error`` as Heat shows it once it has passed through a check: at ``path``, with ``label``.

    A TemplateError with a label of its own is complete and stays as it is.
    """
    if isinstance(error, Poisoned) or (isinstance(error, TemplateError) and error.label):
        return error
    inner = from_exception(error)
    made = TemplateError(
        str(inner),
        path=path,
        label=label,
        at=inner.at or path,
        place=inner.place,
        code=inner.code if inner.code != TemplateError.code else FUNCTION,
        hint=inner.hint,
    )
    made.__cause__ = error
    return made


def _sentence(error: Exception) -> str:
    return str(error) or type(error).__name__


def type_name(value: Any) -> str:
    """The name of a value's type in Python, as Heat's messages have it."""
    return type(value).__name__
