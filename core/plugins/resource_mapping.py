"""Modules that follow Heat's plug-in guide: ``resource_mapping()`` in place of hooks.

Used for files in ``plugin_dirs`` and for entry points alike. A module that leaves types out of
``available_resource_mapping()`` because a library is missing is told of with the library's name.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from zonda.hooks.markers import hookimpl
from zonda.hooks.schema.constraints import BaseCustomConstraint
from zonda.hooks.schema.support import Unavailable
from zonda.hooks.text.borders import raise_interruption

TYPES: Final = "resource_mapping"
AVAILABLE: Final = "available_resource_mapping"
CONSTRAINTS: Final = "constraint_mapping"
#: Stands on a module: the libraries that it looked for in vain while it was imported.
MISSING: Final = "__zonda_missing__"


class ModulePlugin:
    """A module as a plug-in: its own hooks, and the guide's mappings as hooks."""

    def __init__(self, name: str, module: ModuleType) -> None:
        self.__name__ = name
        own = {key: value for key, value in vars(module).items() if inspect.isroutine(value)}
        for key, value in own.items():
            setattr(self, key, value)
        if TYPES in own or AVAILABLE in own:
            self._offer("zonda_resource_types", lambda: _collect_types(own, module))
        if CONSTRAINTS in own:
            self._offer("zonda_constraints", lambda: _collect_constraints(own[CONSTRAINTS]()))

    def _offer(self, hook: str, mapping: Callable[[], Any]) -> None:
        """Register ``mapping`` as an implementation of ``hook``, together with the module's own."""
        own = getattr(self, hook, None)

        def implementation() -> Any:
            brought = mapping() or {}
            return {**own(), **brought} if own else brought

        setattr(self, hook, hookimpl(implementation))


def follows_the_guide(plugin: object) -> bool:
    """Whether ``plugin`` is a module with mappings in place of hooks."""
    names = (TYPES, AVAILABLE, CONSTRAINTS)
    return isinstance(plugin, ModuleType) and any(callable(vars(plugin).get(n)) for n in names)


def _collect_types(own: Mapping[str, Callable[[], Any]], module: ModuleType) -> Any:
    if AVAILABLE not in own:
        return own[TYPES]()
    available = own[AVAILABLE]() or {}
    reason = _format_reason(getattr(module, MISSING, ()))
    return {**dict.fromkeys(_list_declared(own), Unavailable(reason)), **available}


def _collect_constraints(brought: Any) -> Any:
    """Collect the result of ``constraint_mapping``; the guide once required no base class."""
    if not isinstance(brought, Mapping):
        return brought
    return {name: _add_base_class(thing) for name, thing in brought.items()}


def _add_base_class(thing: Any) -> Any:
    """Add the base class of constraints to a plain class with ``validate(value, context)``."""
    if not isinstance(thing, type) or issubclass(thing, BaseCustomConstraint):
        return thing
    if not callable(getattr(thing, "validate", None)):
        return thing
    names = {"__module__": thing.__module__, "__doc__": thing.__doc__}
    return type(thing.__name__, (thing, BaseCustomConstraint), names)


def _list_declared(own: Mapping[str, Callable[[], Any]]) -> Mapping[str, Any]:
    """List the types that the module would provide with all its libraries installed."""
    try:
        return own[TYPES]() or {} if TYPES in own else {}
    except BaseException as error:  # the very reason why there is the other function
        raise_interruption(error)
        return {}


def _format_reason(missing: Sequence[str]) -> str:
    if not missing:
        return f"its {AVAILABLE}() leaves it out"
    verb = "which is" if len(missing) == 1 else "which are"
    return f"it needs {', '.join(missing)}, {verb} not installed"


@contextmanager
def record_missing_modules(missing: set[str]) -> Iterator[None]:
    """Add to ``missing`` the top-level modules that cannot be found while the block runs."""
    witness = _MissingModuleRecorder(missing)
    sys.meta_path.append(witness)
    try:
        yield
    finally:
        sys.meta_path.remove(witness)


class _MissingModuleRecorder:
    """The last finder on the path: it finds nothing, and records the module's name."""

    def __init__(self, missing: set[str]) -> None:
        self._missing = missing

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if "." not in name:
            self._missing.add(name)
        return None
