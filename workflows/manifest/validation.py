"""The context of constraints while a manifest is read, for its own defaults and examples.

A manifest may come from anybody, and is read by every command: its patterns get little time, and
none after one that takes longer. Constraints of plug-ins are left to the use of the type.
"""

from __future__ import annotations

from typing import Any

from zonda.hooks import BaseCustomConstraint, full_match

#: Seconds that one pattern may take.
_SECONDS = 0.2


class LoadTimeContext:
    """For one manifest. The part of a ``ResourceContext`` that constraints use."""

    def __init__(self) -> None:
        self._too_slow = ""

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``; raises ValueError where it is too slow."""
        if self._too_slow:
            raise ValueError(self._too_slow)
        try:
            return full_match(pattern, text, _SECONDS)
        except ValueError as error:
            self._too_slow = str(error)
            raise

    def constraint(self, name: str) -> type[BaseCustomConstraint]:
        """A constraint that accepts every value."""
        return _Unknown


class _Unknown(BaseCustomConstraint):
    def validate(self, value: Any, context: Any) -> bool:
        """Accept every value: the constraint is not known yet."""
        return True
