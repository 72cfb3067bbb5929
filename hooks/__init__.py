"""The ground floor: everything that a plug-in author sees, and nothing else.

Standard library and pluggy only: no socket, file, session or thread, but for ``http``, which no
other part imports: with it runners and other plug-ins call out. ``resource``,
``properties``, ``attributes``, ``constraints``, ``support`` and ``translation`` carry the names
that Heat's plug-in guide uses, so that a plug-in ports by changing its imports. They are modules of
this package and loaded when somebody imports them: ``zonda --help`` need not wait for all of them,
nor for pluggy, which the markers ``hookimpl`` and ``hookspec`` are made with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .markers import hookimpl, hookspec

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
    """Import the markers once somebody asks for one."""
    if name in ("hookimpl", "hookspec"):
        from . import markers

        return getattr(markers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
