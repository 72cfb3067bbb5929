"""The decision on an instance in a preview, for its known values and for its unknown ones.

Where a value is known later the question is asked twice: as if it stays what it was, and as if
every property that reads it changes. What differs between the answers is what may happen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.evaluation.unknown_values import (
    assume_unchanged,
    evaluate_partially,
    has_unknown,
)
from zonda.hooks import records
from zonda.hooks.function import sources
from zonda.hooks.records import dataclass
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.text.borders import raise_interruption

from ..model.definition import Definition
from ..model.states import COMPLETE, MAKING
from ..model.work_item import WorkItem, take_desired
from ..plugins.instances import Instances
from ..plugins.reasons import Secrets, format_reason
from .decision import Comparison, Decision, Question, decide

#: From the weakest to the strongest.
RANK: dict[str, int] = {
    "unchanged": 0, "note": 0, "update": 1, "replace": 2, "refuse": 3, "fail": 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answers for what is known (``surely``) and at most (``perhaps``).

    ``wanted``: the definition, with what is known later left open; None where it has none.
    ``because``: the resources and parameters whose later values it reads. ``template``: the one
    that wants it so.
    """

    surely: Comparison
    perhaps: Comparison
    row: ResourceRow
    wanted: ResourceDefinition | None = None
    because: tuple[str, ...] = ()
    template: Definition | None = None

    @property
    def decision(self) -> Decision:
        """The decision that is certain."""
        return self.surely.decision

    @property
    def may(self) -> str:
        """The stronger decision that is possible; '' where there is none."""
        weak, strong = RANK.get(self.decision), RANK.get(self.perhaps.decision)
        return self.perhaps.decision if weak is not None and (strong or 0) > weak else ""

    @property
    def strongest(self) -> Decision:
        """The strongest decision that the plan allows."""
        return self.perhaps.decision if self.may else self.decision


class Judge:
    """Gives verdicts on the resources of one definition."""

    def __init__(self, instances: Instances, stack: StackRow, definition: Definition) -> None:
        self._instances = instances
        self._stack = stack
        self._definition = definition

    @property
    def definition(self) -> Definition:
        """The template of the resources."""
        return self._definition

    def judge(self, node: Any, found: ResourceRow | None, values: Any, read: Any) -> Verdict:
        """The verdict on a resource. ``read``: the instances that it requires."""
        row = found or ResourceRow("", self._stack.id, node.name, node.type)
        row = assume_completed(row) if row.op else row
        secrets = Secrets.of(self._definition, node.name)
        wanted = None
        try:
            secrets.add_read(self._definition, read, self._instances.lending.sealer)
            values.asked.clear()
            wanted = node.resolve(self._definition.scope(values), evaluate_partially)
            given = wanted.properties
            self._definition.check_names(node.name, given, lambda: secrets.values)
            secrets.add_properties(given)
            surely, perhaps = self._compare(node, row, wanted)
        except BaseException as error:  # a plug-in or the template's author is at fault
            raise_interruption(error)
            surely = perhaps = Comparison("fail", reason=format_reason(node.name, error, secrets))
        because = dict.fromkeys((*values.asked, *_list_unknown_parameters(self._definition, node)))
        return Verdict(surely, perhaps, row, wanted, tuple(because), self._definition)

    def failing(self, verdict: Verdict, error: BaseException) -> Verdict:
        """``verdict``, changed for an error in the nested stack of the resource."""
        name = verdict.row.name
        secrets = Secrets.of(self._definition, name)
        if verdict.wanted is not None:
            secrets.add_properties(verdict.wanted.properties)
        failed = Comparison("fail", reason=format_reason(name, error, secrets))
        is_sure = verdict.decision in ("create", "update", "replace")
        surely = failed if is_sure else verdict.surely
        return records.replace(verdict, surely=surely, perhaps=failed)

    def _compare(
        self, node: Any, row: ResourceRow, wanted: ResourceDefinition
    ) -> tuple[Comparison, Comparison]:
        instances = self._instances
        data = instances.definitions.reader.read_sealed_data(row.id) if row.id else []
        item = WorkItem(row, self._stack, data, definition=self._definition)
        pending = tuple(key for key, value in wanted.properties.items() if has_unknown(value))
        marked_by = self._find_mark_definition(row, pending)
        is_open = bool(pending) or has_unknown(wanted.metadata) or has_unknown(wanted.update_policy)
        if is_open:
            before = item.read_prior(instances.lending.sealer).definition
            wanted = _assume_unchanged(wanted, before)
        case = Question.of(instances, item, node, wanted, pending=pending, marked_by=marked_by)
        surely = _require_update_handler(node.cls, decide(case))
        if not is_open:
            return surely, surely
        changed = records.replace(case, supposed=pending, hashed=lambda: "later")
        return surely, _require_update_handler(node.cls, decide(changed))

    def _find_mark_definition(self, row: ResourceRow, pending: Any) -> Definition | None:
        """The definition with the marks of secrets; those of unknown values are unknown, too."""
        is_open = pending or self._definition.parameters.unknown
        if not is_open or row.have_template_id is None:
            return None
        found = self._instances.definitions.get(row.have_template_id)
        return found if row.name in found.resources else None


def _list_unknown_parameters(definition: Definition, node: Any) -> Iterator[str]:
    """The parameters that a resource reads and that are known after apply."""
    unknown = definition.parameters.unknown
    trees = (node.properties, node.metadata, node.update_policy) if unknown else ()
    for source in (each for tree in trees for each in sources(tree)):
        if source.kind == "param" and source.name in unknown:
            yield source.name


def _require_update_handler(cls: type[Resource], compared: Comparison) -> Comparison:
    """The decision, with a replacement where the type has no handler of updates."""
    if compared.decision != "update" or not compared.changed:
        return compared
    if cls.is_nested_stack or cls.handle_update is not Resource.handle_update:
        return compared
    return Comparison("replace", "plugin", compared.changed, compared.changed)


def _assume_unchanged(wanted: ResourceDefinition, before: ResourceDefinition) -> ResourceDefinition:
    """``wanted`` with the values before in place of unknown ones; new unknown ones are left out."""
    sections = ("properties", "metadata", "update_policy")
    guessed = {
        key: assume_unchanged(getattr(wanted, key), getattr(before, key)) for key in sections
    }
    if before.properties:
        known = before.properties
        guessed["properties"] = {
            key: value
            for key, value in guessed["properties"].items()
            if key in known or not has_unknown(wanted.properties[key])
        }
    return records.replace(wanted, **guessed)


def assume_completed(row: ResourceRow) -> ResourceRow:
    """``row`` as it will be when its running operation has ended well."""
    done = records.replace(row, op="", action=row.op, status=COMPLETE)
    if row.op in MAKING and row.op_definition is not None:
        take_desired(done)
    return done
