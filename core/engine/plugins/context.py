"""The services of the engine for one resource: the ``ResourceContext`` of the hooks.

Made for every plug-in call. Writes go to the engine thread and return when they are committed;
they are dropped once the operation is no longer the resource's. Those of a type that does nothing
outside are gathered instead, and committed with the answer of the call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Protocol

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.environment import policies
from zonda.hooks.errors import NotSupported, ReadOnlyCheck
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners.base import WorkflowRunner
from zonda.hooks.runners.references import StackRef
from zonda.hooks.text.sanitize import safe_str, truncate_middle

from ..model.definition import Definition
from ..model.lending import BareContext, Lending, LentOperation, Write
from ..model.states import MAKING, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..model.work_item import WorkItem
from ..templates.definitions import Definitions
from .reasons import OPEN, Secrets

_DAY = 86_400


class Source(Protocol):
    """The instances of an engine, as a context needs them (``instances.Instances``)."""

    lending: Lending
    definitions: Definitions

    def make_for_reading(self, seen: WorkItem) -> Resource:
        """An instance whose writes are not stored."""

    def child(self, row: ResourceRow) -> Any:
        """The nested stack of an instance, if it has one."""


class EngineContext(BareContext):
    """The context of one stored resource, for one operation or, without one, for reading.

    A drift check stores nothing, and keeps its observation.
    """

    def __init__(
        self,
        source: Source,
        seen: WorkItem,
        operation: LentOperation | None,
        gathered: list[Write] | None,
        scrubbed: Callable[[str], str] | None,
    ) -> None:
        lending, stack = source.lending, seen.stack
        place = StackRef(stack.id, stack.name, stack.project)
        super().__init__(lending.lender, lending.clock, lending.random, place, 0)
        self._source = source
        self._seen = seen
        self._row = seen.row
        self._lending = lending
        self._gathered = gathered
        self._scrubbed = scrubbed
        #: As the resource has read it.
        self._metadata = seen.row.meta
        self._fence = seen.row.fence
        self._find_child: Callable[[], Any] = lambda: seen.nested or source.child(seen.row)
        self.stack_timeout = stack.timeout_mins * 60.0
        self.operation = operation
        if seen.observation is not None:
            self.operation = seen.observation.operation
            self.observation = seen.observation.kept

    @property
    def _definition(self) -> Definition:
        """The template of the operation of an instance, or of its present state."""
        row, seen = self._row, self._seen
        if seen.definition is not None:
            return seen.definition
        making = row.op_template_id if row.op in MAKING else None
        template_id = making or (row.have_template_id if row.op else row.want_template_id)
        template_id = template_id or row.op_template_id or row.have_template_id
        assert template_id is not None
        return self._source.definitions.get(template_id)

    @property
    def root_stack(self) -> str:
        """The name of the stack at the top of the tree."""
        return self._definition.root_stack

    @property
    def max_resources(self) -> int:
        """The number of resources that one stack may have."""
        most: int = self._definition.family.load_context.limits.max_resources_per_stack
        return most

    @property
    def assigned_workflow(self) -> str | None:
        """The workflow that the environment names for the resource."""
        known = policies.parse_policies(self._seen.stack.policies)
        return known.workflow(self._row.name, self._row.type)

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
                work.tx.drop_data(self._row.id, key)
            else:
                work.tx.put_data(self._row.id, key, sealed, redact)

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

    def signal(self, reference: str, details: Mapping[str, Any], missing: str = "") -> None:
        """Have a signal delivered once the running one has been."""
        self._check_writable("signal")
        if self._seen.onward is None:
            raise NotSupported("Only a signal can be handed on to another resource.")
        self._seen.onward.append((reference, dict(details), missing))

    def progress(self, message: str) -> None:
        """Show the progress of the operation, without secrets; nothing where it only reads."""
        if self._scrubbed is None:
            return
        since = None if self.operation is None else self.operation.started_at
        text = truncate_middle(self._scrubbed(safe_str(message)))
        self._lending.progress(self.stack.id, self._row.name, text, since)

    def runner(self, workflow: str) -> tuple[WorkflowRunner, str]:
        """The runner for a workflow."""
        found = super().runner(workflow)
        if "@" in workflow:
            from zonda.hooks.http import list_url_secrets  # few workflows are such a URL

            self._seen.lent.update((each, each) for each in list_url_secrets(found[1]))
        self._lending.wait_turn(found[0])
        return found

    def secret(self, reference: str) -> str:
        """The secret behind a reference; nothing may show it."""
        found = self._lender.secret(reference, self.stack.project)
        self._seen.lent[reference] = found
        return found

    def hidden_properties(self) -> frozenset[str]:
        """The properties that are never shown."""
        name, definition = self._row.name, self._definition
        if name not in definition.resources:
            return frozenset()
        marks = Secrets.of(definition, name)
        marks.add_properties(definition.resources[name].cls.properties_schema)
        return frozenset(each for each, mark in marks.marks.items() if mark != OPEN)

    def signal_url(self, purpose: str = "signal") -> str | None:
        """The URL that signals the resource; None where nothing is served."""
        lender, row = self._lender, self._row
        if not lender.public_url:
            return None
        from zonda.core.store.values import signal_tokens  # few resources have one

        days = lender.signal_url_days
        expires = int(row.created_at + days * _DAY) if days else None
        token = signal_tokens.SignalToken(purpose, row.id, expires)
        text = signal_tokens.sign_token(self._lending.sealer.signal_keys[0], token)
        return f"{lender.public_url}{signal_tokens.SIGNAL_PATH}{text}"

    def _read_reference(self, reference: str) -> str:
        """The id of a resource, which may be referred to by its signal URL."""
        from zonda.core.store.values import signal_tokens

        _, path, text = reference.partition(signal_tokens.SIGNAL_PATH)
        keys = self._lending.sealer.signal_keys
        token = signal_tokens.read_token(keys, text) if path else None
        return reference if token is None else token.resource_id

    def find_resource(self, reference: str) -> Resource | None:
        """A resource of this project by its id, for reading, or None."""
        seen, reader = self._seen, self._source.definitions.reader
        row = reader.resource_row(self._read_reference(reference))
        if row is None or row.action == "INIT":
            return None
        stack = seen.stack if row.stack_id == seen.stack.id else reader.stack_row(row.stack_id)
        if stack.project != seen.stack.project:
            return None
        if all(row.id != known.id for known in seen.found):
            seen.found.append(row)
        return self._source.make_for_reading(WorkItem(row, stack, reader.read_sealed_data(row.id)))

    def required_resources(self) -> Mapping[str, Resource]:
        """The resources that this one requires, as they are now, for reading.

        What a plan was not for has what it was made with, until it moves on to the successor.
        """
        row, reader = self._row, self._source.definitions.reader
        rows = reader.list_required(row.id)
        mine = json.loads(row.requires) if row.want == PRESENT else ()
        chosen = {each.name: each for each in rows if each.name in mine}
        chosen.update({each.name: each for each in rows if each.want == PRESENT})
        return {
            name: self._source.make_for_reading(
                WorkItem(each, self._seen.stack, reader.read_sealed_data(each.id))
            )
            for name, each in chosen.items()
        }

    def child(self) -> Any:
        """The nested stack as it is now, or None."""
        return self._find_child()

    @contextmanager
    def one_look(self) -> Iterator[None]:
        """Within, the nested stack is read once: all that is asked of it is of one moment."""
        before, self._find_child = self._find_child, cache(self._find_child)
        try:
            yield
        finally:
            self._find_child = before

    def referenced_attributes(self) -> frozenset[str | None]:
        """The attributes of the resource that the template reads."""
        return self._definition.referenced_attributes(self._row.name)

    def referenced_paths(self) -> frozenset[tuple[Any, ...]]:
        """The same with what follows the attributes."""
        return self._definition.referenced_paths(self._row.name)

    def _check_writable(self, what: str) -> None:
        if self._seen.observation is not None:
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
        row = work.tx.resource(self._row.id)
        if row is None or (self.operation is not None and row.op_id != self.operation.id):
            return None
        return row
