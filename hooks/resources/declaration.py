"""Checks the declarations of what a plug-in provides, once, when they are gathered.

A mistake in a declaration shows there, by the name of the type and of the plug-in, and not where
somebody lists all types or makes a stack. Called by ``manager``, which leaves out what is
``Unavailable``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ..lazy import LazyClass
from ..policies import Policy
from ..schema.attributes import Schema as AttributeSchema
from ..schema.property import Schema as PropertySchema
from ..schema.support import SupportStatus, Unavailable
from ..text.borders import raise_interruption
from ..text.sanitize import describe_exception
from .resource import Resource

#: The class method by which a class that is no ``Resource`` gives the one that stands for it, or
#: ``Unavailable``: how ``contrib/zonda-heat-compat`` brings classes that were written for Heat.
OTHER_CONTRACT: Final = "__zonda_resource__"

_SCHEMATA: Final = {
    "properties_schema": (PropertySchema, "properties.Schema"),
    "attributes_schema": (AttributeSchema, "attributes.Schema"),
    "update_policy_schema": (PropertySchema, "properties.Schema"),
}
_ACTIONS: Final = (
    *("create", "update", "delete", "suspend", "resume", "check", "snapshot", "delete_snapshot"),
    *("adopt", "restore", "snapshot_delete", "signal", "find"),
)
_METHODS: Final = (
    *(f"handle_{action}" for action in _ACTIONS),
    *(f"check_{action}_complete" for action in _ACTIONS),
    *("validate", "_resolve_attribute", "get_reference_id", "get_live_state"),
)
_SCALARS: Final = (str, int, float, bool)
_POLICIES: Final = ("fail", "idempotent", "find")
#: Calling such a function runs not a line of it.
_DEFERRED: Final = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def validate_declaration(thing: Any, base: type[Any] | None) -> Any:
    """``thing``, or the ``Unavailable`` that says why it cannot be what extends ``base``.

    What is left where it is, which only zonda's own is, is looked at by its tests.
    """
    if isinstance(thing, LazyClass):
        return thing
    try:
        found = _adapt_to_contract(thing) if base is Resource else thing
        if isinstance(found, Unavailable):
            return found
        fault = _find_fault(found, base)
    except BaseException as error:  # a stranger's class may raise whenever it is looked at
        raise_interruption(error)
        return Unavailable(describe_exception(error))
    return Unavailable(fault) if fault else found


def _adapt_to_contract(thing: Any) -> Any:
    """Return the class that stands for ``thing`` where it was written to another contract."""
    own = getattr(thing, OTHER_CONTRACT, None)
    return own() if own is not None and isinstance(thing, type) else thing


def _find_fault(thing: Any, base: type[Any] | None) -> str:
    if base is None:
        return "" if callable(thing) else f"{thing!r} cannot be called"
    if base is Policy:
        return "" if isinstance(thing, Policy) else f"{thing!r} has no method check"
    if not (isinstance(thing, type) and issubclass(thing, base)):
        return f"{thing!r} does not extend {base.__module__}.{base.__name__}"
    return next(_list_faults(thing), "") if issubclass(thing, Resource) else ""


def _list_capability_faults(capabilities: Any) -> Iterator[str]:
    """The faults in the capabilities of a type."""
    for key, value in capabilities.items() if isinstance(capabilities, Mapping) else ():
        values = value if isinstance(value, list | tuple) else [value]
        if not isinstance(key, str) or not all(isinstance(each, _SCALARS) for each in values):
            yield f"capabilities: {key} is {value!r}, not a text, a number, a boolean, or several"


def _list_faults(cls: type[Resource]) -> Iterator[str]:
    """The faults in a type's declarations."""
    for attribute, (schema, wanted) in _SCHEMATA.items():
        yield from _list_schema_faults(attribute, getattr(cls, attribute), schema, wanted)
    if not isinstance(cls.support_status, SupportStatus):
        yield f"support_status is {cls.support_status!r}, not support.SupportStatus(...)"
    for attribute in ("example", "exposes_properties", "capabilities"):
        if not isinstance(getattr(cls, attribute), Mapping):
            yield f"{attribute} is {getattr(cls, attribute)!r}, not a mapping"
    yield from _list_capability_faults(cls.capabilities)
    if cls.start_policy not in _POLICIES:
        yield f"start_policy {cls.start_policy!r} is none of {', '.join(_POLICIES)}"
    for name in _METHODS:
        yield from _list_method_faults(name, getattr(cls, name, None))
    if cls.__init__ is not Resource.__init__ and not accepts_arguments(cls.__init__, 5):
        yield "__init__ must take name, definition, context and state"


def _list_schema_faults(
    attribute: str, found: Any, schema: type[Any], wanted: str
) -> Iterator[str]:
    if not isinstance(found, Mapping):
        yield f"{attribute} is {found!r}, not a mapping of names to {wanted}(...)"
        return
    for name, each in found.items():
        if not isinstance(name, str):
            yield f"{attribute} has the name {name!r}, which is not text"
        if not isinstance(each, schema):
            yield f"{attribute}: {name} is {each!r}, not {wanted}(...)"


def _list_method_faults(name: str, method: Any) -> Iterator[str]:
    if method is None:
        return
    if not callable(method):
        yield f"{name} is {method!r}, not a method"
    if getattr(getattr(method, "__code__", None), "co_flags", 0) & _DEFERRED:
        yield f"{name} is a coroutine or a generator (async def, yield), which nobody would run"


def accepts_arguments(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True
