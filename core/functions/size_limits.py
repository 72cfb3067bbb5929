"""Size limits: check the size of a result before a function makes it.

Called by the functions that can make much from little. The limits are the scope's own: see
``Spending`` in hooks/function.py.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from zonda.hooks.function import TEXT_PER_VALUE, Spending


def check_size(scope: Spending, values: int) -> None:
    """Raise if a function may not make ``values``; they are counted after they are made."""
    scope.spend(values)
    scope.spend(-values)


def check_text_size(scope: Spending, length: int) -> None:
    """Raise if a function may not make a text of ``length``."""
    check_size(scope, length // TEXT_PER_VALUE)


def to_hashable(value: Any) -> Hashable:
    """Convert ``value`` to a hashable key: equal for equal values."""
    if isinstance(value, dict):
        return dict, frozenset((key, to_hashable(item)) for key, item in value.items())
    if isinstance(value, list):
        return list, tuple(map(to_hashable, value))
    if isinstance(value, set):
        return set, frozenset(map(to_hashable, value))
    made: Hashable = value
    return made
