"""The waker of the running call: whoever learns that a run can go on rings it.

The engine keeps one for each operation that acts outside; a runner that has an operation wait for
something of its own (a place, a callback) keeps ``get_waker()`` and rings it then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Waker:
    """Wakes one operation: its next poll is made at once, whatever it was to wait for."""

    __slots__ = ("_has_rung", "_poke", "get_load", "is_over")

    def __init__(
        self, poke: Callable[[], None], get_load: Callable[[], float] = lambda: 0.0
    ) -> None:
        self._poke = poke
        #: The calls that are made or wait for a thread, as a part of the number of threads: from 1
        #: on, what is new waits for the end of others.
        self.get_load = get_load
        #: Whether the operation has ended, so that it waits for nothing any more.
        self.is_over = False
        self._has_rung = False

    def ring(self) -> None:
        """Wake the operation; from any thread, and without waiting."""
        self._has_rung = True
        self._poke()

    def take_ring(self) -> bool:
        """Whether it was rung since this was last asked."""
        has_rung, self._has_rung = self._has_rung, False
        return has_rung


_WAKER: ContextVar[Waker | None] = ContextVar("waker", default=None)


def get_waker() -> Waker | None:
    """The waker of the running call; None where nothing can be woken."""
    return _WAKER.get()


@contextmanager
def keep_waker(waker: Waker) -> Iterator[None]:
    """Have ``get_waker`` give ``waker`` within."""
    mark = _WAKER.set(waker)
    try:
        yield
    finally:
        _WAKER.reset(mark)
