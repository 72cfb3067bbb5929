"""Snapshots: taken, deleted, gone back to. From an action to a proposal, in the pool.

A snapshot keeps the template with all that was given with it and, sealed, what each resource knew
when it was taken: what ``handle_snapshot`` has stored with ``data_set`` is part of that. Types that
have ``handle_restore`` make their definitions of it; all others are updated from the template.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, SnapshotRow, StackRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported, ZondaError
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..model import documents, row_annotations
from ..model.definition import Node
from ..model.plan import Given, StackPlan
from ..model.states import COMPLETE, IDLE, IN_PROGRESS, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..progress import snapshots
from ..services import EngineServices
from . import from_template, moves
from .from_template import check_meant, check_overtakes, nodes_of, stored


def create(services: EngineServices, stack: StackRow, action: actions.SnapshotStack) -> StackPlan:
    """Have every resource give what it needs to come back to what it is."""
    check_overtakes(stack, "SNAPSHOT")
    check_meant(stack, "SNAPSHOT")
    if action.name and any(row.name == action.name for row in _all(services, stack)):
        raise Conflict(f"Stack {stack.name} has a snapshot of the name {action.name} already.")
    row = SnapshotRow(
        services.ids(),
        stack.id,
        action.name,
        template_id=stack.template_id,
        created_at=services.clock.now(),
    )
    return StackPlan(
        stack.id,
        "SNAPSHOT",
        stack.generation,
        changes={"note": ""},
        also=lambda work, planned: snapshots.begin(work, planned, row, "SNAPSHOT"),
        given=Given(detail={"snapshot": row.id}),
    )


def delete(services: EngineServices, stack: StackRow, action: actions.DeleteSnapshot) -> StackPlan:
    """Have the resources remove what they keep for a snapshot, then forget it."""
    check_overtakes(stack, "DELETE_SNAPSHOT")
    snapshot = find(_all(services, stack), action.snapshot)
    if snapshot.status == IN_PROGRESS:
        raise NotSupported(f"Snapshot {snapshot.id} is still being made.", hint="Wait for it.")
    entries = resources_of(services, snapshot)
    keepers = [
        row
        for row in _keepers(services, stack)
        if _deletes(services, row) and (row.name in entries or _has_part(services, row, snapshot))
    ]
    going = [row.name for row in keepers if row.want != PRESENT]
    if going:
        raise NotSupported(
            f"{', '.join(going)} of stack {stack.name} cannot be asked: to be deleted.",
            hint="Delete the stack, or update it so that they stay or are gone.",
        )
    handed = {
        row.id: row_annotations.text(
            services.sealer, row_annotations.SNAPSHOT, entries.get(row.name, {})
        )
        for row in keepers
    }
    asked = {row.name for row in keepers}

    def also(work: UnitOfWork, planned: StackRow) -> None:
        snapshots.begin(work, planned, snapshot, "DELETE")
        _hand_over(work, handed)

    return StackPlan(
        stack.id,
        "DELETE_SNAPSHOT",
        stack.generation,
        changes={"note": _left_behind(services, [snapshot], asked)},
        which=lambda row: row.id in handed,
        also=also,
        given=Given(detail={"snapshot": snapshot.id}),
    )


def delete_stack(
    services: EngineServices, stack: StackRow, action: actions.DeleteStack
) -> StackPlan | None:
    """The deletion of a stack; what its resources keep for snapshots goes with them."""
    proposal = from_template.delete(services, stack, action)
    known = [resources_of(services, snapshot) for snapshot in _all(services, stack)]
    if stack.action == "SNAPSHOT" and stack.phase != IDLE:
        known.append(_given_so_far(services, stack))
    if proposal is None or not known:
        return proposal
    handed: dict[str, str] = {}
    asked: set[str] = set()
    for row in _keepers(services, stack):
        kept = [entries[row.name] for entries in known if row.name in entries]
        if kept and _deletes(services, row) and not services.definitions.is_nested_stack(row):
            values = {"kept": kept, "generation": stack.generation + 1}
            handed[row.id] = row_annotations.text(services.sealer, row_annotations.FORGET, values)
            asked.add(row.name)
    return dataclasses.replace(
        proposal,
        changes={**proposal.changes, "note": _left_behind(services, _all(services, stack), asked)},
        also=lambda work, planned: _hand_over(work, handed),
    )


def _left_behind(
    services: EngineServices, known: Sequence[SnapshotRow], asked: Collection[str]
) -> str:
    """Told at the end: what was given to snapshots by resources that are there no more."""
    names = {
        name
        for snapshot in known
        for name in resources_of(services, snapshot)
        if name not in asked and _keeps_something(services, snapshot, name)
    }
    if not names:
        return ""
    return f"; left behind, for want of a resource: what {', '.join(sorted(names))} kept"


def _keeps_something(services: EngineServices, snapshot: SnapshotRow, name: str) -> bool:
    try:
        node = nodes_of(services, snapshot.template_id).get(name)
    except ZondaError:  # a plug-in is gone
        return False
    return node is not None and callable(getattr(node.cls, "handle_delete_snapshot", None))


def _hand_over(work: UnitOfWork, handed: Mapping[str, str]) -> None:
    for key, text in handed.items():
        row = work.tx.resource(key)
        if row is not None:
            row_annotations.hand(row, text)


def _given_so_far(services: EngineServices, stack: StackRow) -> Mapping[str, Any]:
    """What resources have given to the snapshot that is being made."""
    reader = services.reader()
    rows = [row for row in reader.resource_rows(stack.id) if snapshots.is_in(row, stack)]
    return {
        row.name: documents.entry(row, reader.sealed_data(row.id), services.sealer) for row in rows
    }


def _keepers(services: EngineServices, stack: StackRow) -> list[ResourceRow]:
    """Who is asked to forget: of each name the one that stays, else the last that is to go.

    After a deletion that failed all are to go.
    """
    found: dict[str, ResourceRow] = {}
    for row in services.reader().resource_rows(stack.id):
        best = found.get(row.name)
        if row.action != "INIT" and (best is None or best.want != PRESENT):
            found[row.name] = row
    return list(found.values())


def _deletes(services: EngineServices, row: ResourceRow) -> bool:
    """Whether an instance has to be asked."""
    if row.action == "INIT" or row_annotations.is_adopting(row):
        return False
    try:
        cls = services.definitions.class_of(row)
    except ZondaError:  # its plug-in is gone: its own deletion says so
        return False
    return cls.is_nested_stack or callable(getattr(cls, "handle_delete_snapshot", None))


def part(services: EngineServices, child: StackRow, whole: str) -> SnapshotRow | None:
    """The part of a nested stack in the snapshot of the id ``whole``, if it has one.

    It bears that id as its name.
    """
    return next((row for row in _all(services, child) if row.name == whole), None)


def _has_part(services: EngineServices, row: ResourceRow, snapshot: SnapshotRow) -> bool:
    """Whether an owner has a part of a snapshot, also where it has not worked there."""
    child = services.reader().child_row(row.id)
    return child is not None and part(services, child, snapshot.id) is not None


def restore(
    services: EngineServices, stack: StackRow, action: actions.RestoreSnapshot
) -> StackPlan:
    """Go back to the template of a snapshot, and to what its resources were."""
    check_overtakes(stack, "RESTORE")
    if stack.suspended and stack.action != "RESUME":
        raise NotSupported("A suspended stack is not restored.", hint="Resume it first.")
    snapshot = find(_all(services, stack), action.snapshot)
    if (snapshot.action, snapshot.status) != ("SNAPSHOT", COMPLETE):
        state = f"{snapshot.action}_{snapshot.status}"
        raise NotSupported(f"Snapshot {snapshot.id} cannot be restored: it is {state}.")
    proposal = stored(services, stack, "RESTORE", snapshot.template_id, keeps_protected=True)
    proposal = restoring(services, proposal, snapshot, nodes_of(services, snapshot.template_id))
    return moves.back(services, stack, proposal, snapshot.generation)


def restoring(
    services: EngineServices, proposal: StackPlan, snapshot: SnapshotRow, nodes: Mapping[str, Node]
) -> StackPlan:
    """A plan of ``nodes`` that hands to each what it gave to a snapshot."""
    entries = resources_of(services, snapshot)
    handed = {
        name: row_annotations.text(
            services.sealer, row_annotations.RESTORE, _with_id(node, entries[name], snapshot)
        )
        for name, node in nodes.items()
        if name in entries and _restores(node)
    }
    wanted = [
        dataclasses.replace(item, always=item.always or item.name in handed)
        for item in proposal.wanted or ()
    ]
    return dataclasses.replace(
        proposal,
        wanted=wanted,
        also=lambda work, planned: hand(work, planned, handed),
        given=Given(detail={"snapshot": snapshot.id}),
    )


def _restores(node: Node) -> bool:
    return node.cls.is_nested_stack or callable(getattr(node.cls, "handle_restore", None))


def _with_id(node: Node, entry: Mapping[str, Any], snapshot: SnapshotRow) -> Mapping[str, Any]:
    """By the id of the whole, the part of a nested stack is found."""
    return {**entry, "snapshot": snapshot.id} if node.cls.is_nested_stack else entry


def hand(work: UnitOfWork, stack: StackRow, handed: Mapping[str, str]) -> None:
    """Hand what was worked out for them to the instances that are wanted."""
    for row in work.tx.resources_of(stack.id):
        row_annotations.drop(row, row_annotations.RESTORE)
        if row.want == PRESENT and row.name in handed:
            row_annotations.hand(row, handed[row.name])


def _all(services: EngineServices, stack: StackRow) -> list[SnapshotRow]:
    return services.reader().snapshots(stack.id)


def find(known: list[SnapshotRow], key: str) -> SnapshotRow:
    """The snapshot of an id or a name; raises NotFound."""
    for row in known:
        if key in (row.id, row.name) and key:
            return row
    names = [row.name or row.id for row in known]
    raise NotFound("Snapshot", key, hint=suggestion(key, names))


def resources_of(services: EngineServices, snapshot: SnapshotRow) -> Mapping[str, Any]:
    """What each resource has given to a snapshot."""
    if snapshot.data is None:
        return {}
    found: Mapping[str, Any] = services.sealer.open(snapshot.data)["resources"]
    return found
