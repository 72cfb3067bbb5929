"""The services of the engine for one resource: the ``ResourceContext`` of the hooks.

Made for every plug-in call. Writes go to the engine thread and return when they are committed;
they are dropped once the operation is no longer the resource's. Those of a type that does nothing
outside are gathered instead, and committed with the answer of the call.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from zonda.core.template.source.bundle import Limits
from zonda.hooks.context import Clock
from zonda.hooks.errors import NotSupported, ReadOnlyCheck
from zonda.hooks.runners.base import WorkflowRunner
from zonda.hooks.runners.references import StackRef
from zonda.hooks.text.sanitize import safe_str, truncate_middle

from ..model.lending import Lending, LentOperation, Onward, Write
from ..model.unit_of_work import UnitOfWork


def _return_none() -> None:
    return None


class EngineContext:
    """The context of one resource, for one operation or, without one, for reading."""

    def __init__(
        self,
        lending: Lending,
        stack: StackRef,
        stack_timeout: float,
        resource_id: str,
        resource_name: str,
        operation: LentOperation | None = None,
        gathered: list[Write] | None = None,
        scrubbed: Callable[[str], str] | None = None,
        around: Callable[[], Mapping[str, Any]] = dict,
        below: Callable[[], Any] = _return_none,
        read: Callable[[], frozenset[str | None]] = frozenset,
        onward: list[Onward] | None = None,
        paths: Callable[[], frozenset[tuple[Any, ...]]] = frozenset,
        elsewhere: Callable[[str], Any] = lambda reference: None,
        assigned: Callable[[], str | None] = lambda: None,
        most: Callable[[], int] = lambda: Limits().max_resources_per_stack,
        observation: MutableMapping[str, Any] | None = None,
        lent: MutableMapping[str, str] | None = None,
        hidden: Callable[[], frozenset[str]] = frozenset,
        fence: int = 0,
        metadata: str = "{}",
    ) -> None:
        """``fence``: that of the operation; ``metadata``: as the resource has read it.

        ``observation``: what a drift check keeps; with it, nothing is stored.

        ``lent``: takes the named secrets that were asked for, which nothing may show.
        """
        self._lending = lending
        self._resource_id = resource_id
        self._resource_name = resource_name
        self.stack = stack
        self.stack_timeout = stack_timeout
        self.operation = operation
        self._gathered = gathered
        self._scrubbed = scrubbed
        self._around = around
        self._below = below
        self._read = read
        self._onward = onward
        self._paths = paths
        self._elsewhere = elsewhere
        self._assigned = assigned
        self._most = most
        self._hidden = hidden
        self._fence = fence
        self._metadata = metadata
        self._lent = {} if lent is None else lent
        self._is_read_only = observation is not None
        self.observation: MutableMapping[str, Any] = {} if observation is None else observation

    @property
    def clock(self) -> Clock:
        """The clock."""
        return self._lending.clock

    @property
    def random(self) -> random.Random:
        """The source of randomness."""
        return self._lending.random

    @property
    def max_resources(self) -> int:
        """The number of resources that one stack may have."""
        return self._most()

    def save_resource_id(self, value: str | None) -> None:
        """Store the physical id."""
        self._check_writable("resource_id_set")

        def save(work: UnitOfWork) -> None:
            row = self._find_row(work)
            if row is not None:
                row.physical_id = value

        self._store(save)

    def save_data(self, key: str, value: str | None, redact: bool) -> None:
        """Store or remove one entry of the data; it is always sealed."""
        self._check_writable("data_delete" if value is None else "data_set")
        sealed = None if value is None else self._lending.sealer.seal(value)

        def save(work: UnitOfWork) -> None:
            if self._find_leased(work) is None:
                return
            if sealed is None:
                work.tx.drop_data(self._resource_id, key)
            else:
                work.tx.put_data(self._resource_id, key, sealed, redact)

        self._store(save)

    def save_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Store the changed part of the metadata: others may store the rest."""
        self._check_writable("metadata_set")
        sealer = self._lending.sealer
        before = sealer.load(self._metadata)
        self._metadata = json.dumps(dict(metadata))
        changed = {
            key: value
            for key, value in metadata.items()
            if key not in before or json.dumps(before[key]) != json.dumps(value)
        }

        def save(work: UnitOfWork) -> None:
            row = self._find_leased(work)
            if row is not None:
                known = sealer.load(row.meta)
                kept = {key: known[key] for key in known if key in metadata or key not in before}
                sealed = sealer.is_sealed(row.meta)
                row.meta = sealer.dump({**kept, **changed}, sealed=sealed)

        self._store(save)

    def _store(self, save: Write) -> None:
        if self._gathered is None:
            self._lending.durable(save)
        else:
            self._gathered.append(save)

    def progress(self, message: str) -> None:
        """Show the progress of the operation, without secrets; nothing where it only reads."""
        if self._scrubbed is None:
            return
        since = None if self.operation is None else self.operation.started_at
        text = truncate_middle(self._scrubbed(safe_str(message)))
        self._lending.progress(self.stack.id, self._resource_name, text, since)

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow."""
        return self._lending.lender.runner(workflow)

    @property
    def assigned_workflow(self) -> str | None:
        """The workflow that the environment names for the resource."""
        return self._assigned()

    def client(self, name: str) -> Any:
        """A client object."""
        return self._lending.lender.client(name)

    def client_plugin(self, name: str) -> Any:
        """A client plug-in."""
        return self._lending.lender.client_plugin(name)

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``."""
        return self._lending.lender.full_match(pattern, text)

    def constraint(self, name: str) -> Any:
        """A custom constraint, or None."""
        return self._lending.lender.constraint(name)

    def secret(self, reference: str) -> str:
        """The secret behind a reference."""
        found = self._lent[reference] = self._lending.lender.secret(reference)
        return found

    def check_secret(self, reference: str) -> None:
        """Raise UsageError unless the secret may be named."""
        self._lending.lender.check_secret(reference)

    def hidden_properties(self) -> frozenset[str]:
        """The properties that are never shown."""
        return self._hidden()

    def find_resource(self, reference: str) -> Any:
        """A resource of this project by its id, for reading, or None."""
        return self._elsewhere(reference)

    def required_resources(self) -> Mapping[str, Any]:
        """The resources that this one requires, for reading."""
        return self._around()

    def child(self) -> Any:
        """The nested stack as it is now, or None."""
        return self._below()

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Within, the nested stack is read once: all that is asked of it is of one moment."""
        before, self._below = self._below, cache(self._below)
        try:
            yield
        finally:
            self._below = before

    def referenced_attributes(self) -> frozenset[str | None]:
        """The attributes of the resource that the template reads."""
        return self._read()

    def referenced_paths(self) -> frozenset[tuple[Any, ...]]:
        """The same with what follows the attributes."""
        return self._paths()

    def signal(self, reference: str, details: Mapping[str, Any], missing: str = "") -> None:
        """Have a signal delivered once the running one has been."""
        self._check_writable("signal")
        if self._onward is None:
            raise NotSupported("Only a signal can be handed on to another resource.")
        self._onward.append((reference, dict(details), missing))

    def _check_writable(self, what: str) -> None:
        if self._is_read_only:
            raise ReadOnlyCheck(what)

    def _find_leased(self, work: UnitOfWork) -> Any:
        """The row, unless another operation was begun since, or this one was taken over."""
        row = self._find_row(work)
        taken_over = row is not None and self.operation is not None and row.fence != self._fence
        return None if taken_over else row

    def _find_row(self, work: UnitOfWork) -> Any:
        """The row, unless another operation was begun since.

        What an operation has made outside is there, whoever has taken it over: without its id
        nobody would ever remove it.
        """
        row = work.tx.resource(self._resource_id)
        if row is None or (self.operation is not None and row.op_id != self.operation.id):
            return None
        return row
