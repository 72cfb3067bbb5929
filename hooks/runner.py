"""Workflow runners: what executes a workflow and tells how it ended.

A runner is a plug-in behind ``start``, ``poll`` and ``cancel``. It keeps no state of its own: all
that it needs later goes into the token, which the engine stores before it polls.

    start(StartRequest) -> Started(token) | Finished(result)
    poll(token)         -> Running | Succeeded | Failed | Lost
    cancel(token)       -> Cancelled.DONE | ACCEPTED | UNSUPPORTED

What may hold secrets (inputs, outputs, tokens) stands in no ``repr``, so that it gets into no log.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class StackRef:
    """The stack on whose behalf a workflow runs."""

    id: str
    name: str
    project: str


@dataclass(frozen=True, slots=True)
class ResourceRef:
    """The resource on whose behalf a workflow runs."""

    id: str
    name: str
    type: str
    physical_id: str | None


@dataclass(frozen=True, slots=True)
class StartRequest:
    """One execution to be started.

    ``key`` is stored before the first send and unchanged by retries and restarts: a runner that
    is started twice with one key must give the same execution. ``deadline`` is an absolute time
    in seconds since the epoch. ``data`` are the merged outputs so far (None on CREATE), which
    also stand in ``params["env"]["heat_extresource_data"]``. ``started_at`` is when the operation
    began and ``attempt`` counts the sends from 1. ``answered`` says whether the runner has ever
    answered during this operation; ``memory`` is what its last ``Retry`` asked to be told again.
    """

    workflow: str
    action: str
    key: str
    deadline: float
    stack: StackRef
    resource: ResourceRef
    inputs: Mapping[str, Any] = field(repr=False)
    old_inputs: Mapping[str, Any] | None = field(default=None, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    description: str = ""
    data: Mapping[str, Any] | None = field(default=None, repr=False)
    create_key: str | None = None
    started_at: float = 0.0
    attempt: int = 1
    answered: bool = False
    memory: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The execution ended well. ``output`` is a JSON object; ``resource_id`` where it gave one."""

    output: dict[str, Any] | None = field(default=None, repr=False)
    resource_id: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The execution ended badly. A failed CREATE may own a ``resource_id``.

    ``heat_type`` is the exception that Heat raises, where it is not ``ResourceFailure``.
    ``by_runner``: it is not the workflow that failed, but whoever was to run it, or the way there.
    """

    reason: str
    output: dict[str, Any] | None = field(default=None, repr=False)
    resource_id: str | None = None
    retryable: bool = False
    heat_type: str = ""
    by_runner: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """The runner no longer knows the execution."""

    reason: str


@dataclass(frozen=True, slots=True)
class Running:
    """Not ended yet. ``token`` replaces the stored one where it is given."""

    poll_after: float | None = None
    message: str = ""
    progress: float | None = None
    token: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Started:
    """Accepted; poll with ``token`` (a JSON object of at most 1 kB)."""

    token: dict[str, Any] = field(repr=False)
    poll_after: float | None = None
    execution_id: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """Already ended when ``start`` returned."""

    result: Succeeded | Failed
    execution_id: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """Could not be started yet: send the same request again after ``delay`` seconds.

    ``message`` is shown as progress; ``answered`` is False while nothing ever answered. ``memory``
    (a small JSON object) comes back in the next ``StartRequest``.
    """

    delay: float
    message: str
    answered: bool
    memory: Mapping[str, Any] = field(default_factory=dict)


class Cancelled(StrEnum):
    """What became of a request to cancel."""

    DONE = "done"
    ACCEPTED = "accepted"
    UNSUPPORTED = "unsupported"


StartAnswer = Started | Finished | Retry
PollAnswer = Running | Succeeded | Failed | Lost


class WorkflowRunner(ABC):
    """Base class of runners. One instance serves many threads; it holds configuration only."""

    def check(self, workflow: str) -> None:
        """Raise ``ResourceFailure`` if ``workflow`` certainly does not exist (at validation)."""
        return None

    @abstractmethod
    def start(self, request: StartRequest) -> StartAnswer:
        """Start an execution, or find the one that was started with this key."""

    @abstractmethod
    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """How the execution is doing."""

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask for the execution to be ended."""
        return Cancelled.UNSUPPORTED

    def forget(self, token: Mapping[str, Any]) -> None:
        """Optional tidying-up once the result is stored."""
        return None

    def close(self) -> None:
        """Let go of connections; called when the engine stops."""
        return None
