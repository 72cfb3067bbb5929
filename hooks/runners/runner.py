"""Workflow runners: what executes a workflow and tells how it ended.

A runner is a plug-in behind ``start``, ``poll`` and ``cancel``. It keeps no state of its own: all
that it needs later goes into the token, which the engine stores before it polls.

    start(StartRequest) -> Started(token) | Finished(result)
    poll(token)         -> Running | Succeeded | Failed | Lost
    cancel(token)       -> Cancelled.DONE | ACCEPTED | UNSUPPORTED

Whoever only hands runners on gets them from ``runner_base``, without what they are asked.
"""

from __future__ import annotations

from .base import Cancelled, WorkflowRunner
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

__all__ = [
    "Cancelled",
    "Failed",
    "Finished",
    "Lost",
    "PollAnswer",
    "ResourceRef",
    "Retry",
    "Running",
    "StackRef",
    "StartAnswer",
    "StartRequest",
    "Started",
    "Succeeded",
    "WorkflowRunner",
]
