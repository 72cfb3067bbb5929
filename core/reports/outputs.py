"""What a stack says of itself through its template: outputs, parameters, resolved properties.

Used by faces beside or without a running engine: stored attributes are read, others are asked for
on demand, and nothing is ever stored.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zonda.core.engine.model.definition import Definition, Loading
from zonda.core.engine.model.lending import Lender, Lending
from zonda.core.engine.model.states import PRESENT
from zonda.core.engine.model.work_item import WorkItem
from zonda.core.engine.plugins.attribute_reader import AttributeReader
from zonda.core.engine.plugins.instances import Instances
from zonda.core.engine.plugins.reasons import HIDDEN
from zonda.core.engine.plugins.secrets import scrub
from zonda.core.engine.plugins.values import RowValues, check_value
from zonda.core.engine.templates.definitions import Definitions
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.context import Clock
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.redaction import MASK
from zonda.hooks.text.sanitize import safe_str, truncate_middle


@dataclass(frozen=True, slots=True)
class OutputView:
    """One output. ``error`` tells why it has no value; ``secrecy`` is open, sealed or hidden."""

    name: str
    description: str
    value: Any
    error: str = ""
    secrecy: str = "open"


class Showing:
    """Reads stacks through their templates."""

    def __init__(self, instances: Instances, reader: Reader) -> None:
        self._instances = instances
        self._reader = reader

    def outputs(
        self, stack_id: str, *, refresh: bool = False, reveal: bool = False
    ) -> list[OutputView]:
        """The outputs in template order, hidden ones redacted; none of a deleted stack.

        ``refresh``: ask every resource anew. ``reveal``: somebody has asked to see hidden values.
        """
        stack = self._reader.stack_row(stack_id)
        definition = self._definition(stack)
        if definition is None:
            return []
        scope = definition.scope(self._values(stack, refresh=refresh))
        secrets = _hidden_parameters(definition)
        nodes = definition.outputs.values()
        return [_output(node, scope, secrets, reveal=reveal) for node in nodes]

    def parameters(self, stack_id: str) -> dict[str, Any]:
        """The parameters' values, hidden ones redacted."""
        definition = self._definition(self._reader.stack_row(stack_id))
        return {} if definition is None else dict(definition.parameters.shown())

    def resources(self, stack_id: str) -> dict[str, ResourceDefinition]:
        """Every resource of the template, properties converted.

        As the last operation that succeeded left it; with the values of now where there was none.
        Nothing is redacted: for comparisons, not for people.
        """
        stack = self._reader.stack_row(stack_id)
        definition = self._definition(stack)
        if definition is None:
            return {}
        values = self._values(stack)
        scope = definition.scope(values)
        return {
            name: self._resolved(stack, node, values.row(name), scope)
            for name, node in definition.resources.items()
        }

    def _resolved(
        self, stack: StackRow, node: Any, row: ResourceRow | None, scope: Any
    ) -> ResourceDefinition:
        if row is not None and _is_stored(row) and not node.cls.never_update:
            shown = self._instances.lending.sealer.load(row.properties)
            return dataclasses.replace(self._instances.stored(row), properties=shown)
        resolved: ResourceDefinition = node.resolve(scope)
        if resolved.external_id is not None:
            return resolved
        new = ResourceRow("", stack.id, node.name, node.type)
        instance = self._instances.make(WorkItem(new, stack), definition=resolved, cls=node.cls)
        return dataclasses.replace(resolved, properties=instance.properties.stored())

    def _definition(self, stack: StackRow) -> Definition | None:
        if stack.template_id is None or stack.deleted_at is not None:
            return None
        return self._instances.definitions.get(stack.template_id)

    def _values(self, stack: StackRow, *, refresh: bool = False) -> RowValues:
        rows = [row for row in self._reader.resource_rows(stack.id) if row.want == PRESENT]
        if refresh:
            rows = [dataclasses.replace(row, outputs=None) for row in rows]

        def build(row: ResourceRow) -> AttributeReader:
            return self._instances.attributes(
                WorkItem(row, stack, self._reader.sealed_data(row.id))
            )

        return RowValues(rows, self._instances.lending.sealer, build)


def showing(
    reader: Reader,
    resource_types: Mapping[str, type[Resource]],
    *,
    load: Loading,
    lender: Lender,
    clock: Clock,
    source: random.Random,
    definitions: Definitions | None = None,
) -> Showing:
    """A ``Showing`` beside an engine. ``definitions``: of that engine, where it is at hand."""
    lending = Lending(lender, clock, source, reader.sealer, lambda run: None, lambda *said: None)
    known = definitions or Definitions(load, resource_types, lambda: reader)
    return Showing(Instances(lending, known), reader)


def _is_stored(row: ResourceRow) -> bool:
    return row.definition is not None and row.external_id is None


def _hidden_parameters(definition: Definition) -> list[Any]:
    parameters = definition.parameters
    return [parameters.values[key] for key in parameters.hidden if key in parameters.values]


def _output(node: Any, scope: Any, secrets: list[Any], *, reveal: bool) -> OutputView:
    description = "" if node.description is None else str(node.description)
    if node.secrecy == HIDDEN and node.enabled and not reveal:
        return OutputView(node.name, description, MASK, secrecy=HIDDEN)
    try:
        value = node.resolve(scope)
        check_value("the output", value)
    except BaseException as error:  # a plug-in may raise anything when it is asked
        raise_interruption(error)
        said = truncate_middle(scrub(safe_str(error) or type(error).__name__, secrets))
        return OutputView(node.name, description, None, said, node.secrecy)
    return OutputView(node.name, description, value, secrecy=node.secrecy)


__all__ = ["OutputView", "Showing", "showing"]
