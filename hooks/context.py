"""The services of the engine that a resource gets for the time of one operation.

Protocols only. ``zonda.hooks.testing`` has an implementation for unit tests; the engine's own
lives in ``core/engine``.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Protocol

from .runners.base import WorkflowRunner
from .runners.references import StackRef

if TYPE_CHECKING:
    import random


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""


class Operation(Protocol):
    """The running operation: one action on one resource."""

    @property
    def id(self) -> str:
        """The ``op_id``: new for every operation, unchanged by crashes, retries, take-overs."""

    @property
    def action(self) -> str:
        """``CREATE``, ``UPDATE``, ``DELETE``, ``SUSPEND``, ``RESUME`` or ``CHECK``.

        ``CHECK`` for ``handle_check`` as well as for ``get_live_state``.
        """

    @property
    def started_at(self) -> float:
        """The time at which the operation began (seconds since the epoch)."""

    @property
    def deadline(self) -> float:
        """The time at which it will be given up (seconds since the epoch)."""

    @property
    def attempt(self) -> int:
        """1 for the first call of the handler, more after retries and restarts."""


class ResourceContext(Protocol):
    """The part of the engine that a resource may use."""

    @property
    def stack(self) -> StackRef:
        """The stack that the resource belongs to."""

    @property
    def operation(self) -> Operation | None:
        """The running operation; None during validation and attribute resolution."""

    @property
    def observation(self) -> MutableMapping[str, Any]:
        """A map (JSON) that ``get_live_state`` keeps between its calls within one check.

        In memory only: after a crash the check begins anew. Empty and not kept outside of a check.
        """

    @property
    def clock(self) -> Clock:
        """The clock."""

    @property
    def random(self) -> random.Random:
        """The source of randomness: the system's in the engine, seeded in tests."""

    @property
    def stack_timeout(self) -> float:
        """The stack's timeout in seconds (3600 by default)."""

    @property
    def max_resources(self) -> int:
        """The most resources that one stack may have, the nested stack of a group as well."""

    @property
    def region(self) -> str:
        """The name of the region that this zonda is; '' where it has none."""

    @property
    def root_stack(self) -> str:
        """The name of the stack at the top of the tree: that of ``stack``, if it is not nested."""

    @property
    def is_shared(self) -> bool:
        """Whether a server tells projects apart: what its own process may use is no project's."""

    def save_resource_id(self, value: str | None) -> None:
        """Store the physical id; returns when durable. Raises ResourceFailure during a drift check,
        as everything that stores or signals does then.
        """

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        """Store (or, with None, remove) one entry of the resource's data; returns when durable."""

    def save_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Store the resource's metadata; returns when durable."""

    def progress(self, message: str) -> None:
        """Show what the operation waits for; nothing is stored."""

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner that executes ``workflow`` and the name it knows it by.

        An absolute http(s) URL goes to the ``http`` runner, ``NAME:workflow`` to a configured
        runner of that name, a bare name to the default runner. Raises UsageError where none fits.
        """

    @property
    def assigned_workflow(self) -> str | None:
        """The workflow that the environment names for this resource (``zonda: runners``), or None.

        For ``runner``. What it is for is the type's own affair; most have no use for one.
        """

    def client(self, name: str) -> Any:
        """The client object of a client plug-in; raises PluginError where none is installed."""

    def client_plugin(self, name: str) -> Any:
        """The client plug-in itself (``ignore_not_found`` and the like)."""

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``, in bounded time."""

    def constraint(self, name: str) -> Any:
        """The custom constraint of that name, or None."""

    def secret(self, reference: str) -> str:
        """The secret that ``env:NAME`` or ``file:PATH`` names, as it is now; raises UsageError.

        For what is about to be sent: it must not be stored, nor said.
        """

    def check_secret(self, reference: str) -> None:
        """Raise UsageError unless the secret may be named here; for ``validate``.

        Whether it is there is not asked: another process may be the one that has it.
        """

    def hidden_properties(self) -> frozenset[str]:
        """The properties of the resource that are never shown: hidden by their type, or anything
        in them is, or their template makes them of something hidden. All of it: not what is inside.
        """

    def find_resource(self, reference: str) -> Any:
        """The resource of this project with the id (``uuid``) ``reference``, in any stack, or None.

        A signal URL will do instead of the id.
        As it is stored now, with everything that it keeps: for reading only. For types whose
        property names another resource, which gives its ``uuid`` as its reference for that. What it
        hides is kept out of the reasons of the one that asks. None while a template is checked.
        """

    def required_resources(self) -> Mapping[str, Any]:
        """The resources that this one requires, by name, as they are now: for reading only.

        For plug-ins that were written for Heat, which ask their stack for another resource; best
        take what you need as properties. Empty while a template is checked.
        """

    def child(self) -> Any:
        """The nested stack of the resource (``nested.Child``) as it is now; None without one."""

    def signal_url(self, purpose: str = "signal") -> str | None:
        """The URL that signals this resource: ``PUBLIC_URL/signal/v1/TOKEN``, for POST and PUT.

        None where no server runs (``zonda serve``) and while a template is checked. Whoever has it
        may signal: an attribute that gives it must be ``hidden``. The token alone stands in for a
        Keystone token (``X-Auth-Token``) where Heat's API takes a signal to this resource.
        ``purpose``: ``signal``; ``scale`` where the body of a signal does not matter, so that
        anything may be sent; ``metadata`` for the same address by GET, which gives what a server
        with the resource's physical id has to apply, and takes no signal.
        """

    def signal(self, reference: str, details: Mapping[str, Any], missing: str = "") -> None:
        """Hand a signal on to the resource with that reference, in the same tree of stacks.

        It is delivered once the running signal has been; where there is none, that one has failed:
        ``missing`` says it in the type's own words.
        """

    def referenced_attributes(self) -> frozenset[str | None]:
        """The attributes of the resource that its template reads; None among them: all."""

    def referenced_paths(self) -> frozenset[tuple[Any, ...]]:
        """The referenced attributes with the path behind them: (attribute, key, index, ...).

        As far as it is written there as text and numbers; what comes behind a function is left out.
        """
