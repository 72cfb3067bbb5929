"""How large what a function makes would get, asked before it is made.

Called by the functions that can make much from little. The limits are the scope's own: see
``Spending`` in hooks/function.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from zonda.hooks.function import TEXT_PER_VALUE, Spending


def foresee(scope: Spending, values: int) -> None:
    """Raise if a function may not make ``values``; they are counted once they are made."""
    scope.spend(values)
    scope.spend(-values)


def foresee_text(scope: Spending, length: int) -> None:
    """Raise if a function may not make a text of ``length``."""
    foresee(scope, length // TEXT_PER_VALUE)


def frozen(value: Any) -> Hashable:
    """Something to look ``value`` up by: equal for equal values, whatever they hold."""
    if isinstance(value, dict):
        return dict, frozenset((key, frozen(item)) for key, item in value.items())
    if isinstance(value, list):
        return list, tuple(map(frozen, value))
    if isinstance(value, set):
        return set, frozenset(map(frozen, value))
    made: Hashable = value
    return made
