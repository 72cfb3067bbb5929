"""Diagnostics: codes of faults, and functions that all parsers of templates share.

A parser appends to a list and goes on; ``stack.load`` raises them all at once. The order of the
list is the order in which Heat checks, so that the first is the one Heat would raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from zonda.hooks.errors import Path, PathItem, TemplateError, UnknownReference
from zonda.hooks.text.suggestions import suggestion as suggestion

#: Codes, stable for ever; ``core/diagnostics`` explains them. More stand in hooks/errors.py,
#: hooks/schema/values.py, document.py, core/functions and lint.
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
FUNCTION_NOT_HERE = "ZON117"
TOO_LARGE = "ZON119"
TYPE_UNKNOWN = "ZON122"
TYPE_TEMPLATE = "ZON123"
REGISTRY = "ZON124"
FILE_MISSING = "ZON125"
POLICY = "ZON126"
EXTERNAL = "ZON127"
PARAMETER_UNDECLARED = "ZON128"
CONDITION_UNKNOWN = "ZON131"
CONDITION_CIRCULAR = "ZON132"
PARAMETER_CONSTRAINT = "ZON133"
CONSTRAINT_UNKNOWN = "ZON134"
DEFAULT = "ZON135"
ENVIRONMENT_SECTION = "ZON136"
MERGE = "ZON137"
RESOURCE_KEY = "ZON138"
RESOURCE_TYPE = "ZON139"
OWN_CHECK = "ZON145"
ALIAS_RING = "ZON146"
OWN_SECTION = "ZON147"
CAPABILITIES = "ZON148"
REQUIREMENTS = "ZON149"
CHOICE = "ZON150"
PROPERTY = "ZON140"
NESTED_DEPTH = "ZON151"
FILE_REFUSED = "ZON155"
FACADE = "ZON152"


#: So many faults of one kind are worth the time that "did you mean" takes.
MOST_HINTS = 100

#: The exceptions that a function may raise while it is resolved.
FAULTS = (TemplateError, TypeError, ValueError, KeyError, AttributeError, IndexError)


class TooLarge(ValueError):
    """Raised where a function would make a value that is larger than the limits."""

    code = TOO_LARGE
    heat_type = "ValueError"


#: The message for an exception of a plug-in that has no text.
SILENT = "raised without a text"

#: Codes of names that another installation may have: ``ignore_unknown`` only warns of them.
UNKNOWN_NAMES = frozenset((TYPE_UNKNOWN, TYPE_TEMPLATE, CONSTRAINT_UNKNOWN))


class FollowUpError(TemplateError):
    """Raised for an error that only follows from another, already reported one; never shown."""

    def __init__(self, message: str = "depends on something that is wrong itself") -> None:
        super().__init__(message)


def make_unknown_reference(
    name: object, where: str, known: Iterable[object], at: Sequence[PathItem] = ()
) -> UnknownReference:
    """Make the fault of naming a resource that is not there (or disabled)."""
    return UnknownReference(
        f'The specified reference "{name}" (in {where}) is incorrect.',
        at=at,
        hint=suggestion(name, known),
    )


def from_exception(error: Exception) -> TemplateError:
    """``error`` as a TemplateError; Python's own carry Heat's class name in ``heat_type``."""
    if isinstance(error, TemplateError):
        if error.code == TemplateError.code:
            error.code = FUNCTION
        return error
    code = getattr(error, "code", FUNCTION)
    heat_type = getattr(error, "heat_type", type(error).__name__)
    made = TemplateError(str(error) or type(error).__name__, heat_type=heat_type, code=code)
    made.__cause__ = error
    return made


#: The errors that Heat raises through its parsers as they are, without a path.
_UNWRAPPED = ("UserParameterMissing", "InvalidTemplateReference", "InvalidTemplateAttribute")


#: The same of values that ``get_attr`` reads while a resource is made.
OF_ATTRIBUTES = ("InvalidTemplateAttribute", "NotFound")


def is_unwrapped(fault: TemplateError, at: Path) -> bool:
    """Whether Heat reports ``fault`` without its path; ``at`` is then filled in (in place)."""
    if fault.heat_type not in _UNWRAPPED:
        return False
    fault.at = fault.at or at
    return True


def wrap_error(error: Exception, *, path: Path, label: str = "") -> TemplateError:
    """Wrap ``error`` as Heat does after a failed check: at ``path``, with ``label``.

    A TemplateError with a label of its own is complete and stays as it is; so is what Heat does
    not wrap, where there is no label.
    """
    if isinstance(error, FollowUpError) or (isinstance(error, TemplateError) and error.label):
        return error
    inner = from_exception(error)
    if not label and is_unwrapped(inner, path):
        return inner
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


def format_type_name(value: Any) -> str:
    """The name of a value's type in Python, as Heat's messages have it."""
    return type(value).__name__
