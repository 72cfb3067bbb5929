"""Values of a stack through its template: outputs, parameters, resolved properties.

Used by faces beside or without a running engine: stored attributes are read, others are asked for
on demand, and nothing is ever stored.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from typing import Any

from zonda.core.engine.model.definition import Definition, Loading
from zonda.core.engine.model.lending import Lender, Lending
from zonda.core.engine.model.states import PRESENT
from zonda.core.engine.model.tracing import Tracing
from zonda.core.engine.model.work_item import Prior, WorkItem
from zonda.core.engine.plugins.instances import Instances
from zonda.core.engine.plugins.reasons import HIDDEN
from zonda.core.engine.plugins.redaction import describe_output_error
from zonda.core.engine.plugins.values import RowValues, check_value
from zonda.core.engine.templates.definitions import Definitions
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import OutputView
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks import records
from zonda.hooks.context import Clock
from zonda.hooks.errors import ZondaError
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.attributes import SHOW
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.redaction import MASK


class StackValues:
    """Reads the values of stacks through their templates."""

    def __init__(self, instances: Instances, reader: Reader) -> None:
        self._instances = instances
        self._reader = reader

    def outputs(
        self, stack_id: str, *, refresh: bool = False, reveal: bool = False
    ) -> list[OutputView]:
        """Resolve the outputs in template order, hidden ones redacted; none of a deleted stack.

        ``refresh``: ask every resource anew. ``reveal``: somebody has asked to see hidden values.
        """
        stack = self._reader.stack_row(stack_id)
        definition = self._load_definition(stack)
        if definition is None:
            return []
        scope = definition.scope(self._make_row_values(stack, refresh=refresh))
        nodes = definition.outputs.values()
        return [_resolve_output(node, scope, definition, reveal=reveal) for node in nodes]

    def resolve_attributes(self, row: ResourceRow, also: Iterable[str] = ()) -> dict[str, Any]:
        """Resolve the attributes of the schema and ``also`` others of an instance.

        Hidden ones are redacted; one that cannot be resolved is null.
        """
        stack = self._reader.stack_row(row.stack_id)
        schema = self._instances.definitions.class_of(row).attributes_schema
        masked = {name for name, each in schema.items() if each.hidden}
        masked |= {*json.loads(row.hidden).get("attributes", ())}
        values = self._instances.build_values(stack, [row])
        names = [name for name in dict.fromkeys((*schema, *also)) if name != SHOW]
        return {
            name: MASK if name in masked else _resolve_attribute(values, row.name, name)
            for name in names
        }

    def parameters(self, stack_id: str) -> dict[str, Any]:
        """Return the parameters' values, hidden ones redacted."""
        definition = self._load_definition(self._reader.stack_row(stack_id))
        return {} if definition is None else dict(definition.parameters.redact_values())

    def resources(self, stack_id: str) -> dict[str, ResourceDefinition]:
        """Resolve every resource of the template, properties converted.

        As the last operation that succeeded left it; with the values of now where there was none.
        Nothing is redacted: for comparisons, not for people.
        """
        stack = self._reader.stack_row(stack_id)
        definition = self._load_definition(stack)
        if definition is None:
            return {}
        values = self._make_row_values(stack)
        scope = definition.scope(values)
        return {
            name: self._resolve_node(stack, node, values.row(name), scope)
            for name, node in definition.resources.items()
        }

    def _resolve_node(
        self, stack: StackRow, node: Any, row: ResourceRow | None, scope: Any
    ) -> ResourceDefinition:
        if row is not None and _has_stored_definition(row) and not node.cls.never_update:
            sealer = self._instances.lending.sealer
            prior, shown = Prior(sealer, row), sealer.load(row.properties)
            return records.replace(prior.definition, properties=shown)
        resolved: ResourceDefinition = node.resolve(scope)
        if resolved.external_id is not None:
            return resolved
        new = ResourceRow("", stack.id, node.name, node.type)
        instance = self._instances.make(WorkItem(new, stack), definition=resolved, cls=node.cls)
        return records.replace(resolved, properties=instance.properties.get_stored_values())

    def _load_definition(self, stack: StackRow) -> Definition | None:
        if stack.template_id is None or stack.deleted_at is not None:
            return None
        return self._instances.definitions.get(stack.template_id)

    def _make_row_values(self, stack: StackRow, *, refresh: bool = False) -> RowValues:
        rows = [row for row in self._reader.resource_rows(stack.id) if row.want == PRESENT]
        if refresh:
            rows = [records.replace(row, outputs=None) for row in rows]
        return self._instances.build_values(stack, rows)


def make_stack_values(
    reader: Reader,
    resource_types: Mapping[str, type[Resource]],
    *,
    load: Loading,
    lender: Lender,
    clock: Clock,
    source: random.Random,
    definitions: Definitions | None = None,
) -> StackValues:
    """Make a ``StackValues`` beside an engine. ``definitions``: of that engine, if it has any."""
    tracing = Tracing(reader.last_action)
    lending = Lending(
        lender, clock, source, reader.sealer, lambda run: None, lambda *said: None, tracing
    )
    known = definitions or Definitions(load, resource_types, lambda: reader)
    return StackValues(Instances(lending, known), reader)


def _resolve_attribute(values: RowValues, resource: str, name: str) -> Any:
    try:
        return values.attribute(resource, name, ())
    except ZondaError:
        return None


def _has_stored_definition(row: ResourceRow) -> bool:
    return row.definition is not None and row.external_id is None


def _resolve_output(node: Any, scope: Any, definition: Definition, *, reveal: bool) -> OutputView:
    description = "" if node.description is None else str(node.description)
    if node.secrecy == HIDDEN and node.enabled and not reveal:
        return OutputView(node.name, description, MASK, secrecy=HIDDEN)
    try:
        value = node.resolve(scope)
        check_value("the output", value)
    except BaseException as error:  # a plug-in may raise anything when it is asked
        raise_interruption(error)
        said = describe_output_error(error, definition)
        return OutputView(node.name, description, None, said, node.secrecy)
    return OutputView(node.name, description, value, secrecy=node.secrecy)


__all__ = ["OutputView", "StackValues", "make_stack_values"]
