"""From a plan to its effects, resource by resource, in the order of the graph.

Reads rows and asks plug-ins what an operation would ask them, too; begins and writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from zonda.core.graph import digraph
from zonda.core.graph.digraph import CycleError, sort_topologically
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.records import dataclass, replace
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource

from ..diff.judge import Judge, Verdict, assume_completed
from ..diff.unknowns import LaterValues, Offer
from ..model.plan import Desired, StackPlan
from ..model.states import PRESENT
from ..operations.replacement import is_left_alone
from ..plan.scope import find_affected
from ..plugins.remains import Remains
from ..plugins.values import RowValues
from ..progress.protection import Protection, find_protection
from ..services import EngineServices
from .entries import Entry, Inside


@dataclass(frozen=True, slots=True)
class Owner:
    """A resource with a nested stack: its stack, template, desired definition."""

    stack: StackRow
    definition: Any
    cls: type[Resource]
    row: ResourceRow
    wanted: ResourceDefinition


class Nested(Protocol):
    """Gives the previews of nested stacks: ``children.Below``."""

    def walk_owner(self, owner: Owner) -> tuple[Sequence[Inside], BaseException | None]:
        """The preview of the nested stack of an owner, or the error that prevents it."""

    def walk_deleted(self, stack: StackRow, row: ResourceRow) -> Iterator[Inside]:
        """The nested stacks that are deleted with an instance."""


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
        self._remains = Remains(services.instances, stack)
        # as the plan will have it
        known = str(proposal.changes.get("policies", stack.policies))
        self._stack = replace(stack, policies=known)
        self._rows = rows
        wanted: Sequence[Desired] = proposal.wanted or ()
        self._wanted = {item.name: item for item in wanted}
        self._judges: dict[str | None, Judge] = {}
        selected = None if proposal.selection is None else proposal.selection.names
        self._cone = find_affected(rows, wanted, selected)
        self._kept = {name: row for name, row in self._cone.chosen.items() if row is not None}
        self.definition: Any = definition
        if definition is None and proposal.wanted and proposal.template_id is not None:
            self.definition = services.definitions.get(proposal.template_id)
        there = {row.name: row for row in rows if row.want == PRESENT}
        self.values = LaterValues(self.build_row_values([*{**there, **self._kept}.values()]))
        self._touched: set[str] = set()
        self._replaced: set[str] = set()
        self._stuck: set[str] = set()

    def entries(self) -> Iterator[Entry]:
        """All entries: desired resources, then those to be deleted, dependants first."""
        if self.definition is not None:
            known = self._wanted
            requires = {
                name: [other for other in item.requires if other in known]
                for name, item in known.items()
            }
            for name in sort_topologically(requires):
                yield self._build_desired_entry(name, requires[name])
        yield from self._walk_deletions()

    # -- what is wanted -------------------------------------------------------------------------

    def _get_judge(self, name: str) -> Judge:
        """The judge of the template that wants ``name``, which need not be that of the plan.

        A rollback goes back to what there was: that may be from several, each for a part.
        """
        key = self._wanted[name].template_id
        if key not in self._judges:
            found = self.definition if key is None else self._services.definitions.get(key)
            self._judges[key] = Judge(self._services.instances, self._stack, found)
        return self._judges[key]

    def _build_desired_entry(self, name: str, requires: Sequence[str]) -> Entry:
        judge, row = self._get_judge(name), self._kept.get(name)
        node: Any = judge.definition.resources[name]
        if name not in self._cone.chosen:
            return Entry(name, node.type, "outside")
        blockers = tuple(other for other in requires if other in self._stuck)
        if blockers:
            self._stuck.add(name)
            action = "blocked" if name in self._cone.dirty or row is None else "none"
            return Entry(name, node.type, action, row, because=blockers)
        changed = tuple(other for other in requires if other in self._touched)
        if node.is_certain and not self._is_checked(name, row, changed):
            return Entry(name, node.type, "none", row)
        read = [self._kept[other] for other in requires if other in self._kept]
        verdict = judge.judge(node, row, self.values, read)
        verdict, nested = self._walk_nested(judge, node, verdict)
        self._note_unknowns(node, verdict, nested)
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
        remains, prepares = "", False
        if action == "create" and verdict.surely.after is not None:
            remains = self._remains.describe_wanted(verdict.surely.after, judge.definition)
        elif row is not None and "replace" in (action, verdict.may):
            remains = self._remains.describe_present(row)
            prepares = self._remains.is_prepared_first(row)
        return Entry(
            *(name, node.type, action, row, verdict, verdict.because),
            nested=nested,
            perhaps=perhaps,
            remains=remains,
            prepares=prepares,
        )

    def _walk_nested(
        self, judge: Judge, node: Any, verdict: Verdict
    ) -> tuple[Verdict, tuple[Inside, ...]]:
        """The previews of the nested stack of a resource; another verdict where that fails."""
        row = verdict.row
        gone: tuple[Inside, ...] = ()
        if verdict.decision == "replace":
            gone = () if is_left_alone(row) else tuple(self._nested.walk_deleted(self._stack, row))
            row = ResourceRow("", self._stack.id, row.name, node.type)
        is_new = not row.id
        if not node.cls.is_nested_stack or (is_new and not node.is_certain):
            return verdict, gone
        if verdict.wanted is None or verdict.strongest not in ("create", "update", "replace"):
            return verdict, gone
        owner = Owner(self._stack, judge.definition, node.cls, row, verdict.wanted)
        inside, error = self._nested.walk_owner(owner)
        if error is not None:
            return judge.failing(verdict, error), ()
        return verdict, (*inside, *gone)

    def _is_checked(self, name: str, row: ResourceRow | None, changed: Sequence[str]) -> bool:
        if name not in self._cone.waiting:
            return False
        return bool(row is None or name in self._cone.dirty or row.dirty or changed)

    def _note_unknowns(self, node: Any, verdict: Verdict, nested: Sequence[Inside]) -> None:
        """Note the values of a resource that become unknown."""
        name, cls, strongest = node.name, node.cls, verdict.strongest
        fails = any(each.fails for each in nested) and not verdict.may
        if verdict.decision in ("fail", "refuse") or fails:
            self._stuck.add(name)
        elif strongest in ("create", "check", "replace") or not node.is_certain:
            self._touched.add(name)
            self.values.open(name, reference=True, offer=_build_offer(node, verdict, nested))
        elif strongest == "update" and cls.is_nested_stack:
            self._touched.add(name)
            offer = _build_offer(node, verdict, nested)
            self.values.open(name, reference=_may_change_reference(cls, nested), offer=offer)
        elif strongest == "update" and _may_change_values(verdict):
            self._touched.add(name)
            overridden = cls.get_reference_id is not Resource.get_reference_id
            self.values.open(name, reference=overridden or cls.reference_may_change)
        elif verdict.may:  # it fails, or goes on as it is
            self._touched.add(name)

    # -- what goes ------------------------------------------------------------------------------

    def _walk_deletions(self) -> Iterator[Entry]:
        outside = {row.id for row in self._cone.outside.values()}
        stay = {row.id for row in self._kept.values()} | outside
        rows = (row for row in self._rows if row.fence or row.op)
        going = {row.id: row for row in rows if row.id not in stay}
        users = self._find_users(going, outside) if outside else {}
        for row in _sort_dependants_first([*going.values()]):
            yield self._build_deletion(row, users.get(row.id, ()))

    def _build_deletion(self, row: ResourceRow, users: Sequence[str]) -> Entry:
        if users:
            return Entry(row.name, row.type, "keep", row, because=tuple(users))
        held = self._find_protection(row)
        if held and (row.want == PRESENT or held.by_command):
            return Entry(row.name, row.type, "fail", row, held=held)
        if is_left_alone(row):
            return Entry(row.name, row.type, "leave", row)
        nested = tuple(self._nested.walk_deleted(self._stack, row))
        remains = self._remains.describe_present(row)
        return Entry(row.name, row.type, "delete", row, nested=nested, remains=remains)

    def _find_protection(self, row: ResourceRow) -> Protection:
        """The protection of an instance to be deleted; a rollback ignores the environment's."""
        known = policies.parse_policies(self._stack.policies)
        return find_protection(self._stack, row, Policies() if known.undoing else known)

    def _find_users(
        self, going: Mapping[str, ResourceRow], outside: Collection[str]
    ) -> dict[str, tuple[str, ...]]:
        """The remaining users of the instances to be deleted: not selected, or kept for that."""
        names = {row.id: row.name for row in self._rows}
        edges = self._services.reader().edges(self._stack.id)
        # the old instance of what is replaced stays, too
        leaving = {*going, *self._replaced}
        uses = digraph.group_targets(edge for edge in edges if edge[1] in leaving)
        staying = digraph.find_reachable(outside, uses)
        users = digraph.map_dependents({key: uses[key] for key in uses.keys() & staying})
        return {key: tuple(sorted({names[user] for user in found})) for key, found in users.items()}

    # -- values ---------------------------------------------------------------------------------

    def build_row_values(self, rows: Sequence[ResourceRow]) -> RowValues:
        """The values of ``rows``, as they are once what runs has ended well."""
        settling = [assume_completed(row) if row.op else row for row in rows]
        return self._services.instances.build_values(self._stack, settling)


