"""Plug-in instances, made from rows. Called in the pool, by ``calls`` and ``values``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.values.opened import Opened
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource, ResourceState

from ..model.definition import Definition
from ..model.lending import Lending, LentOperation, Write
from ..model.work_item import Prior, WorkItem, read_definition
from ..templates.definitions import Definitions
from .child_view import ChildView
from .context import EngineContext
from .reasons import Secrets
from .values import AttributeReader, RowValues


class Instances:
    """Makes instances and their contexts."""

    def __init__(self, lending: Lending, definitions: Definitions) -> None:
        self.lending = lending
        self.definitions = definitions

    def context(
        self,
        seen: WorkItem,
        *,
        operation: bool = False,
        gathered: list[Write] | None = None,
        scrubbed: Callable[[str], str] | None = None,
    ) -> EngineContext:
        """The context of an instance; ``gathered``: a list of its writes, made later.

        ``scrubbed`` takes the secrets out of what it says; without it, it may say nothing.
        """
        row, begun = seen.row, None
        if operation and row.op and row.op_id is not None:
            until = row.promised_deadline or 0.0
            begun = LentOperation(row.op_id, row.op, row.started_at or 0.0, until, row.attempt)
        return EngineContext(self, seen, begun, gathered, scrubbed)

    def child(self, row: ResourceRow) -> ChildView | None:
        """The nested stack of an instance, if it has one."""
        reader = self.definitions.reader
        found = reader.child_row(row.id)
        if found is None:
            return None

        return ChildView(found, reader, self.definitions.get, self.build_values)

    def build_values(self, stack: StackRow, rows: Iterable[ResourceRow]) -> RowValues:
        """The values of instances of a stack; their types are asked for what is not stored."""

        def build(row: ResourceRow) -> AttributeReader:
            seen = WorkItem(row, stack, self.definitions.reader.read_sealed_data(row.id))
            return AttributeReader(
                row.name, lambda: self.make(seen), lambda: self.secrets(seen).values
            )

        return RowValues(rows, self.lending.sealer, build)

    def definition_of(self, template_id: str | None, name: str) -> Definition | None:
        """The definition of a stored template, if it has a resource of that name."""
        if template_id is None:
            return None
        definition = self.definitions.get(template_id)
        return definition if name in definition.resources else None

    def make(
        self,
        seen: WorkItem,
        *,
        definition: ResourceDefinition | None = None,
        cls: type[Resource] | None = None,
        context: EngineContext | None = None,
    ) -> Resource:
        """An instance; of what is stored unless ``definition`` and ``cls`` are given."""
        row, sealer = seen.row, self.lending.sealer
        prior = seen.read_prior(sealer)
        state = ResourceState(
            uuid=row.id,
            resource_id=row.physical_id,
            action=row.action,
            status=row.status,
            status_reason=row.status_reason,
            data=Opened(seen.data, sealer) if seen.data else {},
            metadata=sealer.load(row.meta),
            drift=prior.drift,
        )
        cls = cls or self.definitions.class_of(row)
        definition = definition or prior.definition
        return cls(row.name, definition, context or self.context(seen), state)

    def make_for_reading(
        self,
        seen: WorkItem,
        *,
        definition: ResourceDefinition | None = None,
        cls: type[Resource] | None = None,
    ) -> Resource:
        """An instance whose writes are not stored."""
        context = self.context(seen, gathered=[])
        return self.make(seen, definition=definition, cls=cls, context=context)

    def secrets(self, seen: WorkItem) -> Secrets:
        """The values that texts about a resource must not contain, also of found resources."""
        row, secrets = seen.row, Secrets()
        for template_id, text in (
            (row.have_template_id, row.definition),
            (row.op_template_id, row.op_definition),
        ):
            definition = self.definition_of(template_id, row.name)
            if definition is not None:
                secrets.values += self._collect_secrets(seen, definition, text)
        for other in seen.found:
            secrets.values += self._collect_found_secrets(other)
        secrets.values += [*seen.lent.values()]
        return secrets

    def _collect_secrets(
        self, seen: WorkItem, definition: Definition, text: str | None
    ) -> list[Any]:
        """The secret values of one template: of its properties, and of values behind them."""
        row, secrets, sealer = seen.row, Secrets.of(definition, seen.row.name), self.lending.sealer
        secrets.add_properties(self.read(row, text).properties)
        secrets.add_properties(seen.read_prior(sealer).observed)
        if secrets.any:
            rows = self.definitions.reader.list_required(row.id)
            secrets.add_read(definition, rows, sealer)
        return secrets.values

    def _collect_found_secrets(self, row: ResourceRow) -> list[Any]:
        """The secret values of a resource that was found by its id."""
        template_id = row.have_template_id or row.op_template_id
        definition = self.definition_of(template_id, row.name)
        if definition is None:
            return []
        secrets = Secrets.of(definition, row.name)
        secrets.add_properties(Prior(self.lending.sealer, row).definition.properties)
        return secrets.values

    def read(self, row: ResourceRow, text: str | None) -> ResourceDefinition:
        """A definition from a column."""
        return read_definition(self.lending.sealer, row, text)
