"""What would be done with one instance: ``comparing``, asked for what is known and for what is not.

Where a value is known later the question is asked twice: as if it stays what it was, and as if
every property that reads it changes. What differs between the answers is what may happen.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from zonda.core.engine.comparing import Case, Comparison, Decision, compare
from zonda.core.engine.definitions import Definition
from zonda.core.engine.instances import Instances, Seen, written
from zonda.core.engine.protection import forbids_replacement
from zonda.core.engine.reasons import Secrets, is_a_plugins, reason_for
from zonda.core.engine.states import COMPLETE
from zonda.core.store.rows import ResourceRow, StackRow
from zonda.core.template.fingerprint import canonical
from zonda.core.template.partly import has_later, resolve_partly, supposed
from zonda.hooks.definition import ResourceDefinition
from zonda.hooks.resource import Resource

#: From the weakest to the strongest.
RANK: dict[str, int] = {
    "unchanged": 0, "note": 0, "update": 1, "replace": 2, "refuse": 3, "fail": 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answers for what is known (``surely``) and at most (``perhaps``).

    ``wanted``: the definition, with what is known later left open; None where it has none.
    ``because``: the resources whose later values it reads.
    """

    surely: Comparison
    perhaps: Comparison
    row: ResourceRow
    wanted: ResourceDefinition | None = None
    because: tuple[str, ...] = ()

    @property
    def decision(self) -> Decision:
        """What is known to be done."""
        return self.surely.decision

    @property
    def may(self) -> str:
        """What may become of it instead, where that is more; else ''."""
        weak, strong = RANK.get(self.decision), RANK.get(self.perhaps.decision)
        return self.perhaps.decision if weak is not None and (strong or 0) > weak else ""

    @property
    def strongest(self) -> Decision:
        """The most that the plan allows."""
        return self.perhaps.decision if self.may else self.decision


class Judge:
    """Gives verdicts on the resources of one definition."""

    def __init__(self, instances: Instances, stack: StackRow, definition: Definition) -> None:
        self._instances = instances
        self._stack = stack
        self._definition = definition

    def judge(self, node: Any, found: ResourceRow | None, values: Any, read: Any) -> Verdict:
        """The verdict on a resource. ``read``: the instances that it requires."""
        row = found or ResourceRow("", self._stack.id, node.name, node.type)
        row = settled(row) if row.op else row
        secrets = Secrets.of(self._definition, node.name)
        wanted = None
        try:
            secrets.add_read(self._definition, read, self._instances.lending.sealer)
            values.asked.clear()
            wanted = node.resolve(self._definition.scope(values), resolve_partly)
            secrets.add_properties(wanted.properties)
            surely, perhaps = self._compared(node, row, wanted)
        except BaseException as error:  # a plug-in or the template's author is at fault
            if not is_a_plugins(error):
                raise
            surely = perhaps = Comparison("fail", reason=reason_for(node.name, error, secrets))
        return Verdict(surely, perhaps, row, wanted, tuple(values.asked))

    def _compared(
        self, node: Any, row: ResourceRow, wanted: ResourceDefinition
    ) -> tuple[Comparison, Comparison]:
        before = self._instances.stored(row)
        pending = tuple(key for key, value in wanted.properties.items() if has_later(value))
        is_open = bool(pending) or has_later(wanted.metadata) or has_later(wanted.update_policy)
        if not is_open:
            surely = _with_handler(node.cls, compare(self._case(node, row, wanted)))
            return surely, surely
        guessed = _guessed(wanted, before)
        case = self._case(node, row, guessed, pending)
        changed = dataclasses.replace(case, supposed=pending, hashed=lambda: "later")
        return _with_handler(node.cls, compare(case)), _with_handler(node.cls, compare(changed))

    def _case(
        self, node: Any, row: ResourceRow, wanted: ResourceDefinition, pending: Any = ()
    ) -> Case:
        instances, definition = self._instances, self._definition

        def seen() -> Seen:
            data = instances.definitions.reader.sealed_data(row.id) if row.id else []
            return Seen(row, self._stack, data)

        def after() -> Resource:
            return instances.make(seen(), definition=wanted, cls=node.cls)

        return Case(
            row,
            wanted,
            node.cls,
            instances.definitions.class_type(node.cls),
            lambda: definition.registry.restricted_actions(row.name),
            lambda: instances.make(seen()),
            after,
            lambda: instances.lending.sealer.hmac(canonical(written(wanted)).encode()),
            pending=pending,
            protected=lambda: forbids_replacement(self._stack, row),
        )


def _with_handler(cls: type[Resource], compared: Comparison) -> Comparison:
    """``compared``, where the type has no handler of updates and so asks for a new resource."""
    if compared.decision != "update" or not compared.changed:
        return compared
    if cls.handle_update is not Resource.handle_update:
        return compared
    return Comparison("replace", "plugin", compared.changed, compared.changed)


def _guessed(wanted: ResourceDefinition, before: ResourceDefinition) -> ResourceDefinition:
    """``wanted`` as if all that is known later stays what it was."""
    sections = ("properties", "metadata", "update_policy")
    guessed = {key: supposed(getattr(wanted, key), getattr(before, key)) for key in sections}
    return dataclasses.replace(wanted, **guessed)


def settled(row: ResourceRow) -> ResourceRow:
    """``row`` as it will be when its running operation has ended well."""
    done = dataclasses.replace(row, op="", action=row.op, status=COMPLETE)
    if row.op in ("CREATE", "UPDATE") and row.op_definition is not None:
        done.definition, done.properties = row.op_definition, row.op_properties
        done.have_hash, done.resolved_hash = row.op_hash, row.op_resolved
        done.have_template_id = row.op_template_id
    return done
