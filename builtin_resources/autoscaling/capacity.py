"""The arithmetic of scaling: the size of a group, and the names of its new members."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

EXACT: Final = "exact_capacity"
CHANGE: Final = "change_in_capacity"
PERCENT: Final = "percent_change_in_capacity"
TYPES: Final = (CHANGE, EXACT, PERCENT)

#: The same by their names in CloudFormation.
CFN_TYPES: Final = {
    "ChangeInCapacity": CHANGE,
    "ExactCapacity": EXACT,
    "PercentChangeInCapacity": PERCENT,
}

_NAME_LENGTH: Final = 12


@dataclass(frozen=True, slots=True)
class Bounds:
    """The smallest and the largest size of a group."""

    least: int
    most: int

    def clamp(self, size: float) -> float:
        """``size`` within the bounds."""
        return min(max(size, self.least), self.most)


def compute_size(size: int, kind: str, adjustment: float, step: int, bounds: Bounds) -> float:
    """The size that a group of ``size`` members becomes.

    A percentage is rounded towards the present size, but to one member at least; ``step`` is the
    least number of members by which it changes the group. The answer may not be a whole number.
    """
    if kind == EXACT:
        return bounds.clamp(adjustment)
    if kind == PERCENT:
        adjustment = _apply_step(_round_change(size * adjustment / 100.0), step)
    return bounds.clamp(size + adjustment)


def _round_change(change: float) -> int:
    """Round towards zero, and away from it below one."""
    if abs(change) < 1.0:
        return math.ceil(change) if change > 0 else math.floor(change)
    return math.trunc(change)


def _apply_step(change: int, step: int) -> int:
    return change if abs(change) >= step else step if change > 0 else -step


def make_member_name(seed: str, number: int) -> str:
    """A name that looks like any other random one, always the same for a seed and a number."""
    digest = hashlib.sha256(f"{seed}:{number}".encode()).digest()
    return base64.b32encode(digest).decode().lower()[:_NAME_LENGTH]


def list_free_names(seed: str, first: int, taken: Collection[str]) -> Iterator[str]:
    """Names from the one with the number ``first`` on, without those that are taken."""
    known = frozenset(taken)
    names = (make_member_name(seed, number) for number in count(first))
    return (name for name in names if name not in known)


def find_first_unused(seed: str, first: int, taken: Collection[str]) -> int:
    """The number after that of the last name from ``first`` on that is taken."""
    likely = range(first, first + 2 * len(taken) + 16)
    used = [number for number in likely if make_member_name(seed, number) in taken]
    return max(used, default=first - 1) + 1
