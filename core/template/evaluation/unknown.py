"""Values that nobody knows while a template is checked, since no resource exists yet.

Called by ``nested_checks``: what goes into a nested template is resolved as far as it is known, and
what is not stands there as ``UNKNOWN``. Whatever reads that is left unchecked, without a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.function import ABSENT, Function, ResolveScope, Source, sources

from ..source.diagnostics import FAULTS, Poisoned


class Unknown(Function):
    """Stands for a value that depends on resources. Has no value, and is no fault."""

    __slots__ = ()

    def __init__(self) -> None:
        self.name, self.args, self.path = "", None, ()

    def __repr__(self) -> str:
        return "(known after apply)"

    def validate(self, scope: ResolveScope) -> Iterator[Exception]:
        """Nothing is wrong with it."""
        return iter(())

    def sources(self) -> Iterator[Source]:
        """Nothing that this template could tell."""
        return iter(())

    def resolve(self, scope: ResolveScope) -> Any:
        """Never a value."""
        raise Poisoned


UNKNOWN = Unknown()


def known(tree: Any, scope: ResolveScope) -> Any:
    """``tree`` with every function replaced by its value, or by ``UNKNOWN``.

    What a function cannot give because of a fault is unknown, too: that fault is told elsewhere.
    """
    kind = type(tree)
    if kind is dict:
        pairs = (
            (key, value if type(value) is str else known(value, scope))
            for key, value in tree.items()
        )
        return {key: value for key, value in pairs if value is not ABSENT}
    if kind is list:
        values = (value if type(value) is str else known(value, scope) for value in tree)
        return [value for value in values if value is not ABSENT]
    if kind is not str and isinstance(tree, Function):
        return _called(tree, scope)
    return tree


def _called(call: Function, scope: ResolveScope) -> Any:
    if call.name == "if":
        # decided when it was parsed: what is left is the branch that was taken
        return known(call.args, scope)
    if any(source.kind in ("attr", "ref") for source in sources(call)):
        return UNKNOWN
    try:
        return call.resolve(scope)
    except FAULTS:
        return UNKNOWN


def has_unknown(value: Any) -> bool:
    """Whether anything in ``value`` is not known."""
    if isinstance(value, Mapping):
        return any(map(has_unknown, value.values()))
    if isinstance(value, list):
        return any(map(has_unknown, value))
    return isinstance(value, Unknown)
