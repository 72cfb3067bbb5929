"""A future for one waiting thread, at a fraction of the price. Used for durable writes."""

from __future__ import annotations

import threading
from typing import Any


class Ticket:
    """Answered once, by the engine's thread; waited for once, by a thread of the pool."""

    __slots__ = ("_error", "_lock", "_value")

    def __init__(self) -> None:
        self._value: Any = None
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self._lock.acquire()

    def answer(self, value: Any, error: BaseException | None) -> None:
        """Set the value or the error of ``wait``."""
        self._value, self._error = value, error
        self._lock.release()

    def wait(self) -> Any:
        """Wait for the value and return it; raises the error where it is one."""
        with self._lock:
            if self._error is not None:
                raise self._error
            return self._value
