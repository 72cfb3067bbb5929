"""The API of workflow runners, which execute workflows and report their results.

A runner is a plug-in behind ``start``, ``poll`` and ``cancel``. It keeps no state of its own: all
that it needs later goes into the token, which the engine stores before it polls.

    start(StartRequest) -> Started(token) | Finished(result)
    poll(token)         -> Running | Succeeded | Failed | Lost
    cancel(token)       -> Cancelled.DONE | ACCEPTED | UNSUPPORTED

``http_contract`` has the body of a request, ``RetryPolicy`` the delays between sends.
Imports ``text`` and ``errors``; each name at its first use, since most commands run no workflow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Cancelled, RunnerFactory, WorkflowRunner
    from .deadline import get_deadline
    from .messages import (
        Failed,
        Finished,
        Lost,
        PollAnswer,
        ResourceRef,
        Retry,
        Running,
        StartAnswer,
        Started,
        StartRequest,
        Succeeded,
    )
    from .references import StackRef
    from .retry_policy import RetryPolicy
    from .trace_context import get_traceparent
    from .waking import Waker, get_waker
    from .wrong_answers import check_answer

#: The modules of those names that are not in ``messages``.
_MODULES = {
    "Cancelled": "base",
    "RetryPolicy": "retry_policy",
    "RunnerFactory": "base",
    "StackRef": "references",
    "Waker": "waking",
    "WorkflowRunner": "base",
    "check_answer": "wrong_answers",
    "get_deadline": "deadline",
    "get_traceparent": "trace_context",
    "get_waker": "waking",
}

__all__ = [
    "Cancelled",
    "Failed",
    "Finished",
    "Lost",
    "PollAnswer",
    "ResourceRef",
    "Retry",
    "RetryPolicy",
    "RunnerFactory",
    "Running",
    "StackRef",
    "StartAnswer",
    "StartRequest",
    "Started",
    "Succeeded",
    "Waker",
    "WorkflowRunner",
    "check_answer",
    "get_deadline",
    "get_traceparent",
    "get_waker",
]


def __getattr__(name: str) -> Any:
    """Import what carries ``name``, at its first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_MODULES.get(name, 'messages')}", __name__)
    value = globals()[name] = getattr(module, name)
    return value
