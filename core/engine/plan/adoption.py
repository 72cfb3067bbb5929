"""Adoption: a stack from existing objects, and the import of one object into a resource.

Nothing is made. What is adopted belongs to whoever made it until the adoption has worked: a
rollback, a replacement or a deletion before that takes its row away and leaves it alone.

A physical id of a type belongs to one resource: two with one object would both update it, and
whichever is deleted first destroys the other's. So what is adopted or imported must belong to
nobody in this database. Not owned are objects that a resource only refers to (``external_id``), and
those of an adoption that has not worked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks import records
from zonda.hooks.errors import Conflict, NotFound, NotSupported, UsageError
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..model import row_annotations
from ..model.definition import Node
from ..model.documents import MASK
from ..model.plan import Given, StackPlan
from ..model.states import ABSENT, DIRTY, FAILED, OPEN, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..services import EngineServices
from .from_template import build_plan, check_idle, load_definition, load_nodes


def plan_adoption(
    services: EngineServices, stack: StackRow, action: actions.AdoptStack
) -> StackPlan:
    """The plan of a new stack whose resources exist."""
    definition = load_definition(services, stack, action.bundle, None)
    entries = _read_entries(action.resources)
    hand_over = _build_handover(services, definition.resources, entries, action.force)
    proposal = build_plan(services, stack, "ADOPT", action.bundle, definition, {}, also=hand_over)
    detail = {"force": True} if action.force else {}
    given = records.replace(proposal.given, detail=detail)
    return records.replace(proposal, given=given)


def plan_child_adoption(
    services: EngineServices, owner: ResourceRow, proposal: StackPlan, known: Mapping[str, Any]
) -> StackPlan:
    """The plan of a nested stack as the adoption of what it has; ``known``: what its owner was
    handed, Heat's document of a nested stack.
    """
    nodes = load_nodes(services, proposal.template_id)
    entries = _read_entries(known.get("resources") or {})
    force = row_annotations.has(owner, row_annotations.FORCED)
    hand_over = _build_handover(services, nodes, entries, force)
    return records.replace(proposal, action="ADOPT", also=hand_over)


def _build_handover(
    services: EngineServices,
    nodes: Mapping[str, Node],
    entries: Mapping[str, Mapping[str, Any]],
    force: bool,
) -> Callable[[UnitOfWork, StackRow], None]:
    """The unit that hands new instances their entries; raises Conflict for an owned object."""
    if not force:
        ids = {name: entries[name].get("resource_id") for name in nodes if name in entries}
        check_free(services, nodes, ids)
    handed = {name: services.sealer.seal(dict(entries.get(name, {}))) for name in nodes}

    def hand_over(work: UnitOfWork, planned: StackRow) -> None:
        for row in work.tx.resources_of(planned.id):
            is_new = row.action == "INIT" or row_annotations.is_adopting(row)
            if is_new and row.want == PRESENT and row.name in handed:
                _annotate(row, handed[row.name], force)

    return hand_over


def _annotate(row: ResourceRow, handed: str, force: bool) -> None:
    """Have an instance adopted; ``force``: even from another owner."""
    row_annotations.annotate(row, row_annotations.ADOPT, handed)
    if force:
        row_annotations.annotate(row, row_annotations.FORCED)


def _read_entries(resources: Any) -> Mapping[str, Mapping[str, Any]]:
    """The section ``resources`` of a document; raises UsageError."""
    if not isinstance(resources, Mapping):
        raise UsageError("The adoption data has no map 'resources'.")
    for name, found in resources.items():
        if not isinstance(found, Mapping):
            raise UsageError(f"The adoption data of resource {name} is no map.")
        known = [found.get(key) for key in ("resource_data", "metadata")]
        if any(MASK in each.values() for each in known if isinstance(each, Mapping)):
            raise UsageError(
                f"The adoption data of resource {name} has hidden values left out.",
                hint="Export it again with --with-secrets.",
            )
        if isinstance(found.get("resources"), Mapping):
            _read_entries(found["resources"])
    return resources


def plan_import(
    services: EngineServices, stack: StackRow, action: actions.ImportResource
) -> StackPlan:
    """The plan that binds one object to one resource of the template."""
    check_idle(stack)
    if stack.suspended:
        raise NotSupported("Nothing is imported into a suspended stack.", hint="Resume it first.")
    nodes = load_nodes(services, stack.template_id)
    if action.resource not in nodes:
        hint = suggestion(action.resource, nodes)
        raise NotFound("Resource", action.resource, hint=hint, stack=stack.name)
    node = nodes[action.resource]
    if node.cls.is_nested_stack:
        raise NotSupported(
            f"Resource {action.resource} is a nested stack: there is no object to be imported.",
            hint="'zonda stack adopt' takes over whole stacks with what is nested in them.",
        )
    _check_free(services, stack, action.resource)
    if not action.physical_id:
        raise UsageError("The id of the object to be imported is empty.")
    handed = services.sealer.seal({"resource_id": action.physical_id})
    if not action.force:
        own = (stack.id, action.resource)
        check_free(services, nodes, {action.resource: action.physical_id}, own)
    fingerprint = services.sealer.hmac(node.fingerprint.encode())
    requires = sorted(node.requires)
    _check_required(services, stack, action.resource, requires)

    def insert_handed(work: UnitOfWork, planned: StackRow) -> None:
        for row in work.tx.resources_named(planned.id, action.resource):
            if row.physical_id == action.physical_id:  # an older one leaves the object alone
                row_annotations.annotate(row, row_annotations.ADOPT, handed)
        row = _insert_instance(work, planned, action.resource, node.type, json.dumps(requires))
        _annotate(row, handed, action.force)
        row.want_hash = fingerprint
        row.want_template_id = planned.template_id
        row.generation = planned.generation
        row.open, row.dirty, row.waiting, row.verb = OPEN, DIRTY, 0, ""
        _connect(work, planned, row, requires)
        planned.remaining = 1
        work.look(row)

    return StackPlan(
        stack.id,
        "IMPORT",
        stack.generation,
        which=lambda row: False,
        also=insert_handed,
        given=Given(detail={"resource": action.resource, "physical_id": action.physical_id}),
    )


def _check_free(services: EngineServices, stack: StackRow, name: str) -> None:
    for row in services.reader().resource_rows(stack.id):
        failed = row.action in ("CREATE", "ADOPT") and row.status == FAILED and not row.have_hash
        if row.name == name and row.want == PRESENT and row.action != "INIT" and not failed:
            raise NotSupported(
                f"Resource {name} of stack {stack.name} exists: it is {row.action}_{row.status}.",
                hint="Only what does not exist yet, or failed to be created, can be imported.",
            )


def _check_required(
    services: EngineServices, stack: StackRow, name: str, requires: Collection[str]
) -> None:
    """Check that the requirements of a resource exist: its definition may read them."""
    rows = services.reader().resource_rows(stack.id)
    there = {row.name for row in rows if row.want == PRESENT and row.have_hash}
    for other in requires:
        if other not in there:
            raise NotSupported(
                f"Resource {name} requires {other}, which does not exist yet.",
                hint=f"Import or create {other} first.",
            )


def _insert_instance(
    work: UnitOfWork, stack: StackRow, name: str, type_name: str, requires: str
) -> ResourceRow:
    """A new instance; one whose creation failed goes with the next update."""
    protect = 0
    for row in work.tx.resources_named(stack.id, name):
        if row.want == PRESENT and row.action == "INIT":
            row.requires = requires
            return row
        if row.want == PRESENT:  # what failed to be created; the name is what is protected
            protect, row.protect = row.protect, 0
        row.want, row.open, row.dirty, row.waiting = ABSENT, 0, 0, 0
    made = ResourceRow(
        work.ids(),
        stack.id,
        name,
        type_name,
        requires=requires,
        protect=protect,
        created_at=work.now,
        updated_at=work.now,
    )
    work.tx.add_resources([made])
    return made


def _connect(work: UnitOfWork, stack: StackRow, row: ResourceRow, requires: list[str]) -> None:
    """Insert the edges of an instance, in both directions."""
    present = {
        other.name: other.id
        for other in work.tx.resources_of(stack.id)
        if other.want == PRESENT and other.id != row.id
    }
    edges = [(row.id, present[name]) for name in requires if name in present]
    edges += [
        (present[other.name], row.id)
        for other in work.tx.resources_of(stack.id)
        if other.name in present and row.name in json.loads(other.requires)
        if other.id == present[other.name]
    ]
    work.tx.add_edges(stack.id, edges)


def check_free(
    services: EngineServices,
    nodes: Mapping[str, Node],
    ids: Mapping[str, Any],
    own: tuple[str, str] = ("", ""),
) -> None:
    """Raise Conflict if another resource has one of ``ids`` (by the name of the resource).

    ``own``: stack id and name of a resource whose own older instances do not count.
    """
    wanted = {
        (services.definitions.class_type(nodes[name].cls) or nodes[name].type, key): name
        for name, key in ids.items()
        if isinstance(key, str) and nodes[name].cls.has_side_effects
    }
    for row, stack in services.reader().owners(key for _, key in wanted) if wanted else ():
        name = wanted.get((row.class_type or row.type, str(row.physical_id)))
        if name is None or (row.stack_id, row.name) == own or row_annotations.is_adopting(row):
            continue
        owner = f"resource {row.name} of stack {stack}"
        way_out = f"Forget that one first ('zonda stack abandon {stack}'), or refer to it with "
        if services.reader().stack_row(row.stack_id).project != services.settings.project:
            owner, way_out = "a resource of another project", "Refer to it with "
        raise Conflict(
            f"{row.physical_id} belongs to {owner} already, so it cannot become resource {name}, "
            "too.",
            hint=f"{way_out}'external_id'. Where this type's ids are not unique, give --force.",
        )


def check_still_free(
    services: EngineServices, rows: Iterable[ResourceRow], nodes: Mapping[str, Node]
) -> None:
    """Raise Conflict if another resource now has the object of one of the adopted ``rows``.

    Until their adoption has worked they own nothing, so an import or another adoption may.
    """
    handed = {
        row.name: row_annotations.read_values(services.sealer, row, row_annotations.ADOPT).get(
            "resource_id"
        )
        for row in rows
        if row.want == PRESENT and row.name in nodes and row_annotations.is_adopting(row)
    }
    check_free(services, nodes, handed)
