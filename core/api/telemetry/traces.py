"""The spans of requests and plans, as the server asks for them: here of nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

#: Called with the operation and the status of a request that was answered.
Finish = Callable[[str, int], None]


class Traces:
    """Traces nothing; ``spans`` has what traces."""

    @contextmanager
    def trace_request(self, method: str, headers: Mapping[str, str]) -> Iterator[Finish]:
        """Trace a request within."""
        yield _forget

    @contextmanager
    def trace_plan(self, action: str) -> Iterator[str]:
        """Trace the plan of an action within; gives its ``traceparent``, or ''."""
        yield ""

    def close(self) -> None:
        """Send what waits."""


def _forget(operation: str, status: int) -> None:
    """Forget a request."""
