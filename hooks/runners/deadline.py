"""The deadline of the running call: the time when whatever it is for is given up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

_DEADLINE: ContextVar[float] = ContextVar("deadline", default=inf)


def get_deadline() -> float:
    """The deadline of the running call in seconds since the epoch; ``inf`` where it has none."""
    return _DEADLINE.get()


@contextmanager
def keep_deadline(value: float) -> Iterator[None]:
    """Have ``get_deadline`` give ``value`` within."""
    mark = _DEADLINE.set(value)
    try:
        yield
    finally:
        _DEADLINE.reset(mark)
