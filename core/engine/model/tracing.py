"""The tracing of an engine: who hears of calls, and the requests behind running plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from zonda.core.store.read.views import ActionView
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.records import asdict, dataclass, field


class CallTracer(Protocol):
    """The receiver of calls. Used in the pool, by many threads. It gets no values."""

    def trace_call(self, row: ResourceRow, during: str, parent: str) -> AbstractContextManager[str]:
        """Trace a plug-in call within; gives its ``traceparent``. ``parent``: of the request."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The request behind a plan: its id, and its ``traceparent`` if it is traced; '' without one.

    Kept in the detail of the action, so that it is known after a restart.
    """

    request: str = ""
    traceparent: str = ""

    @classmethod
    def read(cls, detail: Mapping[str, Any]) -> PlanRequest:
        """The request in the detail of an action."""
        return cls(detail.get("request", ""), detail.get("traceparent", ""))

    def write(self, detail: Mapping[str, Any]) -> dict[str, Any]:
        """The detail of an action with this request, and no other one."""
        kept = {name: value for name, value in detail.items() if name not in _NAMES}
        return kept | {name: value for name, value in asdict(self).items() if value}


_NAMES = frozenset(asdict(PlanRequest()))


@dataclass(slots=True)
class Tracing:
    """The tracer, None without one, and the requests behind the plans that are carried out.

    ``requests``: by the stack at the top, as plans begin. ``read``: the last action of a stack.
    """

    read: Callable[[str], ActionView | None]
    tracer: CallTracer | None = None
    requests: dict[str, PlanRequest] = field(default_factory=dict)

    def find_request(self, stack: StackRow) -> PlanRequest:
        """The request behind what is carried out in the tree of ``stack``.

        It is read once where the plan was begun by an engine that has ended.
        """
        known = self.requests.get(stack.root)
        return self.requests.setdefault(stack.root, self._read(stack)) if known is None else known

    def _read(self, stack: StackRow) -> PlanRequest:
        for key in dict.fromkeys((stack.id, stack.root)):
            last = self.read(key)
            if last is not None and last.ended_at is None and last.detail.get("request"):
                return PlanRequest.read(last.detail)
        return PlanRequest()
