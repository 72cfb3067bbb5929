"""The preview of an action: its plan, resource by resource. In the pool, or without an engine.

Raises the errors of ``hooks/errors.py`` for whatever the caller did wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zonda.core.engine.actions import Action
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import ZondaError
from zonda.hooks.records import dataclass, field
from zonda.hooks.resources.definition import ResourceDefinition

from ..diff.changes import Change
from ..diff.sections import ALL_HIDDEN, Marks, list_changes, list_new, read_marks
from ..model import row_annotations
from ..model.plan import StackPlan
from ..model.states import PRESENT
from ..model.work_item import Prior
from ..plan.propose import Planner, propose
from ..progress.protection import find_stack_protection
from ..services import EngineServices
from . import outputs
from .children import Below, load_previous
from .entries import Entry, Inside
from .moved import move_rows
from .walk import Walk


@dataclass(frozen=True, slots=True)
class Resource:
    """One entry of the walk with its changes; nothing secret stands in them."""

    entry: Entry
    changes: tuple[Change, ...] = ()
    nested: tuple[Nested, ...] = ()


@dataclass(frozen=True, slots=True)
class Nested:
    """The preview of a nested stack, with its changes."""

    inside: Inside
    resources: tuple[Resource, ...] = ()
    outputs: tuple[Change, ...] = ()
    parameters: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of an action. ``proposal`` is None where it has nothing to do.

    ``refusal``: why the action as a whole will be refused, or ''. ``definition``: what is wanted;
    None of a stack that goes. ``nested``: the stacks that are nested in it now, by id.
    """

    action: Action
    stack: StackRow
    proposal: StackPlan | None
    resources: tuple[Resource, ...] = ()
    outputs: tuple[Change, ...] = ()
    parameters: tuple[Change, ...] = ()
    settings: tuple[Change, ...] = ()
    refusal: str = ""
    definition: Any = None
    nested: Mapping[str, StackRow] = field(default_factory=dict)

    @property
    def fails(self) -> dict[str, Entry]:
        """The resources that are known to fail, by name; of nested ones with the way to them."""
        return {name: each for one in self.resources for name, each in one.entry.failing()}

    @property
    def does_something(self) -> bool:
        """Whether anything would, or might, be done or shown differently."""
        quiet = ("none", "outside", "keep")
        entries = (each.entry for each in self.resources)
        moves = () if self.proposal is None else self.proposal.moves
        return bool(self.outputs or self.settings or moves) or any(
            entry.action not in quiet or entry.may for entry in entries
        )

    @property
    def ceilings(self) -> Mapping[str, str]:
        """The strongest planned operation of each existing resource; see ``StackPlan``."""
        known = {each.entry.name: _find_ceiling(each.entry) for each in self.resources}
        return {name: ceiling for name, ceiling in known.items() if ceiling}

    @property
    def ceilings_below(self) -> Mapping[str, str]:
        """The same for what is nested, by the ids of the instances; '': without any."""
        return dict(_list_ceilings_below(self.resources))


def _find_ceiling(entry: Entry) -> str:
    if entry.row is None or entry.action not in ("none", "update"):
        return ""
    strongest = "unchanged" if entry.verdict is None else entry.verdict.strongest
    return {"unchanged": "unchanged", "note": "unchanged", "update": "update"}.get(strongest, "")


def _list_ceilings_below(resources: Iterable[Resource]) -> Iterator[tuple[str, str]]:
    for nested in (nested for each in resources for nested in each.nested):
        if nested.inside.action == "UPDATE":
            for each in nested.resources:
                if each.entry.row is not None:
                    yield each.entry.row.id, _find_ceiling(each.entry)
            yield from _list_ceilings_below(nested.resources)


