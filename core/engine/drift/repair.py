"""Putting right what was found: an update to the template as it is, of nothing but that.

What was observed of a resource that has drifted takes the place of its former properties, so that
its type is asked to change just what differs, or it is replaced where that may not be changed.
What is missing is replaced, as after a CHECK that has failed. Observations are good for one plan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence

from zonda.core.engine.actions import Accepted
from zonda.core.graph.digraph import cone, dependents
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.store.schema.words import MISSING, REPAIR
from zonda.hooks.errors import NotSupported, ZondaError

from .. import actions
from ..model import row_annotations
from ..model.effects import Call, Step, Tx, Wait
from ..model.plan import Desired, Given, StackPlan
from ..model.states import COMPLETE, DIRTY, FAILED, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, accepted_as, planned, unnoted
from ..plan.from_template import check_meant, check_overtakes, live, stored, wanted_by
from ..plan.selection import without
from ..progress import partial
from ..services import EngineServices
from . import store
from .actions import beginning, scoped
from .findings import Check, Found

#: Seconds between two looks at whether a check has ended, at first and at most.
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.5

Wrong = Mapping[str, Found]


def repair(services: EngineServices, action: actions.RepairDrift, note: Noted) -> Step:
    """Look at what is named, or at everything, then plan to put right what has drifted."""
    stack, scope = yield Call(lambda: to_repair(services, action))
    accepted, check = yield Tx(beginning(services, stack, scope, REPAIR, unnoted))
    look = _FIRST_LOOK
    while check.outcome is None:
        yield Wait(look, "")
        look = min(2 * look, _LAST_LOOK)
    if not check.outcome:
        raise NotSupported(
            f"Stack {stack.name} is not repaired: the check of what there is has not come to its "
            f"end: {check.row.reason}."
        )

    def noted(work: UnitOfWork, answer: Accepted) -> None:
        note(work, dataclasses.replace(answer, check_id=accepted.check_id))

    wrong = check.wrong
    if not wrong:
        answer = yield from _nothing(stack, noted)
    else:
        answer = yield from planned(_proposing(services, stack.id, wrong), noted)
    return dataclasses.replace(answer, check_id=accepted.check_id)


def after_check(services: EngineServices, check: Check) -> Step:
    """Put right what a check by schedule has found; tells where that cannot even begin."""
    stack_id, wrong = check.row.stack_id, check.wrong
    try:
        return (yield from planned(_proposing(services, stack_id, wrong)))
    except ZondaError as error:
        reason = f"what has drifted could not be repaired: {error.message}"

        def tell(work: UnitOfWork) -> None:
            stack = work.tx.stack(stack_id)
            if stack is not None:
                work.stack_event(stack, store.DRIFT, FAILED, reason)

        yield Tx(tell)


def to_repair(
    services: EngineServices, action: actions.RepairDrift
) -> tuple[StackRow, tuple[str, ...]]:
    """The stack, and what has to be looked at: () for all."""
    stack, scope = scoped(services, action.stack, action.resources)
    _check_may(stack)
    return stack, scope


def _check_may(stack: StackRow) -> None:
    if stack.suspended:
        raise NotSupported(
            "Repairing a stack when it is suspended is not supported.", hint="Resume it first."
        )
    check_meant(stack, "UPDATE")
    check_overtakes(stack, "CHECK")  # nothing else may run: it is no new wish


def _nothing(seen: StackRow, note: Noted) -> Step:
    """There is nothing to be done: the answer names the plan that there is."""

    def run(work: UnitOfWork) -> Accepted:
        stack = work.tx.stack(seen.id)
        accepted = accepted_as(seen if stack is None else stack)
        note(work, accepted)
        return accepted

    return (yield Tx(run))


def _proposing(
    services: EngineServices, stack_id: str, wrong: Wrong
) -> Callable[[], tuple[StackPlan | None, StackRow]]:
    def propose() -> tuple[StackPlan | None, StackRow]:
        stack = live(services.reader().stack_row(stack_id), stack_id)
        return proposal(services, stack, wrong), stack

    return propose


def proposal(services: EngineServices, stack: StackRow, wrong: Wrong) -> StackPlan | None:
    """The plan that puts right what was found ``wrong``; None where that has changed since."""
    _check_may(stack)
    reader = services.reader()
    rows = {row.id: row for row in reader.tree_resources(stack.id)}
    fits = {key: each for key, each in wrong.items() if key in rows and _fits(rows[key], each)}
    if not fits or stack.template_id is None:
        return None
    owners = {child: owner for child, owner, _, _ in reader.owners_below(stack.id)}
    mine = {
        row.name: row for row in rows.values() if row.stack_id == stack.id and row.want == PRESENT
    }
    tops = {_top(rows, owners, rows[key], stack.id) for key in fits}
    made = stored(services, stack, "UPDATE", stack.template_id, keeps_protected=True)
    requires = {item.name: item.requires for item in made.wanted or ()}
    # a replacement has another reference
    names = cone({rows[key].name for key in tops}, dependents(requires))
    wanted = [_only(services, item, mine.get(item.name), tops) for item in made.wanted or ()]
    left_out = _left_out(wanted, mine, names)
    leaving = {row.name for row in rows.values() if row.stack_id == stack.id and not _stays(row)}
    _check_well(stack, [*left_out, *(leaving - names)])
    return dataclasses.replace(
        made,
        wanted=wanted,
        changes={},
        selection=without([*mine, *(item.name for item in wanted)], left_out),
        given=Given(services.settings.user, {"repairs": sorted(rows[key].name for key in fits)}),
        also=_handing(services, stack.id, fits),
    )


def _stays(row: ResourceRow) -> bool:
    return row.want == PRESENT


def _check_well(stack: StackRow, others: Sequence[str]) -> None:
    """Raise NotSupported where a repair would end well although the stack is not.

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


