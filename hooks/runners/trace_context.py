"""The trace that a call belongs to, in the form of the header ``traceparent`` (W3C)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_TRACEPARENT: ContextVar[str] = ContextVar("traceparent", default="")


def get_traceparent() -> str:
    """The value of ``traceparent`` for requests of the running call; '' where nothing is traced."""
    return _TRACEPARENT.get()


@contextmanager
def keep_traceparent(value: str) -> Iterator[None]:
    """Have ``get_traceparent`` give ``value`` within."""
    mark = _TRACEPARENT.set(value)
    try:
        yield
    finally:
        _TRACEPARENT.reset(mark)
