"""The ground floor: everything that a plug-in author sees, and nothing else.

Standard library and pluggy only: no socket, file, session or thread, but for ``http``, which no
other part imports: with it runners and other plug-ins call out. ``resource``,
``properties``, ``attributes``, ``constraints``, ``support`` and ``translation`` carry the names
that Heat's plug-in guide uses, so that a plug-in ports by changing its imports. They are modules of
this package and loaded when somebody imports them: ``zonda --help`` need not wait for all of them.
"""

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
