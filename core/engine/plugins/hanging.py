"""Calls of plug-ins that did not return in time. Each holds its thread until it returns.

Owned by the driver's thread. What hangs counts nowhere: neither among the operations that may run
at once nor among the looks at drift, and the pool has a thread more for it. So it holds up nobody;
but of one stack, and of all together, no more than so many calls may hang.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

#: The largest number of hanging calls: of one root stack, and of all.
OF_STACK, OF_ALL = 32, 256


class Hanging:
    """The hanging calls. ``spare`` gets the number of threads that they hold, or free."""

    def __init__(self, of_stack: int = OF_STACK, of_all: int = OF_ALL) -> None:
        self._of_stack = of_stack
        self._of_all = of_all
        #: (resource, stack at the top) by call.
        self._calls: dict[Hashable, tuple[str, str]] = {}
        self.spare: Callable[[int], None] = lambda by: None

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: Hashable, key: str, root_id: str) -> None:
        """Note that a call did not return in time."""
        self._calls[call] = (key, root_id)
        self.spare(1)

    def drop(self, call: Hashable) -> bool:
        """Note that a call has returned; returns whether it hung and its thread is free again."""
        if self._calls.pop(call, None) is None:
            return False
        self.spare(-1)
        return True

    def forbids(self, root_id: str, key: str = "") -> str:
        """The reason why no call for a stack may begin, or ''.

        ``key``: a resource of which none may hang.
        """
        if key and any(key == known for known, _ in self._calls.values()):
            return "an earlier call of its plug-in has not come back"
        of_stack = sum(root_id == known for _, known in self._calls.values())
        if of_stack >= self._of_stack:
            return f"{of_stack} earlier calls of plug-ins for the stack have not come back"
        return self.forbids_all()

    def forbids_all(self) -> str:
        """The reason why no call at all may begin, or ''."""
        if len(self._calls) >= self._of_all:
            return f"{len(self._calls)} earlier calls of plug-ins have not come back"
        return ""
