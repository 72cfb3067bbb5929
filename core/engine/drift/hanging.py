"""Looks that have not come back in time. Each keeps its thread until it does, if it ever does.

Owned by the driver's thread. None of them counts among the looks that may run at once, so that what
hangs does not hold up the others: it is only not looked at again while it hangs, and of one stack,
and of all together, no more than so many may hang.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .check import Check

#: How many looks may hang, of one stack at the top and of all.
OF_STACK, OF_ALL = 32, 256


def _nothing(by: int) -> None:
    """There are no threads."""


class Hanging:
    """``spare`` is told how many threads more, or fewer, are lost to looks that hang."""

    def __init__(self, of_stack: int = OF_STACK, of_all: int = OF_ALL) -> None:
        self._of_stack = of_stack
        self._of_all = of_all
        #: (resource, stack at the top) by the look at it.
        self._looks: dict[Any, tuple[str, str]] = {}
        self.spare: Callable[[int], None] = _nothing

    def __len__(self) -> int:
        return len(self._looks)

    def add(self, check: Check, job: Any) -> None:
        """A look has not come back in time."""
        self._looks[job] = (job.key, check.row.stack_id)
        self.spare(1)

    def drop(self, job: Any) -> None:
        """A look has come back: if it was one that hung, its thread is free again."""
        if self._looks.pop(job, None) is not None:
            self.spare(-1)

    def forbids(self, check: Check, job: Any) -> str:
        """Why a look is not to begin, or ''."""
        keys = {key for key, _ in self._looks.values()}
        if job.key in keys:
            return "an earlier look at it has not come back"
        of_stack = sum(stack_id == check.row.stack_id for _, stack_id in self._looks.values())
        if of_stack >= self._of_stack:
            return f"{of_stack} earlier looks at other resources of the stack have not come back"
        if len(keys) >= self._of_all:
            return f"{len(keys)} earlier looks at other resources have not come back"
        return ""
