"""Fakes of the engine's services for a resource. Plug-in authors import them from ``testing``.

Nothing here sleeps, calls out or asks the real time: a test moves the clock itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import PluginError, ReadOnlyCheck, ResourceFailure, UsageError
from ..records import dataclass, field
from ..runners import (
    Cancelled,
    Finished,
    PollAnswer,
    Retry,
    StackRef,
    StartAnswer,
    Started,
    StartRequest,
    WorkflowRunner,
)
from ..schema.constraints import BaseCustomConstraint, full_match


class FakeClock:
    """A clock that stands still until ``advance`` moves it."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        """``now``: seconds since the epoch at the start."""
        self._now = now
        self._passed = 0.0

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._passed

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        if seconds < 0:
            raise ValueError(f"A clock cannot go back by {-seconds} s")
        self._now += seconds
        self._passed += seconds

    def jump(self, seconds: float) -> None:
        """Set the time of day, forward or back, as a user does or a sleep: nothing has passed."""
        self._now += seconds


@dataclass(frozen=True, slots=True)
class FakeOperation:
    """One running operation; ``deadline`` and ``started_at`` in seconds since the epoch."""

    id: str
    action: str
    started_at: float
    deadline: float
    attempt: int = 1


@dataclass(slots=True)
class Saved:
    """The stored data of one resource. ``redacted``: keys of ``data`` that are never shown."""

    resource_id: str | None = None
    data: dict[str, str] = field(default_factory=dict, repr=False)
    redacted: set[str] = field(default_factory=set)
    metadata: dict[str, Any] = field(default_factory=dict)


def _do_nothing() -> None:
    """Do nothing."""


class FakeContext:
    """A ``ResourceContext`` that keeps everything in memory, to be looked at afterwards.

    ``saved`` is what was stored, ``messages`` what was shown as progress. ``runners`` go by the
    name in front of the colon of a workflow reference; ``default`` takes bare names, ``http``
    takes URLs. ``clients`` are client plug-ins: objects with ``client()`` and
    ``ignore_not_found(error)``. ``after_save`` is called whenever something was stored.
    """

    def __init__(
        self,
        *,
        clock: FakeClock | None = None,
        stack: StackRef | None = None,
        seed: int = 0,
        stack_timeout: float = 3600.0,
        runners: Mapping[str, WorkflowRunner] | None = None,
        clients: Mapping[str, Any] | None = None,
        constraints: Mapping[str, type[BaseCustomConstraint]] | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.stack = stack or StackRef(
            "8d0aa8a4-8d3f-7c4e-9a55-5d3c1c6f3b10", "teststack", "testproject"
        )
        self.random = random.Random(seed)
        self.stack_timeout = stack_timeout
        #: The most resources of one stack.
        self.max_resources = 10_000
        self.region = ""
        self.root_stack = self.stack.name
        self.is_shared = False
        #: The beginning of ``signal_url``; '' stands for no server, and gives None.
        self.public_url = ""
        self.operation: FakeOperation | None = None
        #: The data that ``get_live_state`` keeps between its calls.
        self.observation: dict[str, Any] = {}
        #: Whether this is a drift check, which stores nothing.
        self.is_read_only = False
        self.saved = Saved()
        self.messages: list[str] = []
        #: The answers of ``required`` by name, and of ``find`` by id. Empty; a test fills them.
        self.others: dict[str, Any] = {}
        #: The value of the environment for the resource, or None.
        self.assigned_workflow: str | None = None
        #: The answers of ``child`` and ``referenced_attributes``; the arguments of ``signal``.
        self.nested: Any = None
        self.reads: frozenset[str | None] = frozenset()
        #: The answer of ``referenced_paths``; (name,) of each of ``reads`` where it is left empty.
        self.paths: frozenset[tuple[Any, ...]] = frozenset()
        self.signals: list[tuple[str, dict[str, Any]]] = []
        #: The answers of ``secret``, by reference.
        self.secrets: dict[str, str] = {}
        #: Secrets that may not be named.
        self.refused: set[str] = set()
        #: The answer of ``hidden_properties``.
        self.hidden: frozenset[str] = frozenset()
        self.after_save: Callable[[], None] = _do_nothing
        self._runners = dict(runners or {})
        self._clients = dict(clients or {})
        self._constraints = dict(constraints or {})

    def save_resource_id(self, value: str | None) -> None:
        """Keep the physical id; raises ResourceFailure during a drift check."""
        self._check_writable("resource_id_set")
        self.saved.resource_id = value
        self.after_save()

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        """Keep (or, with None, remove) one entry; raises ResourceFailure during a drift check."""
        self._check_writable("data_set" if value is not None else "data_delete")
        self.saved.redacted.discard(key)
        if value is None:
            self.saved.data.pop(key, None)
        else:
            self.saved.data[key] = value
            if redact:
                self.saved.redacted.add(key)
        self.after_save()

    def save_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Keep the metadata; raises ResourceFailure during a drift check."""
        self._check_writable("metadata_set")
        self.saved.metadata = dict(metadata)
        self.after_save()

    def progress(self, message: str) -> None:
        """Note the message."""
        self.messages.append(message)

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for ``workflow`` and the name it knows it by; raises UsageError."""
        name, known_as = "default", workflow
        if workflow.startswith(("http://", "https://")):
            name = "http"
        elif ":" in workflow:
            name, known_as = workflow.split(":", 1)
        if name not in self._runners:
            raise UsageError(f"No runner {name} for the workflow {workflow}")
        return self._runners[name], known_as

    def client(self, name: str) -> Any:
        """The client object of a client plug-in; raises PluginError."""
        return self.client_plugin(name).client()

    def client_plugin(self, name: str) -> Any:
        """The client plug-in; raises PluginError."""
        if name not in self._clients:
            raise PluginError(f"No client plug-in {name} is installed", plugin=name)
        return self._clients[name]

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``."""
        return full_match(pattern, text)

    def constraint(self, name: str) -> type[BaseCustomConstraint] | None:
        """The custom constraint of that name, or None."""
        return self._constraints.get(name)

    def secret(self, reference: str) -> str:
        """The value of ``secrets`` for the reference; raises UsageError."""
        if reference not in self.secrets:
            raise UsageError(f"The secret {reference} is not there")
        return self.secrets[reference]

    def check_secret(self, reference: str) -> None:
        """Raise UsageError for a reference in ``refused``."""
        if reference in self.refused:
            raise UsageError(f"The secret {reference} may not be read here")

    def hidden_properties(self) -> frozenset[str]:
        """The properties that the template hides."""
        return self.hidden

    def find_resource(self, reference: str) -> Any:
        """The resource in ``others`` that has this id."""
        return next((one for one in self.others.values() if one.uuid == reference), None)

    def required_resources(self) -> Mapping[str, Any]:
        """The resources that ``others`` names."""
        return self.others

    def child(self) -> Any:
        """The nested stack."""
        return self.nested

    def signal_url(self, purpose: str = "signal") -> str | None:
        """The URL that signals the resource, with ``token-PURPOSE`` for a token."""
        return f"{self.public_url}/signal/v1/token-{purpose}" if self.public_url else None

    def signal(self, reference: str, details: Mapping[str, Any], missing: str = "") -> None:
        """Note the signal; raises ResourceFailure during a drift check."""
        self._check_writable("signal")
        self.signals.append((reference, dict(details)))

    def _check_writable(self, what: str) -> None:
        if self.is_read_only:
            raise ReadOnlyCheck(what)

    def referenced_attributes(self) -> frozenset[str | None]:
        """The attributes that the template reads."""
        return self.reads

    def referenced_paths(self) -> frozenset[tuple[Any, ...]]:
        """The attributes that the template reads, with the paths behind them."""
        return self.paths or frozenset((name,) for name in self.reads)