def _left_out(
    wanted: Sequence[Desired], rows: Mapping[str, ResourceRow], names: Collection[str]
) -> list[str]:
    """What an update would work on for other reasons, or remove."""
    hashes = {item.name: item.hash for item in wanted}
    found = [name for name in hashes if name not in rows]
    for name, row in rows.items():
        settled = row.have_hash == hashes.get(name) and row.status == COMPLETE and not row.dirty
        if name not in names and not settled:
            found.append(name)
    return found


def _fits(row: ResourceRow, found: Found) -> bool:
    """Whether what was observed is of the instance as it is."""
    idle = not row.op and row.want == PRESENT
    return idle and row.fence == found.fence and not row_annotations.is_adopting(row)


def _top(
    rows: Mapping[str, ResourceRow], owners: Mapping[str, str], row: ResourceRow, root: str
) -> str:
    """The id of the instance of the stack at the top that ``row`` is, or is nested in."""
    while row.stack_id != root:
        row = rows[owners[row.stack_id]]
    return row.id


def _only(
    services: EngineServices, item: Desired, row: ResourceRow | None, tops: Collection[str]
) -> Desired:
    """What is wanted of one name: looked at where it is to be repaired, and else only if it must.

    It is from the template that it was made from last, which may be an older one.
    """
    if row is None:
        return item
    if row.id not in tops:
        return dataclasses.replace(_as_left(services, item, row), always=False)
    return dataclasses.replace(_as_left(services, item, row), always=True, instance=row.id)


def _as_left(services: EngineServices, item: Desired, row: ResourceRow) -> Desired:
    """What an update of a part has left as it was is from the template before."""
    if row.want_hash == item.hash or row.want_template_id is None:
        return item
    known = wanted_by(services, services.definitions.get(row.want_template_id))
    return next(iter(partial.of_template(known, row.name, row.want_template_id)), item)


def _handing(
    services: EngineServices, root_id: str, wrong: Wrong
) -> Callable[[UnitOfWork, StackRow], None]:
    """Hand every instance what was observed of it; nested ones are looked at by their owners."""

    def also(work: UnitOfWork, _: StackRow) -> None:
        for key, found in wrong.items():
            row = work.tx.resource(key)
            if row is None or not _fits(row, found):
                continue
            stack = work.stack_of(row)
            # a nested stack has its plan made by the operation of its owner
            generation = stack.generation + (stack.id != root_id)
            is_owed = row_annotations.is_owed(row)
            if stack.id != root_id:
                _mark(work, row)
                if is_owed:
                    _pass_over(work, row)
            if is_owed:
                continue
            if found.verdict == MISSING:
                as_missing(row, found, generation)
                row.updated_at = work.now
                work.resource_event(row, "CHECK", FAILED, row.status_reason)
            else:
                given = row_annotations.observed(
                    services.sealer, found.live, generation, found.left
                )
                row_annotations.hand(row, given)

    return also


def _pass_over(work: UnitOfWork, row: ResourceRow) -> None:
    """What ``row`` was to replace had drifted: a plan does not go back to that."""
    before = None if row.replaces_id is None else work.tx.resource(row.replaces_id)
    if before is not None and before.want != PRESENT:
        before.have_hash = before.resolved_hash = ""


def as_missing(row: ResourceRow, found: Found, generation: int) -> None:
    """What is missing is what a CHECK has found to be gone, for the plan of ``generation``."""
    row_annotations.hand(row, row_annotations.missing(generation))
    reason = f"found missing: {found.reason}"
    row.action, row.status, row.status_reason = "CHECK", FAILED, reason


def _mark(work: UnitOfWork, row: ResourceRow) -> None:
    """An instance of a nested stack is to be looked at, and so is everything that it is below."""
    for each in (row, *work.owners(row)):
        each.dirty = each.dirty or DIRTY
