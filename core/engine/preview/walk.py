"""From a proposal to what it would do, resource by resource, in the order of the graph.

Reads rows and asks plug-ins what an operation would ask them, too; begins and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

from zonda.core.graph import digraph
from zonda.core.graph.digraph import Ring, order
from zonda.core.store.schema.rows import PlanRow, ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource

from ..diff.judge import Judge, Verdict, settled
from ..diff.unknowns import LaterValues, Offer
from ..model.plan import Desired, StackPlan
from ..model.states import PRESENT
from ..model.work_item import WorkItem
from ..operations.replacement import is_left_alone
from ..plan.scope import Cone, cone
from ..plugins.attribute_reader import AttributeReader
from ..plugins.values import RowValues
from ..progress.protection import Protection, of_resource
from ..services import EngineServices
from .entries import Entry, Inside

_PLAN_COLUMNS = tuple(item.name for item in fields(PlanRow))


@dataclass(frozen=True, slots=True)
class Owner:
    """A resource whose nested stack is asked for: its stack, the template, what is wanted of it."""

    stack: StackRow
    definition: Any
    cls: type[Resource]
    row: ResourceRow
    wanted: ResourceDefinition


class Nested(Protocol):
    """Tells what becomes of nested stacks: ``below.Below``."""

    def inside(self, owner: Owner) -> tuple[Sequence[Inside], BaseException | None]:
        """What becomes of that of an owner, or why nothing can."""

    def gone(self, stack: StackRow, row: ResourceRow) -> Iterator[Inside]:
        """What goes with an instance."""


_ACTIONS = {"note": "none", "unchanged": "none", "refuse": "fail"}


class Walk:
    """One walk. ``rows``: every instance of the stack as it was when the proposal was made.

    ``definition``: what is wanted, where no template is kept of it.
    """

    def __init__(
        self,
        services: EngineServices,
        stack: StackRow,
        proposal: StackPlan,
        rows: Sequence[ResourceRow],
        nested: Nested,
        definition: Any = None,
    ) -> None:
        self._services = services
        self._nested = nested
        # as the plan will have it
        known = str(proposal.changes.get("policies", stack.policies))
        self._stack = replace(stack, policies=known)
        self._rows = rows
        wanted: Sequence[Desired] = proposal.wanted or ()
        self._wanted = {item.name: item for item in wanted}
        self._judges: dict[str | None, Judge] = {}
        self._selection = proposal.selection
        selected = None if self._selection is None else self._selection.names
        self._cone: Cone = cone([_plan_row(row) for row in rows], wanted, selected)
        by_id = {row.id: row for row in rows}
        self._kept: dict[str, ResourceRow] = {
            name: by_id[row.id] for name, row in self._cone.chosen.items() if row is not None
        }
        self.definition: Any = definition
        if definition is None and proposal.wanted and proposal.template_id is not None:
            self.definition = services.definitions.get(proposal.template_id)
        there = {row.name: row for row in rows if row.want == PRESENT}
        self.values = LaterValues(self.row_values([*{**there, **self._kept}.values()]))
        self._touched: set[str] = set()
        self._replaced: set[str] = set()
        self._stuck: set[str] = set()

    def entries(self) -> Iterator[Entry]:
        """What becomes of everything: what is wanted, then what goes, dependants first."""
        if self.definition is not None:
            known = self._wanted
            requires = {
                name: [other for other in item.requires if other in known]
                for name, item in known.items()
            }
            for name in order(requires):
                yield self._wanted_entry(name, requires[name])
        yield from self._gone()

    # -- what is wanted -------------------------------------------------------------------------

    def _judge(self, name: str) -> Judge:
        """Judges by the template that wants ``name``, which need not be that of the plan.

        A rollback goes back to what there was: that may be from several, each for a part.
        """
        key = self._wanted[name].template_id
        if key not in self._judges:
            found = self.definition if key is None else self._services.definitions.get(key)
            self._judges[key] = Judge(self._services.instances, self._stack, found)
        return self._judges[key]

    def _wanted_entry(self, name: str, requires: Sequence[str]) -> Entry:
        judge, row = self._judge(name), self._kept.get(name)
        node: Any = judge.definition.resources[name]
        if name not in self._cone.chosen:
            return Entry(name, node.type, "outside")
        blockers = tuple(other for other in requires if other in self._stuck)
        if blockers:
            self._stuck.add(name)
            action = "blocked" if name in self._cone.dirty or row is None else "none"
            return Entry(name, node.type, action, row, because=blockers)
        changed = tuple(other for other in requires if other in self._touched)
        if node.is_certain and not self._is_looked_at(name, row, changed):
            return Entry(name, node.type, "none", row)
        read = [self._kept[other] for other in requires if other in self._kept]
        verdict = judge.judge(node, row, self.values, read)
        verdict, nested = self._inside(judge, node, verdict)
        self._note(node, verdict, nested)
        if row is not None and row.op in ("CREATE", "UPDATE"):
            # what it will show is not known before that has ended
            self._touched.add(name)
            self.values.open(name, reference=row.op == "CREATE")
        action = _ACTIONS.get(verdict.decision, verdict.decision)
        if action == "replace" and row is not None:
            self._replaced.add(row.id)
        perhaps = ""
        if not node.is_certain:  # what decides whether it is wanted is known later
            action, perhaps = ("none", "create") if row is None else (action, "delete")
        because = verdict.because
        return Entry(name, node.type, action, row, verdict, because, None, nested, perhaps)

    def _inside(
        self, judge: Judge, node: Any, verdict: Verdict
    ) -> tuple[Verdict, tuple[Inside, ...]]:
        """What becomes of what is nested in a resource; another verdict, if that cannot be."""
        row = verdict.row
        gone: tuple[Inside, ...] = ()
        if verdict.decision == "replace":
            gone = () if is_left_alone(row) else tuple(self._nested.gone(self._stack, row))
            row = ResourceRow("", self._stack.id, row.name, node.type)
        is_new = not row.id
        if not node.cls.is_nested_stack or (is_new and not node.is_certain):
            return verdict, gone
        if verdict.wanted is None or verdict.strongest not in ("create", "update", "replace"):
            return verdict, gone
        owner = Owner(self._stack, judge.definition, node.cls, row, verdict.wanted)
        inside, error = self._nested.inside(owner)
        if error is not None:
            return judge.failing(verdict, error), ()
        return verdict, (*inside, *gone)

    def _is_looked_at(self, name: str, row: ResourceRow | None, changed: Sequence[str]) -> bool:
        if name not in self._cone.waiting:
            return False
        return bool(row is None or name in self._cone.dirty or row.dirty or changed)

    def _note(self, node: Any, verdict: Verdict, nested: Sequence[Inside]) -> None:
        """Take note of what others may read differently then."""
        name, cls, strongest = node.name, node.cls, verdict.strongest
        fails = any(each.fails for each in nested) and not verdict.may
        if verdict.decision in ("fail", "refuse") or fails:
            self._stuck.add(name)
        elif strongest in ("create", "check", "replace") or not node.is_certain:
            self._touched.add(name)
            self.values.open(name, reference=True, offer=_offer(node, verdict, nested))
        elif strongest == "update" and cls.is_nested_stack:
            self._touched.add(name)
            offer = _offer(node, verdict, nested)
            self.values.open(name, reference=_names_another(cls, nested), offer=offer)
        elif strongest == "update" and _shows_more(verdict):
            self._touched.add(name)
            overridden = cls.get_reference_id is not Resource.get_reference_id
            self.values.open(name, reference=overridden or cls.reference_may_change)
        elif verdict.may:  # it fails, or goes on as it is
            self._touched.add(name)

    # -- what goes ------------------------------------------------------------------------------

    def _gone(self) -> Iterator[Entry]:
        kept = {row.id for row in self._kept.values()}
        going = {row.id: row for row in self._rows if row.id not in kept and self._goes(row)}
        users = self._users(going, kept) if self._selection is not None else {}
        for row in _dependants_first([*going.values()]):
            yield self._going(row, users.get(row.id, ()))

    def _goes(self, row: ResourceRow) -> bool:
        if row.fence == 0 and not row.op:
            return False
        selection = self._selection
        return row.want != PRESENT or selection is None or row.name in selection.names

    def _stays(self, row: ResourceRow) -> bool:
        selection = self._selection
        return row.want == PRESENT and selection is not None and row.name not in selection.names

    def _going(self, row: ResourceRow, users: Sequence[str]) -> Entry:
        if users:
            return Entry(row.name, row.type, "keep", row, because=tuple(users))
        held = self._held(row)
        if held and (row.want == PRESENT or held.by_command):
            return Entry(row.name, row.type, "fail", row, held=held)
        if is_left_alone(row):
            return Entry(row.name, row.type, "leave", row)
        nested = tuple(self._nested.gone(self._stack, row))
        return Entry(row.name, row.type, "delete", row, nested=nested)

    def _held(self, row: ResourceRow) -> Protection:
        """Who protects an instance that would go; what is undone no environment protects."""
        known = policies.read(self._stack.policies)
        return of_resource(self._stack, row, Policies() if known.undoing else known)

    def _users(
        self, going: Mapping[str, ResourceRow], kept: Collection[str]
    ) -> dict[str, tuple[str, ...]]:
        """Who still uses what would go: what is not selected, and what stays because of that."""
        names = {row.id: row.name for row in self._rows}
        edges = self._services.reader().edges(self._stack.id)
        # the old instance of what is replaced stays, too
        leaving = {*going, *self._replaced}
        uses = digraph.group(edge for edge in edges if edge[1] in leaving)
        stays = (row.id for row in self._rows if row.id not in kept and self._stays(row))
        staying = digraph.cone(stays, uses)
        users = digraph.dependents({key: uses[key] for key in uses.keys() & staying})
        return {key: tuple(sorted({names[user] for user in found})) for key, found in users.items()}

    # -- values ---------------------------------------------------------------------------------

    def row_values(self, rows: Sequence[ResourceRow]) -> RowValues:
        """The values of ``rows``, as they are once what runs has ended well."""
        instances, stack, reader = self._services.instances, self._stack, self._services.reader

        def build(row: ResourceRow) -> AttributeReader:
            return instances.attributes(WorkItem(row, stack, reader().sealed_data(row.id)))

        settling = [settled(row) if row.op else row for row in rows]
        return RowValues(settling, instances.lending.sealer, build)


def _offer(node: Any, verdict: Verdict, nested: Sequence[Inside]) -> Offer | None:
    """What gives the attributes of an owner as they will be; None where nothing is sure."""
    is_sure = node.is_certain and verdict.may != "replace"
    return nested[0].offer if nested and is_sure else None


def _names_another(cls: type[Resource], nested: Sequence[Inside]) -> bool:
    """Whether the reference of an owner may be another one after an update in place."""
    outputs = (each.definition.outputs for each in nested if each.definition is not None)
    return cls.reference_may_change or any("OS::stack_id" in names for names in outputs)


def _shows_more(verdict: Verdict) -> bool:
    """Whether an update in place may change what others read."""
    return bool(
        verdict.surely.changed
        or verdict.perhaps.changed
        or verdict.surely.why in ("always", "failed", "missing")
    )


def _plan_row(row: ResourceRow) -> PlanRow:
    return PlanRow(*(getattr(row, name) for name in _PLAN_COLUMNS))


def _dependants_first(rows: Sequence[ResourceRow]) -> list[ResourceRow]:
    names = {row.name for row in rows}
    requires = {
        row.name: [name for name in json.loads(row.requires) if name in names] for row in rows
    }
    try:
        names_in_order = order(requires)
    except Ring:  # instances of different plans may require one another
        names_in_order = sorted(requires)
    place = {name: index for index, name in enumerate(names_in_order)}
    return sorted(rows, key=lambda row: (-place[row.name], row.id))
