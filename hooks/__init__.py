"""The public API: all that a plug-in imports. Standard library and pluggy only, but for ``http``.

``from zonda.hooks import resource, properties`` and so on: ``resource``, ``properties``,
``attributes``, ``constraints``, ``support`` and ``translation`` carry the names that Heat's plug-in
guide uses, so that a plug-in ports by changing its imports. They and the markers ``hookimpl`` and
``hookspec`` are imported when somebody asks for them: ``zonda --help`` waits for none of them, nor
for pluggy. No socket, file, session or thread outside of ``http``, which no other part imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .markers import hookimpl, hookspec
    from .resources import resource
    from .schema import attributes, constraints, properties, support, translation

#: Modules of Heat's guide, and the folders in which they are.
_MODULES = {
    "attributes": "schema",
    "constraints": "schema",
    "properties": "schema",
    "resource": "resources",
    "support": "schema",
    "translation": "schema",
}

__all__ = [
    "attributes",
    "constraints",
    "hookimpl",
    "hookspec",
    "properties",
    "resource",
    "support",
    "translation",
]


def __getattr__(name: str) -> Any:
    """Import a module of the guide, or the markers, once somebody asks for one."""
    if name in ("hookimpl", "hookspec"):
        from . import markers

        return getattr(markers, name)
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}.{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