def build_preview(
    services: EngineServices, action: Action, planner: Planner | None = None
) -> Preview:
    """The preview of ``action``; ``planner``: see ``propose``."""
    with services.reader().snapshot():
        proposal, stack = propose(services, action, planner)
        rows = services.reader().resource_rows(stack.id)
    if proposal is None:
        return Preview(action, stack, None)
    rows = move_rows(services, rows, proposal.moves, stack.id)
    below = Below(services, stack, proposal)
    walk = Walk(services, stack, proposal, rows, below)
    before = load_previous(services, stack)
    entries = tuple(walk.entries())
    return Preview(
        action,
        stack,
        proposal,
        _build_resources(services, entries),
        _list_outputs(walk, before, rows),
        tuple(outputs.list_parameter_changes(before, walk.definition)),
        tuple(outputs.list_setting_changes(stack, proposal.changes)),
        _explain_refusal(stack, proposal),
        walk.definition,
        {row.id: row for row in below.children.values()},
    )


def _build_resources(services: EngineServices, entries: tuple[Entry, ...]) -> tuple[Resource, ...]:
    marks = _Marks(services)
    return tuple(
        Resource(entry, marks.changes(entry), tuple(_build_nested(services, entry.nested)))
        for entry in entries
    )


def _build_nested(services: EngineServices, found: tuple[Inside, ...]) -> Iterator[Nested]:
    for inside in found:
        before, after = inside.before, inside.definition
        told: tuple[Change, ...] = ()
        if after is not None:
            told = tuple(
                outputs.list_output_changes(before, after, inside.old_values, inside.values)
            )
        yield Nested(
            inside,
            _build_resources(services, inside.entries),
            told,
            tuple(outputs.list_parameter_changes(before, after)),
        )


def _explain_refusal(stack: StackRow, proposal: StackPlan) -> str:
    """The reason why the stack itself refuses the action."""
    held = find_stack_protection(stack) if proposal.action == "DELETE" else None
    return f"The stack {stack.name} is protected. {held.how_to_lift}" if held else ""


def _list_outputs(walk: Walk, before: Any, rows: list[ResourceRow]) -> tuple[Change, ...]:
    """The outputs that change; none for a stack that is deleted."""
    if walk.definition is None:
        return ()
    now = walk.build_row_values([row for row in rows if row.want == PRESENT])
    return tuple(outputs.list_output_changes(before, walk.definition, now, walk.values))


class _Marks:
    """Lists the changes of entries without secrets."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def changes(self, entry: Entry) -> tuple[Change, ...]:
        verdict = entry.verdict
        if verdict is None or verdict.wanted is None:
            return ()
        new = read_marks(verdict.template, entry.name)
        if entry.row is None or verdict.decision in ("create", "check"):
            return tuple(list_new(verdict.wanted, new))
        before = self._find_previous(verdict.row)
        forces = dict.fromkeys(verdict.perhaps.about, _find_effect(verdict.perhaps.decision))
        forces.update(dict.fromkeys(verdict.surely.about, _find_effect(verdict.decision)))
        marks = (self._read_old_marks(verdict.row), new)
        wanted = verdict.wanted
        if verdict.template is not None and not _is_opaque(verdict.row):
            cls = verdict.template.resources[entry.name].cls
            wanted = Prior(self._services.sealer, verdict.row).adapt(wanted, cls)
        return tuple(list_changes(before, wanted, marks, forces))

    def _find_previous(self, row: ResourceRow) -> ResourceDefinition:
        """The present definition; without properties where only the whole was observed."""
        if _is_opaque(row):
            return self._services.instances.read(row, row.definition or row.op_definition)
        return Prior(self._services.sealer, row).definition

    def _read_old_marks(self, row: ResourceRow) -> Marks:
        template_id = row.have_template_id or row.op_template_id
        try:
            definition = (
                None if template_id is None else self._services.definitions.get(template_id)
            )
        except ZondaError:
            definition = None
        if definition is None or row.name not in definition.resources:
            return ALL_HIDDEN
        return read_marks(definition, row.name)


def _is_opaque(row: ResourceRow) -> bool:
    """Whether a plan repairs drift in unknown properties."""
    return bool(row_annotations.get(row, row_annotations.WHOLE))


def _find_effect(decision: str) -> str:
    return "fail" if decision in ("fail", "refuse") else decision
