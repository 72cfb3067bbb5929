"""Repairs drift: an update to the present template, for the drifted resources only.

What was observed of a resource that has drifted takes the place of its former properties, so that
its type is asked to change just what differs, or it is replaced where that may not be changed.
What is missing is replaced, as after a CHECK that has failed. Observations are good for one plan.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence

from zonda.core.engine.actions import Accepted
from zonda.core.graph.digraph import find_reachable, map_dependents
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.schema.words import MISSING, REPAIR
from zonda.hooks import records
from zonda.hooks.errors import NotSupported, ZondaError

from .. import actions
from ..model import row_annotations
from ..model.effects import Call, Step, Tx, Wait
from ..model.plan import Desired, Given, StackPlan
from ..model.states import COMPLETE, DIRTY, FAILED, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, build_answer, propose_and_accept, skip_note, with_note
from ..plan.from_template import (
    check_live,
    check_not_deleting,
    check_overtakes,
    list_desired,
    plan_stored,
)
from ..plan.scope import select_without
from ..progress import partial
from ..services import EngineServices
from . import store
from .actions import build_check_unit, resolve_scope
from .findings import Check, Found

#: Seconds between two looks at whether a check has ended, at first and at most.
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.5

Wrong = Mapping[str, Found]


def repair(services: EngineServices, action: actions.RepairDrift, note: Noted) -> Step:
    """Check the named resources, or all, then plan the repair of those that have drifted."""
    stack, scope = yield Call(lambda: find_scope(services, action))
    accepted, check = yield Tx(build_check_unit(services, stack, scope, REPAIR, skip_note))
    look = _FIRST_LOOK
    while check.outcome is None:
        yield Wait(look, "")
        look = min(2 * look, _LAST_LOOK)
    if not check.outcome:
        raise NotSupported(
            f"Stack {stack.name} is not repaired: the check of what there is has not come to its "
            f"end: {check.row.reason}."
        )

    def note_check(work: UnitOfWork, answer: Accepted) -> None:
        note(work, records.replace(answer, check_id=accepted.check_id))

    if check.wrong:
        propose = functools.partial(_propose, services, stack.id, check.wrong)
        answer = yield from propose_and_accept(propose, note_check)
    else:  # the answer names the present plan
        answer = yield Tx(
            with_note(lambda work: build_answer(work.tx.stack(stack.id) or stack), note_check)
        )
    return records.replace(answer, check_id=accepted.check_id)


def repair_after_check(services: EngineServices, check: Check) -> Step:
    """Repair the results of a check by schedule; logs why a repair cannot begin."""
    stack_id = check.row.stack_id
    propose = functools.partial(_propose, services, stack_id, check.wrong)
    try:
        return (yield from propose_and_accept(propose))
    except ZondaError as error:
        reason = f"what has drifted could not be repaired: {error.message}"

        def tell(work: UnitOfWork) -> None:
            stack = work.tx.stack(stack_id)
            if stack is not None:
                work.stack_event(stack, store.DRIFT, FAILED, reason)

        yield Tx(tell)


def find_scope(
    services: EngineServices, action: actions.RepairDrift
) -> tuple[StackRow, tuple[str, ...]]:
    """The stack, and the paths of the resources to check: () for all."""
    stack, scope = resolve_scope(services, action.stack, action.resources)
    _check_allowed(stack)
    return stack, scope


def _check_allowed(stack: StackRow) -> None:
    if stack.suspended:
        raise NotSupported(
            "Repairing a stack when it is suspended is not supported.", hint="Resume it first."
        )
    check_not_deleting(stack, "UPDATE")
    check_overtakes(stack, "CHECK")  # nothing else may run: it is no new wish


def _propose(
    services: EngineServices, stack_id: str, wrong: Wrong
) -> tuple[StackPlan | None, StackRow]:
    stack = check_live(services.reader().stack_row(stack_id), stack_id)
    return build_repair_plan(services, stack, wrong), stack


def build_repair_plan(services: EngineServices, stack: StackRow, wrong: Wrong) -> StackPlan | None:
    """The plan that repairs ``wrong``; None where the stack has changed since the check."""
    _check_allowed(stack)
    reader = services.reader()
    rows = {row.id: row for row in reader.tree_resources(stack.id)}
    fits = {
        key: each for key, each in wrong.items() if key in rows and _is_current(rows[key], each)
    }
    if not fits or stack.template_id is None:
        return None
    owners = {child: owner for child, owner, _, _ in reader.list_owners_below(stack.id)}
    mine = {
        row.name: row for row in rows.values() if row.stack_id == stack.id and row.want == PRESENT
    }
    tops = {_find_top(rows, owners, rows[key], stack.id) for key in fits}
    made = plan_stored(services, stack, "UPDATE", stack.template_id, keeps_protected=True)
    requires = {item.name: item.requires for item in made.wanted or ()}
    # a replacement has another reference
    names = find_reachable({rows[key].name for key in tops}, map_dependents(requires))
    wanted = [
        _restrict_desired(services, item, mine.get(item.name), tops) for item in made.wanted or ()
    ]
    left_out = _list_unrelated(wanted, mine, names)
    leaving = {
        row.name for row in rows.values() if row.stack_id == stack.id and row.want != PRESENT
    }
    _check_repairable(stack, [*left_out, *(leaving - names)])
    return records.replace(
        made,
        wanted=wanted,
        changes={},
        selection=select_without([*mine, *(item.name for item in wanted)], left_out),
        given=Given(services.settings.user, {"repairs": sorted(rows[key].name for key in fits)}),
        also=_build_handover(services, stack.id, fits),
    )


def _check_repairable(stack: StackRow, others: Sequence[str]) -> None:
    """Raise NotSupported where a repair would end well although the stack has failed.

    What ends well is what a rollback goes back to: that is no template that has never worked.
    """
    known = f"Stack {stack.name} is {stack.action}_{stack.status}"
    is_others = stack.status == FAILED and stack.action not in ("UPDATE", "CHECK")
    if stack.template_id != stack.good_template_id or is_others:
        raise NotSupported(
            f"{known}, and what it was to be has not worked yet: it is not repaired.",
            hint=f"'zonda stack retry {stack.name}', 'zonda stack rollback {stack.name}' or an "
            "update that works comes first.",
        )
    if stack.status == FAILED and others:
        raise NotSupported(
            f"{known} for other reasons than drift ({', '.join(sorted(set(others))[:5])}).",
            hint=f"'zonda stack retry {stack.name}', or an update, comes first.",
        )


def _list_unrelated(
    wanted: Sequence[Desired], rows: Mapping[str, ResourceRow], names: Collection[str]
) -> list[str]:
    """The names that an update would work on for other reasons, or remove."""
    hashes = {item.name: item.hash for item in wanted}
    found = [name for name in hashes if name not in rows]
    for name, row in rows.items():
        settled = row.have_hash == hashes.get(name) and row.status == COMPLETE and not row.dirty
        if name not in names and not settled:
            found.append(name)
    return found


def _is_current(row: ResourceRow, found: Found) -> bool:
    """Whether a check result is still about the instance as it is."""
    idle = not row.op and row.want == PRESENT
    return idle and row.fence == found.fence and not row_annotations.is_adopting(row)


def _find_top(
    rows: Mapping[str, ResourceRow], owners: Mapping[str, str], row: ResourceRow, root: str
) -> str:
    """The id of the instance of the stack at the top that ``row`` is, or is nested in."""
    while row.stack_id != root:
        row = rows[owners[row.stack_id]]
    return row.id


def _restrict_desired(
    services: EngineServices, item: Desired, row: ResourceRow | None, tops: Collection[str]
) -> Desired:
    """The desired state of one name: worked on if it is to be repaired, else only if it must be.

    It is from the template that it was made from last, which may be an older one.
    """
    if row is None:
        return item
    if row.id not in tops:
        return records.replace(_keep_template(services, item, row), always=False)
    return records.replace(_keep_template(services, item, row), always=True, instance=row.id)


def _keep_template(services: EngineServices, item: Desired, row: ResourceRow) -> Desired:
    """An instance that a partial update left unchanged keeps its template."""
    if row.want_hash == item.hash or row.want_template_id is None:
        return item
    known = list_desired(services, services.definitions.get(row.want_template_id))
    return next(iter(partial.list_named(known, row.name, row.want_template_id)), item)


def _build_handover(
    services: EngineServices, root_id: str, wrong: Wrong
) -> Callable[[UnitOfWork, StackRow], None]:
    """The unit that hands each instance its observed values; owners check nested ones."""

    def hand_over_wrong(work: UnitOfWork, _: StackRow) -> None:
        for key, found in wrong.items():
            row = work.tx.resource(key)
            if row is None or not _is_current(row, found):
                continue
            stack = work.stack_of(row)
            # a nested stack has its plan made by the operation of its owner
            generation = stack.generation + (stack.id != root_id)
            is_owed = row_annotations.is_owed(row)
            if stack.id != root_id:
                _mark_dirty(work, row)
                if is_owed:
                    _skip_predecessor(work, row)
            if is_owed:
                continue
            if found.verdict == MISSING:
                mark_missing(row, found, generation)
                row.updated_at = work.now
                work.resource_event(row, "CHECK", FAILED, row.status_reason)
            else:
                observed = row_annotations.seal_observed(
                    services.sealer, found.live, generation, found.left
                )
                row_annotations.annotate(row, row_annotations.REPAIR, observed)

    return hand_over_wrong


def _skip_predecessor(work: UnitOfWork, row: ResourceRow) -> None:
    """Note that the predecessor of ``row`` had drifted: no plan goes back to it."""
    before = None if row.replaces_id is None else work.tx.resource(row.replaces_id)
    if before is not None and before.want != PRESENT:
        before.have_hash = before.resolved_hash = ""


def mark_missing(row: ResourceRow, found: Found, generation: int) -> None:
    """Give a missing instance the state that a CHECK gives, for the plan of ``generation``."""
    row_annotations.annotate(row, row_annotations.MISSING, str(generation))
    reason = f"found missing: {found.reason}"
    row.action, row.status, row.status_reason = "CHECK", FAILED, reason


def _mark_dirty(work: UnitOfWork, row: ResourceRow) -> None:
    """Mark an instance of a nested stack, and the owners above it, as changed."""
    for each in (row, *work.owners(row)):
        each.dirty = each.dirty or DIRTY
