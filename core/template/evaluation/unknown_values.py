"""Partial evaluation: values of resources that do not exist yet stay ``UNKNOWN``.

Called where templates are checked, and by previews of plans. There, a value of a resource that does
not exist yet raises ``UnknownUntilRun``; the outermost call that reads it is ``UNKNOWN`` as a
whole, through every function, while what stands beside it has its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from zonda.hooks.function import ABSENT, Function, ResolveScope, count, sources

from ..source.diagnostics import FAULTS, FollowUpError
from .scope import Valueless


class UnknownUntilRun(Exception):
    """The value of a resource that is not there yet, or may be another one then."""


class Unknown(Valueless):
    """The value that depends on resources which do not exist yet. It is no fault."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "(known after apply)"

    def __reduce__(self) -> str:
        return "UNKNOWN"  # a copy is the same one


UNKNOWN = Unknown()


def resolve_static(tree: Any, scope: ResolveScope) -> Any:
    """Resolve ``tree``: each function becomes its value, or ``UNKNOWN``.

    No function that reads a resource is called. What a function cannot give because of a fault is
    unknown, too: that fault is told elsewhere.
    """
    kind = type(tree)
    if kind is dict:
        pairs = (
            (key, value if type(value) is str else resolve_static(value, scope))
            for key, value in tree.items()
        )
        return {key: value for key, value in pairs if value is not ABSENT}
    if kind is list:
        values = (value if type(value) is str else resolve_static(value, scope) for value in tree)
        return [value for value in values if value is not ABSENT]
    if kind is str or not isinstance(tree, Function):
        return tree
    if tree.name == "if":  # decided when it was parsed: what is left is the branch that was taken
        return resolve_static(tree.args, scope)
    if any(source.kind in ("attr", "ref") for source in sources(tree)):
        return UNKNOWN
    try:
        return tree.resolve(scope)
    except FAULTS:
        return UNKNOWN


def evaluate_partially(tree: Any, scope: ResolveScope) -> Any:
    """Resolve ``tree``: each function becomes its value, or ``UNKNOWN`` for ``UnknownUntilRun``."""
    kind = type(tree)
    if kind is str or kind is int:
        return tree
    if isinstance(tree, dict):
        scope.spend(len(tree))
        pairs = ((key, evaluate_partially(value, scope)) for key, value in tree.items())
        return {key: value for key, value in pairs if value is not ABSENT}
    if isinstance(tree, list):
        scope.spend(len(tree))
        values = (evaluate_partially(value, scope) for value in tree)
        return [value for value in values if value is not ABSENT]
    if not isinstance(tree, Function):
        return tree
    if tree.name == "if":  # as above
        return evaluate_partially(tree.args, scope)
    try:
        value = tree.resolve(scope)
    except (UnknownUntilRun, FollowUpError):
        return UNKNOWN
    count(value, scope)
    return value


def has_unknown(value: Any) -> bool:
    """Whether anything in ``value`` is not known."""
    inside = [value]
    for each in inside:  # it grows meanwhile
        # Plain data first: asking an abstract class for its instances is ten times slower.
        kind = type(each)
        if kind is str or kind is int:
            continue
        if each is UNKNOWN:
            return True
        if kind is dict or isinstance(each, Mapping):
            inside.extend(each.values())
        elif isinstance(each, list):
            inside.extend(each)
    return False


def assume_unchanged(value: Any, before: Any) -> Any:
    """Replace each unknown part of ``value`` by its value in ``before``; else by null."""
    if value is UNKNOWN:
        return before
    if isinstance(value, Mapping):
        old = before if isinstance(before, Mapping) else {}
        return {key: assume_unchanged(item, old.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        items = before[: len(value)] if isinstance(before, list) else []
        return [assume_unchanged(item, each) for item, each in zip_longest(value, items)]
    return value
