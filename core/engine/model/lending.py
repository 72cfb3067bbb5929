"""The services that the engine gives to plug-ins, and the context that has nothing else.

The application implements ``Lender``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, Protocol

from zonda.core.store.values.sealing import Sealer
from zonda.hooks.context import Clock
from zonda.hooks.errors import NotSupported
from zonda.hooks.records import dataclass
from zonda.hooks.runners.base import WorkflowRunner
from zonda.hooks.runners.references import StackRef

from .tracing import Tracing
from .unit_of_work import UnitOfWork

#: A write of a plug-in, to be run in a transaction.
Write = Callable[[UnitOfWork], None]


#: A signal that is handed on: to which reference, with which details.
Onward = tuple[str, Mapping[str, Any], str]


class Lender(Protocol):
    """The services of the application: runners, clients, patterns, constraints."""

    @property
    def setup(self) -> str:
        """A text that changes with the settings on which the services depend. May hold secrets."""

    @property
    def region(self) -> str:
        """The name of the region that this zonda is, or ''."""

    @property
    def is_shared(self) -> bool:
        """Whether a server tells projects apart."""

    @property
    def public_url(self) -> str:
        """The URL under which the service is reached, without a slash at its end; '': nowhere."""

    @property
    def signal_url_days(self) -> float:
        """Days until a signal URL expires; 0: never."""

    @property
    def lenient(self) -> Lender:
        """The same services for what is simulated: workflows are not looked for."""

    def runner(self, workflow: str, project: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow of a project's stack, and the name it knows it by."""

    def client(self, name: str) -> Any:
        """A client object."""

    def client_plugin(self, name: str) -> Any:
        """A client plug-in."""

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``, in bounded time."""

    def constraint(self, name: str) -> Any:
        """A custom constraint, or None."""

    def secret(self, reference: str, project: str) -> str:
        """The secret behind ``env:NAME`` or ``file:PATH``; raises UsageError."""

    def check_secret(self, reference: str, project: str) -> None:
        """Raise UsageError unless stacks of the project may name the secret."""


@dataclass(frozen=True, slots=True)
class LentOperation:
    """The running operation, as a plug-in sees it."""

    id: str
    action: str
    started_at: float
    deadline: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Lending:
    """The services that every context of an engine shares."""

    lender: Lender
    clock: Clock
    random: random.Random
    sealer: Sealer
    durable: Callable[[Callable[[UnitOfWork], Any]], Any]
    progress: Callable[[str, str, str, float | None], None]
    tracing: Tracing
    #: Called, in any thread, to have the resource of that id go on at once instead of waiting.
    wake: Callable[[str], None] = lambda key: None
    #: Gives the load of the threads that make calls, see ``Waker``.
    load: Callable[[], float] = lambda: 0.0
    #: Called with each runner that a resource uses; raises NotReady while it is not its turn.
    wait_turn: Callable[[WorkflowRunner], None] = lambda runner: None


class BareContext:
    """The context of a resource whose template is checked: nothing exists, nothing is stored."""

    operation: LentOperation | None = None
    stack_timeout = 3600.0
    _root_stack = ""

    def __init__(
        self,
        lender: Lender,
        clock: Clock,
        source: random.Random,
        stack: StackRef,
        max_resources: int,
        read: frozenset[str | None] = frozenset(),
        paths: frozenset[tuple[Any, ...]] = frozenset(),
        root_stack: str = "",
    ) -> None:
        """``read``, ``paths``: the attributes of the resource that the template reads."""
        self._root_stack = root_stack
        self._lender = lender
        self.clock = clock
        self.random = source
        self.stack = stack
        self._max_resources = max_resources
        self._read = read
        self._paths = paths
        self.observation: MutableMapping[str, Any] = {}

    @property
    def max_resources(self) -> int:
        """The number of resources that one stack may have."""
        return self._max_resources

    @property
    def region(self) -> str:
        """The name of this region, or ''."""
        return self._lender.region

    @property
    def root_stack(self) -> str:
        """The name of the stack at the top of the tree."""
        return self._root_stack or self.stack.name

    @property
    def is_shared(self) -> bool:
        """Whether a server tells projects apart."""
        return self._lender.is_shared

    @property
    def assigned_workflow(self) -> str | None:
        """The workflow that the environment names for the resource."""
        return None

    def save_resource_id(self, value: str | None) -> None:
        """Store the physical id."""
        raise _build_refusal()

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        """Store or remove one entry of the data."""
        raise _build_refusal()

    def save_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Store the metadata."""
        raise _build_refusal()

    def signal(self, reference: str, details: Mapping[str, Any], missing: str = "") -> None:
        """Have a signal delivered once the running one has been."""
        raise _build_refusal()

    def signal_url(self, purpose: str = "signal") -> str | None:
        """None: what does not exist cannot be signalled."""
        return None

    def progress(self, message: str) -> None:
        """Show the progress of the operation."""

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow."""
        return self._lender.runner(workflow, self.stack.project)

    def client(self, name: str) -> Any:
        """A client object."""
        return self._lender.client(name)

    def client_plugin(self, name: str) -> Any:
        """A client plug-in."""
        return self._lender.client_plugin(name)

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``."""
        return self._lender.full_match(pattern, text)

    def constraint(self, name: str) -> Any:
        """A custom constraint, or None."""
        return self._lender.constraint(name)

    def secret(self, reference: str) -> str:
        """The secret behind a reference: here nothing is sent."""
        raise _build_refusal()

    def check_secret(self, reference: str) -> None:
        """Raise UsageError unless the secret may be named."""
        self._lender.check_secret(reference, self.stack.project)

    def hidden_properties(self) -> frozenset[str]:
        """The properties that are never shown."""
        return frozenset()

    def find_resource(self, reference: str) -> Any:
        """A resource of this project by its id, for reading, or None."""
        return None

    def required_resources(self) -> Mapping[str, Any]:
        """The resources that this one requires, for reading."""
        return {}

    def child(self) -> Any:
        """The nested stack as it is now, or None."""
        return None

    def referenced_attributes(self) -> frozenset[str | None]:
        """The attributes of the resource that the template reads."""
        return self._read

    def referenced_paths(self) -> frozenset[tuple[Any, ...]]:
        """The same with what follows the attributes."""
        return self._paths


def _build_refusal() -> NotSupported:
    return NotSupported("A resource cannot store anything while its template is checked.")
