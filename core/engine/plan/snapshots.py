"""Snapshots: created, deleted, restored. From an action to a plan, in the pool.

A snapshot keeps the template with all that was given with it and, sealed, what each resource knew
when it was taken: what ``handle_snapshot`` has stored with ``data_set`` is part of that. Types that
have ``handle_restore`` make their definitions of it; all others are updated from the template.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, SnapshotRow, StackRow
from zonda.core.template.environment.policies import Policies, parse_policies
from zonda.hooks import records
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
from . import moves
from .from_template import check_not_deleting, check_overtakes, load_nodes, plan_stored


def create(services: EngineServices, stack: StackRow, action: actions.SnapshotStack) -> StackPlan:
    """The plan that has every resource give its snapshot data."""
    check_overtakes(stack, "SNAPSHOT")
    check_not_deleting(stack, "SNAPSHOT")
    if action.name and any(row.name == action.name for row in _list_all(services, stack)):
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
    """The plan that has the resources delete their snapshot data, then deletes the snapshot."""
    check_overtakes(stack, "DELETE_SNAPSHOT")
    snapshot = find_snapshot(_list_all(services, stack), action.snapshot)
    if snapshot.status == IN_PROGRESS:
        raise NotSupported(f"Snapshot {snapshot.id} is still being made.", hint="Wait for it.")
    entries = read_resources(services, snapshot)
    keepers = [
        row
        for row in _list_keepers(services, stack)
        if _must_ask(services, row) and (row.name in entries or _has_part(services, row, snapshot))
    ]
    going = [row.name for row in keepers if row.want != PRESENT]
    if going:
        raise NotSupported(
            f"{', '.join(going)} of stack {stack.name} cannot be asked: to be deleted.",
            hint="Delete the stack, or update it so that they stay or are gone.",
        )
    handed = {row.id: services.sealer.seal(dict(entries.get(row.name, {}))) for row in keepers}
    asked = {row.name for row in keepers}

    def begin_deletion(work: UnitOfWork, planned: StackRow) -> None:
        snapshots.begin(work, planned, snapshot, "DELETE")
        _annotate_all(work, handed, row_annotations.SNAPSHOT)

    return StackPlan(
        stack.id,
        "DELETE_SNAPSHOT",
        stack.generation,
        changes={"note": _describe_remains(services, [snapshot], asked)},
        which=lambda row: row.id in handed,
        also=begin_deletion,
        given=Given(detail={"snapshot": snapshot.id}),
    )


def delete_stack(
    services: EngineServices, stack: StackRow, action: actions.DeleteStack
) -> StackPlan | None:
    """The deletion of a stack; the snapshot data of its resources is deleted with it.

    None if that is already running.
    """
    if stack.action == "DELETE" and stack.phase != IDLE:
        return None
    taken = _list_all(services, stack)
    known = [read_resources(services, snapshot) for snapshot in taken]
    if stack.action == "SNAPSHOT" and stack.phase != IDLE:
        known.append(_read_collected(services, stack))
    handed: dict[str, str] = {}
    asked: set[str] = set()
    for row in _list_keepers(services, stack) if known else ():
        kept = [entries[row.name] for entries in known if row.name in entries]
        if kept and _must_ask(services, row) and not services.definitions.is_nested_stack(row):
            values = {"kept": kept, "generation": stack.generation + 1}
            handed[row.id] = services.sealer.seal(values)
            asked.add(row.name)
    return StackPlan(
        stack.id,
        "DELETE",
        stack.generation,
        [],
        stack.template_id,
        changes={
            "note": _describe_remains(services, taken, asked),
            "policies": parse_policies(stack.policies).continue_from(Policies()).to_text(),
        },
        also=lambda work, planned: _annotate_all(work, handed, row_annotations.FORGET),
    )


def _describe_remains(
    services: EngineServices, known: Sequence[SnapshotRow], asked: Collection[str]
) -> str:
    """The message about snapshot data of resources that do not exist any more."""
    names = {
        name
        for snapshot in known
        for name in read_resources(services, snapshot)
        if name not in asked and _keeps_data(services, snapshot, name)
    }
    if not names:
        return ""
    return f"; left behind, for want of a resource: what {', '.join(sorted(names))} kept"


def _keeps_data(services: EngineServices, snapshot: SnapshotRow, name: str) -> bool:
    try:
        node = load_nodes(services, snapshot.template_id).get(name)
    except ZondaError:  # a plug-in is gone
        return False
    return node is not None and callable(getattr(node.cls, "handle_delete_snapshot", None))


def _annotate_all(work: UnitOfWork, handed: Mapping[str, str], kind: str) -> None:
    for row in work.rows(handed):
        row_annotations.annotate(row, kind, handed[row.id])


def _read_collected(services: EngineServices, stack: StackRow) -> Mapping[str, Any]:
    """The data that resources have given to the running snapshot."""
    reader = services.reader()
    rows = [row for row in reader.resource_rows(stack.id) if snapshots.is_done(row, stack)]
    return {
        row.name: documents.build_entry(row, reader.read_sealed_data(row.id), services.sealer)
        for row in rows
    }


def _list_keepers(services: EngineServices, stack: StackRow) -> list[ResourceRow]:
    """The instances with data to delete: of a name the staying one, else the last deleted.

    After a deletion that failed all are to go.
    """
    found: dict[str, ResourceRow] = {}
    for row in services.reader().resource_rows(stack.id):
        best = found.get(row.name)
        if row.action != "INIT" and (best is None or best.want != PRESENT):
            found[row.name] = row
    return list(found.values())


def _must_ask(services: EngineServices, row: ResourceRow) -> bool:
    """Whether an instance has to be asked."""
    if row.action == "INIT" or row_annotations.is_adopting(row):
        return False
    try:
        cls = services.definitions.class_of(row)
    except ZondaError:  # its plug-in is gone: its own deletion says so
        return False
    return cls.is_nested_stack or callable(getattr(cls, "handle_delete_snapshot", None))


def find_part(services: EngineServices, child: StackRow, whole: str) -> SnapshotRow | None:
    """The part of a nested stack in the snapshot of the id ``whole``, if it has one.

    It bears that id as its name.
    """
    return next((row for row in _list_all(services, child) if row.name == whole), None)


def _has_part(services: EngineServices, row: ResourceRow, snapshot: SnapshotRow) -> bool:
    """Whether an owner has a part of a snapshot, even if it failed there."""
    child = services.reader().child_row(row.id)
    return child is not None and find_part(services, child, snapshot.id) is not None


def restore(
    services: EngineServices, stack: StackRow, action: actions.RestoreSnapshot
) -> StackPlan:
    """The plan of the template and the resources of a snapshot."""
    check_overtakes(stack, "RESTORE")
    if stack.suspended and stack.action != "RESUME":
        raise NotSupported("A suspended stack is not restored.", hint="Resume it first.")
    snapshot = find_snapshot(_list_all(services, stack), action.snapshot)
    if (snapshot.action, snapshot.status) != ("SNAPSHOT", COMPLETE):
        state = f"{snapshot.action}_{snapshot.status}"
        raise NotSupported(f"Snapshot {snapshot.id} cannot be restored: it is {state}.")
    proposal = plan_stored(services, stack, "RESTORE", snapshot.template_id, keeps_protected=True)
    proposal = with_restore(
        services, proposal, snapshot, load_nodes(services, snapshot.template_id)
    )
    return moves.plan_moves_back(services, stack, proposal, snapshot.generation)


def with_restore(
    services: EngineServices, proposal: StackPlan, snapshot: SnapshotRow, nodes: Mapping[str, Node]
) -> StackPlan:
    """The plan of ``nodes`` with the snapshot data for each resource."""
    entries = read_resources(services, snapshot)
    handed = {}
    for name, node in nodes.items():
        if name not in entries:
            continue
        cls, entry = node.cls, entries[name]
        if cls.is_nested_stack:  # which finds its part by the id
            entry = {**entry, "snapshot": snapshot.id}
        if cls.is_nested_stack or callable(getattr(cls, "handle_restore", None)):
            handed[name] = services.sealer.seal(dict(entry))
    wanted = [
        records.replace(item, always=item.always or item.name in handed)
        for item in proposal.wanted or ()
    ]

    def hand_out(work: UnitOfWork, planned: StackRow) -> None:
        for row in work.tx.resources_of(planned.id):
            row_annotations.remove(row, row_annotations.RESTORE)
            if row.want == PRESENT and row.name in handed:
                row_annotations.annotate(row, row_annotations.RESTORE, handed[row.name])

    return records.replace(
        proposal,
        wanted=wanted,
        also=hand_out,
        given=Given(detail={"snapshot": snapshot.id}),
    )


def _list_all(services: EngineServices, stack: StackRow) -> list[SnapshotRow]:
    return services.reader().snapshots(stack.id)


def find_snapshot(known: list[SnapshotRow], key: str) -> SnapshotRow:
    """The snapshot of an id or a name; raises NotFound."""
    for row in known:
        if key in (row.id, row.name) and key:
            return row
    names = [row.name or row.id for row in known]
    raise NotFound("Snapshot", key, hint=suggestion(key, names))


def read_resources(services: EngineServices, snapshot: SnapshotRow) -> Mapping[str, Any]:
    """The snapshot data of each resource."""
    if snapshot.data is None:
        return {}
    found: Mapping[str, Any] = services.sealer.open(snapshot.data)["resources"]
    return found
