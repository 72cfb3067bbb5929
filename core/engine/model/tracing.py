"""The tracing of an engine: who hears of calls, and the traces of the requests behind stacks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from zonda.core.store.schema.rows import ResourceRow


class CallTracer(Protocol):
    """The receiver of calls. Used in the pool, by many threads. It gets no values."""

    def trace_call(self, row: ResourceRow, during: str, parent: str) -> AbstractContextManager[str]:
        """Trace a plug-in call within; gives its ``traceparent``. ``parent``: of the request."""


@dataclass(slots=True)
class Tracing:
    """The tracer, None without one; ``parents``: ``traceparent`` by the stack at the top."""

    tracer: CallTracer | None = None
    parents: dict[str, str] = field(default_factory=dict)
