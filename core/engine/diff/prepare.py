"""Prepares an operation: the definition is resolved and compared. In the pool.

Gives a ``Prepared`` and never raises what a plug-in or a template raised: that is a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.jsontext import dumps
from zonda.hooks import records
from zonda.hooks.errors import PluginError, ResourceFailure
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import is_same_value
from zonda.hooks.text.borders import raise_interruption

from ..model import row_annotations
from ..model.definition import Definition, Node
from ..model.outcomes import Prepared
from ..model.work_item import WorkItem
from ..plugins.instances import Instances
from ..plugins.reasons import Secrets, report_error
from ..plugins.replacement import find_preparation
from ..templates.fingerprints import definition_to_dict
from .ceilings import check_ceiling
from .decision import Comparison, Question, decide

#: The actions of a stack that adopt.
_ADOPTING = ("ADOPT", "IMPORT")


class Preparation:
    """Prepares one instance whose desired state is PRESENT."""

    def __init__(self, instances: Instances, seen: WorkItem) -> None:
        self.instances = instances
        self.seen = seen
        self.row = seen.row
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
        row, sealer = self.row, self.instances.lending.sealer
        assert row.want_template_id is not None
        definition = self.instances.definitions.get(row.want_template_id)
        node: Node = definition.resources[row.name]
        self.secrets = Secrets.of(definition, row.name)
        self.secrets.add_read(definition, self.seen.required, sealer)
        resolved = node.resolve(
            definition.scope(self.instances.build_values(self.seen.stack, self.seen.required))
        )
        definition.check_names(row.name, resolved.properties, lambda: self.secrets.values)
        self.secrets.add_properties(resolved.properties)
        if self.seen.stack.action == "RESTORE":
            resolved = self._restore_definition(resolved, node.cls)
        item = records.replace(self.seen, definition=definition)
        if self._is_adopting() and row.action == "ADOPT":  # once more, as if nothing had been done
            item = records.replace(item, row=records.replace(row, action="INIT"))
        case = Question.of(self.instances, item, node, resolved)
        self.secrets.add_properties(case.prior.observed)
        compared = decide(case)
        return check_ceiling(row, compared) or self._build_prepared(compared, case, definition)

    def _is_adopting(self) -> bool:
        row = self.row
        if not row_annotations.is_adopting(row) or self.seen.stack.action not in _ADOPTING:
            return False
        return row.action == "INIT" or (row.action, row.status) == ("ADOPT", "FAILED")

    def _restore_definition(
        self, resolved: ResourceDefinition, cls: type[Resource]
    ) -> ResourceDefinition:
        """The definition that the type makes of the resolved one and of its snapshot data."""
        row = self.row
        new = ResourceRow(row.id, row.stack_id, row.name, row.type)
        instance = self.instances.make(WorkItem(new, self.seen.stack), definition=resolved, cls=cls)
        handler: Any = getattr(instance, "handle_restore", None)
        if handler is None or not row_annotations.has(row, row_annotations.RESTORE):
            return resolved
        sealer = self.instances.lending.sealer
        known = row_annotations.read_values(sealer, row, row_annotations.RESTORE)
        self.secrets.add_restored(known)
        made = handler(resolved, known)
        if not isinstance(made, ResourceDefinition):
            raise ResourceFailure("handle_restore gave no resource definition")
        self.secrets.add_properties(made.properties)
        return made

    def _build_prepared(
        self, compared: Comparison, case: Question, definition: Definition
    ) -> Prepared:
        """The prepared operation for a decision."""
        decision = compared.decision
        if decision == "check":
            return self._build_begin("CHECK", case, definition, dict(case.resolved.properties))
        if decision == "create" or decision == "update":
            cause = compared.cause if decision == "update" else ""
            op = "ADOPT" if self._is_adopting() else decision.upper()
            return self._build_begin(op, case, definition, _list_shown(compared, case), cause)
        if decision == "note":
            # nothing is done, yet what is shown of the resource is what the template says now
            return self._rewrite(case, definition, _list_shown(compared, case))
        if decision == "unchanged":
            return self._reseal_hidden(case, definition) or Prepared(decision)
        if decision == "replace":
            return Prepared(decision, cause=compared.cause, prepares=self._is_prepared_first())
        kind = compared.why.title()
        path = ("resources", self.row.name, "properties", *compared.about[:1])
        return Prepared(decision, "UPDATE", compared.reason, kind=kind, path=path)

    def _is_prepared_first(self) -> bool:
        """Whether the type of the old instance, which may be another one, makes it ready."""
        try:
            return find_preparation(self.instances.definitions.class_of(self.row)) is not None
        except PluginError:  # it is not installed any more
            return False

    def _reseal_hidden(self, case: Question, definition: Definition) -> Prepared | None:
        """The rewritten definition of an unchanged instance whose secret values have changed."""
        row = self.row
        if row.definition is None or row.external_id:
            return None
        sealed = self.instances.lending.sealer.is_sealed(row.properties)
        hidden = dumps(self.secrets.list_hidden(definition, case.cls))
        if (sealed, row.hidden) == (self.secrets.properties, hidden):
            return None
        return self._rewrite(case, definition, case.desired().properties.get_stored_values())

    def _rewrite(
        self, case: Question, definition: Definition, shown: Mapping[str, Any]
    ) -> Prepared:
        """The new definition of an instance that stays as it is."""
        found = self._build_begin("UPDATE", case, definition, shown)
        return records.replace(found, verdict="unchanged")

    def _build_begin(
        self,
        op: str,
        case: Question,
        definition: Definition,
        shown: Mapping[str, Any],
        cause: str = "",
    ) -> Prepared:
        resolved, sealer, secrets = case.resolved, self.instances.lending.sealer, self.secrets
        metadata = None
        stored = case.prior.definition.metadata if op == "UPDATE" else None
        if not is_same_value(stored, resolved.metadata):
            metadata = sealer.dump(resolved.metadata, sealed=secrets.metadata)
        return Prepared(
            "begin",
            op,
            definition=sealer.dump(definition_to_dict(resolved), sealed=secrets.any),
            properties=sealer.dump(shown, sealed=secrets.properties),
            hidden=dumps(secrets.list_hidden(definition, case.cls)),
            metadata=metadata,
            deletion_policy=resolved.deletion_policy,
            external_id=resolved.external_id,
            resolved_hash=case.hashed(),
            type=resolved.type,
            class_type=case.class_type,
            cause=cause,
        )


def _list_shown(compared: Comparison, case: Question) -> Mapping[str, Any]:
    """The properties to be stored: what the instance is meant to be, even where it drifted."""
    instance = case.desired() if case.prior.observed else compared.after
    assert instance is not None
    return instance.properties.get_stored_values()
