"""The requests to runners, and their answers.

What may hold secrets (inputs, outputs, tokens) stands in no ``repr``, so that it gets into no log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..records import dataclass, field
from .references import StackRef


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
    (a small JSON object) comes back in the next ``StartRequest``. ``queued``: nothing was sent, the
    run waits for its turn in a queue of the runner, which rings ``get_waker()``; the same
    request comes again, and ``memory`` is not kept. ``accepted``: the run was accepted and goes on,
    the same request only asks how it is doing.
    """

    delay: float
    message: str
    answered: bool
    memory: Mapping[str, Any] = field(default_factory=dict)
    queued: bool = False
    accepted: bool = False


StartAnswer = Started | Finished | Retry
PollAnswer = Running | Succeeded | Failed | Lost