class FakeRunner(WorkflowRunner):
    """A runner that answers by a script: workflow name -> answers in turn, the last one repeated.

    ``Finished`` and ``Retry`` are answers to ``start``; every other answer is one to ``poll``. A
    second start with the same key gives the same execution. ``requests`` are the starts that made
    an execution, ``polls`` and ``cancelled`` the execution ids asked about.
    """

    def __init__(self, script: Mapping[str, Sequence[PollAnswer | Finished | Retry]]) -> None:
        self._script = {name: list(answers) for name, answers in script.items()}
        self._by_key: dict[str, Started | Finished] = {}
        self.requests: list[StartRequest] = []
        self.polls: list[str] = []
        self.cancelled: list[str] = []

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a workflow without a script."""
        if workflow not in self._script:
            raise ResourceFailure(f"There is no workflow {workflow}")

    def start(self, request: StartRequest) -> StartAnswer:
        """Start an execution, or find the one of this key."""
        self.check(request.workflow)
        if request.key in self._by_key:
            return self._by_key[request.key]
        first = self._script[request.workflow][0]
        if isinstance(first, Retry):
            self._get_next_answer(request.workflow)
            return first
        self.requests.append(request)
        execution = f"exec-{len(self.requests)}"
        answer: Started | Finished
        if isinstance(first, Finished):
            self._get_next_answer(request.workflow)
            answer = first
        else:
            token = {"execution": execution, "workflow": request.workflow}
            answer = Started(token, execution_id=execution)
        self._by_key[request.key] = answer
        return answer

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """The next answer of the script."""
        self.polls.append(token["execution"])
        answer = self._get_next_answer(token["workflow"])
        if isinstance(answer, Finished | Retry):
            raise ResourceFailure(f"The script gives {answer} for a poll")
        return answer

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Note that the execution was to be ended."""
        self.cancelled.append(token["execution"])
        return Cancelled.DONE

    def _get_next_answer(self, workflow: str) -> PollAnswer | Finished | Retry:
        answers = self._script[workflow]
        return answers.pop(0) if len(answers) > 1 else answers[0]
