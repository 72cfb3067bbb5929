"""Values that are only known once other resources exist: a tree is resolved as far as it goes.

Called by previews of plans. Whoever knows the values of resources raises ``KnownLater`` for one
that does not exist yet; the outermost call that reads it is ``LATER`` as a whole, through every
function, while what stands beside it has its value. So is what reads a parameter of a nested stack
that is only known then (``Family.load``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from zonda.hooks.function import ABSENT, Function, ResolveScope, count

from ..source.diagnostics import Poisoned


class KnownLater(Exception):
    """The value of a resource that is not there yet, or may be another one then."""


class Later:
    """Stands for a value that is known after the plan has been carried out."""

    _instance: ClassVar[Later | None] = None

    def __new__(cls) -> Later:
        """The one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "(known after apply)"


LATER = Later()


def resolve_partly(tree: Any, scope: ResolveScope) -> Any:
    """``tree`` with every function replaced by its value or ``LATER``; absent items are dropped."""
    if isinstance(tree, dict):
        scope.spend(len(tree))
        pairs = ((key, resolve_partly(value, scope)) for key, value in tree.items())
        return {key: value for key, value in pairs if value is not ABSENT}
    if isinstance(tree, list):
        scope.spend(len(tree))
        values = (resolve_partly(value, scope) for value in tree)
        return [value for value in values if value is not ABSENT]
    return _called(tree, scope) if isinstance(tree, Function) else tree


def _called(call: Function, scope: ResolveScope) -> Any:
    if call.name == "if":
        # decided when it was parsed: what is left is the branch that was taken
        return resolve_partly(call.args, scope)
    try:
        value = call.resolve(scope)
    except (KnownLater, Poisoned):
        return LATER
    count(value, scope)
    return value


def has_later(value: Any) -> bool:
    """Whether anything in ``value`` is only known later."""
    if isinstance(value, Mapping):
        return any(map(has_later, value.values()))
    if isinstance(value, list):
        return any(map(has_later, value))
    return value is LATER


def supposed(value: Any, before: Any) -> Any:
    """``value`` as if all that is not known yet stays what it was ``before``; else null."""
    if value is LATER:
        return before
    if isinstance(value, Mapping):
        old = before if isinstance(before, Mapping) else {}
        return {key: supposed(item, old.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        items = before if isinstance(before, list) else []
        return [supposed(item, each) for item, each in _beside(value, items)]
    return value


def _beside(values: list[Any], before: list[Any]) -> Iterator[tuple[Any, Any]]:
    for index, value in enumerate(values):
        yield value, before[index] if index < len(before) else None
