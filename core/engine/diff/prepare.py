"""Prepares an operation: the definition is resolved and compared. In the pool.

Gives a ``Prepared`` and never raises what a plug-in or a template raised: that is a verdict.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.jsontext import dumps
from zonda.hooks.errors import ResourceFailure
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.live_state import is_same_value
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.borders import raise_interruption

from ..model import row_annotations
from ..model.definition import Definition, Node
from ..model.outcomes import Prepared
from ..model.work_item import WorkItem
from ..plugins.attribute_reader import AttributeReader
from ..plugins.instances import Instances
from ..plugins.reasons import Secrets, report_error
from ..plugins.values import RowValues
from ..progress.protection import explain_no_replacement
from ..templates.fingerprints import compute_hash, definition_to_dict
from .ceilings import check_ceiling
from .decision import Comparison, Question, decide


class Preparation:
    """Prepares one instance whose desired state is PRESENT."""

    def __init__(self, instances: Instances, seen: WorkItem) -> None:
        self.instances = instances
        self.seen = seen
        self.row = seen.row
        self.resolved: ResourceDefinition | None = None
        self._hashed = ""
        self.cls: type[Resource] | None = None
        self.secrets = Secrets()

    def run(self) -> Prepared:
        """The prepared operation."""
        op = "CREATE" if self.row.action == "INIT" else "UPDATE"
        if self._is_adopting():
            op = "ADOPT"
        try:
            return self._prepare()
        except BaseException as error:  # a plug-in or the template's author is at fault
            raise_interruption(error)
            return self._build_failure(op, error)

    def _build_failure(self, op: str, error: BaseException) -> Prepared:
        told = report_error(self.row.name, error, self.secrets)
        kind, code, trace = told.kind, told.code, told.trace
        return Prepared("fail", op, told.reason, kind=kind, code=code, path=told.path, trace=trace)

    def _prepare(self) -> Prepared:
        row = self.row
        assert row.want_template_id is not None
        definition = self.instances.definitions.get(row.want_template_id)
        node: Node = definition.resources[row.name]
        self.cls = node.cls
        self.secrets = Secrets.of(definition, row.name)
        self.secrets.add_read(definition, self.seen.required, self.instances.lending.sealer)
        self.resolved = node.resolve(definition.scope(self._build_values()))
        definition.check_names(row.name, self.resolved.properties, lambda: self.secrets.values)
        self.secrets.add_properties(self.resolved.properties)
        if row_annotations.is_for(row, "RESTORE") and self.seen.stack.action == "RESTORE":
            self.resolved = self._restore_definition(self.resolved)
            self.secrets.add_properties(self.resolved.properties)
        compared = decide(self._build_case(definition, node))
        return check_ceiling(row, compared) or self._build_prepared(compared, definition)

    def _is_adopting(self) -> bool:
        row = self.row
        if not (
            row_annotations.is_adopting(row) and row_annotations.is_for(row, self.seen.stack.action)
        ):
            return False
        return row.action == "INIT" or (row.action, row.status) == ("ADOPT", "FAILED")

    def _restore_definition(self, resolved: ResourceDefinition) -> ResourceDefinition:
        """The definition that the type makes of the resolved one and of its snapshot data."""
        new = ResourceRow(self.row.id, self.row.stack_id, self.row.name, self.row.type)
        instance = self.instances.make(
            WorkItem(new, self.seen.stack), definition=resolved, cls=self.cls
        )
        handler: Any = getattr(instance, "handle_restore", None)
        if handler is None:
            return resolved
        known = row_annotations.read_values(
            self.instances.lending.sealer, self.row, row_annotations.RESTORE
        )
        self.secrets.add_restored(known)
        made = handler(resolved, known)
        if not isinstance(made, ResourceDefinition):
            raise ResourceFailure("handle_restore gave no resource definition")
        return made

    def _build_values(self) -> RowValues:
        instances, stack = self.instances, self.seen.stack

        def build(row: ResourceRow) -> AttributeReader:
            data = instances.definitions.reader.sealed_data(row.id)
            return instances.attributes(WorkItem(row, stack, data))

        return RowValues(self.seen.required, instances.lending.sealer, build)

    def _build_case(self, definition: Definition, node: Node) -> Question:
        assert self.resolved is not None
        row = self.row
        if self._is_adopting() and row.action == "ADOPT":
            row = dataclasses.replace(row, action="INIT")  # once more, as if nothing had been done
        observed = row_annotations.read_live(self.instances.lending.sealer, row)
        if observed:
            self.secrets.add_properties(observed)
            row = dataclasses.replace(row, resolved_hash="")  # it is not what it was made
        return Question(
            row,
            self.resolved,
            node.cls,
            self.instances.definitions.class_type(node.cls),
            lambda: definition.registry.list_restricted_actions(self.row.name),
            lambda: self.instances.make(self.seen),
            self._make_repaired
            if row_annotations.read_exempted(self.instances.lending.sealer, row)
            else self._make_desired,
            self._compute_hash,
            protected=lambda: explain_no_replacement(self.seen.stack, self.row),
            observed=observed,
            left=row_annotations.read_exempted(self.instances.lending.sealer, row),
        )

    def _build_prepared(self, compared: Comparison, definition: Definition) -> Prepared:
        """The prepared operation for a decision."""
        decision, after = compared.decision, compared.after
        assert self.resolved is not None
        if decision == "check":
            return self._build_begin("CHECK", definition, dict(self.resolved.properties))
        if decision == "create" or decision == "update":
            assert after is not None
            cause = compared.cause if decision == "update" else ""
            op = "ADOPT" if self._is_adopting() else decision.upper()
            if row_annotations.read_exempted(self.instances.lending.sealer, self.row):
                after = self._make_desired()  # what it is meant to be, as before
            return self._build_begin(op, definition, after.properties.stored(), cause)
        if decision == "note":
            assert after is not None
            # nothing is done, yet what is shown of the resource is what the template says now
            shown = self._build_begin("UPDATE", definition, after.properties.stored())
            return dataclasses.replace(shown, verdict="unchanged")
        if decision == "unchanged":
            return self._reseal_hidden(definition) or Prepared(decision)
        if decision == "replace":
            return Prepared(decision, cause=compared.cause)
        kind = compared.why.title()
        path = ("resources", self.row.name, "properties", *compared.about[:1])
        return Prepared(decision, "UPDATE", compared.reason, kind=kind, path=path)

    def _reseal_hidden(self, definition: Definition) -> Prepared | None:
        """The rewritten definition of an unchanged instance whose secret values have changed."""
        row = self.row
        if row.definition is None or row.external_id or self.cls is None:
            return None
        sealed = self.instances.lending.sealer.is_sealed(row.properties)
        hidden = dumps(self.secrets.hidden(definition, self.cls))
        if (sealed, row.hidden) == (self.secrets.properties, hidden):
            return None
        shown = self._build_begin("UPDATE", definition, self._make_desired().properties.stored())
        return dataclasses.replace(shown, verdict="unchanged")

    def _compute_hash(self) -> str:
        if not self._hashed:
            assert self.resolved is not None
            assert self.cls is not None
            assert self.row.want_template_id is not None
            definition = self.instances.definitions.get(self.row.want_template_id)
            sealer = self.instances.lending.sealer
            found = compute_hash(sealer, definition, self.resolved, self.cls, self._make_desired)
            self._hashed = found + self._snapshot_suffix()
        return self._hashed

    def _snapshot_suffix(self) -> str:
        """The id of the snapshot that a nested stack is restored from; it makes another hash."""
        if self.seen.stack.action != "RESTORE" or self.cls is None or not self.cls.is_nested_stack:
            return ""
        sealer = self.instances.lending.sealer
        return str(
            row_annotations.read_values(sealer, self.row, row_annotations.RESTORE).get(
                "snapshot", ""
            )
        )

    def _make_desired(self) -> Resource:
        return self.instances.make(self.seen, definition=self.resolved, cls=self.cls)

    def _make_repaired(self) -> Resource:
        """The desired instance, without what a repair leaves as it is."""
        assert self.resolved is not None
        assert self.cls is not None
        sealer = self.instances.lending.sealer
        wanted = row_annotations.build_repair_definition(sealer, self.row, self.resolved, self.cls)
        return self.instances.make(self.seen, definition=wanted, cls=self.cls)

    def _build_begin(
        self, op: str, definition: Definition, shown: Mapping[str, Any], cause: str = ""
    ) -> Prepared:
        assert self.resolved is not None
        assert self.cls is not None
        resolved, sealer, secrets = self.resolved, self.instances.lending.sealer, self.secrets
        metadata = None
        stored = self.instances.stored(self.row).metadata if op == "UPDATE" else None
        if not is_same_value(stored, resolved.metadata):
            metadata = sealer.dump(resolved.metadata, sealed=secrets.metadata)
        return Prepared(
            "begin",
            op,
            definition=sealer.dump(definition_to_dict(resolved), sealed=secrets.any),
            properties=sealer.dump(shown, sealed=secrets.properties),
            hidden=dumps(secrets.hidden(definition, self.cls)),
            metadata=metadata,
            deletion_policy=resolved.deletion_policy,
            external_id=resolved.external_id,
            resolved_hash=self._compute_hash(),
            type=resolved.type,
            class_type=self.instances.definitions.class_type(self.cls),
            cause=cause,
        )