def _build_offer(node: Any, verdict: Verdict, nested: Sequence[Inside]) -> Offer | None:
    """The planned attributes of an owner; None where nothing is certain."""
    is_sure = node.is_certain and verdict.may != "replace"
    return nested[0].offer if nested and is_sure else None


def _may_change_reference(cls: type[Resource], nested: Sequence[Inside]) -> bool:
    """Whether the reference of an owner may be another one after an update in place."""
    outputs = (each.definition.outputs for each in nested if each.definition is not None)
    return cls.reference_may_change or any("OS::stack_id" in names for names in outputs)


def _may_change_values(verdict: Verdict) -> bool:
    """Whether an update in place may change values that others read."""
    return bool(
        verdict.surely.changed
        or verdict.perhaps.changed
        or verdict.surely.why in ("always", "failed", "missing", "prepared")
    )


def _sort_dependants_first(rows: Sequence[ResourceRow]) -> list[ResourceRow]:
    names = {row.name for row in rows}
    requires = {
        row.name: [name for name in json.loads(row.requires) if name in names] for row in rows
    }
    try:
        names_in_order = sort_topologically(requires)
    except CycleError:  # instances of different plans may require one another
        names_in_order = sorted(requires)
    place = {name: index for index, name in enumerate(names_in_order)}
    return sorted(rows, key=lambda row: (-place[row.name], row.id))
