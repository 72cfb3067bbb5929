"""``ApplyPlan``: apply a plan file, or refuse it with the changes made since."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from zonda.core.engine.actions import ApplyPlan, CreateStack
from zonda.core.store.schema.rows import StackRow
from zonda.hooks import records
from zonda.hooks.errors import ActionInProgress, Conflict, NotFound, NotSupported, UsageError

from ..model.effects import Step
from ..model.plan import StackPlan
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, propose_and_accept
from ..services import EngineServices
from .plan_file import Promise, build_impossible_error
from .preview import build_preview

Also = Callable[[UnitOfWork, StackRow], None]

_ALREADY = "it was carried out already."


def apply_plan(services: EngineServices, action: ApplyPlan, note: Noted) -> Step:
    """Accept the plan of the file; returns ``Accepted``, raises Conflict if it is out of date."""
    return (yield from propose_and_accept(lambda: load_plan_file(services, action), note))


def load_plan_file(
    services: EngineServices, action: ApplyPlan
) -> tuple[StackPlan | None, StackRow]:
    """The plan of a plan file, limited to the operations that it says."""
    promise = Promise(action.plan, services.sealer)
    if promise.project != services.settings.project:
        raise UsageError(
            f"The plan was made in the project {promise.project}; "
            f"this is {services.settings.project}.",
            hint=f"Carry it out with '--set project={promise.project}', or make a plan here.",
        )
    mark = services.sealer.hmac(action.plan.encode())[:12]
    if any(past.detail.get("plan") == mark for past in services.reader().actions(promise.stack_id)):
        raise build_impossible_error(_ALREADY)
    promised = _promise_id(services, promise)
    facts = services.reader().tree_facts(promise.stack_id)  # read before all that is looked at
    try:
        found = build_preview(promised, promise.action)
    except ActionInProgress:
        raise
    except (Conflict, NotFound, NotSupported) as error:
        raise build_impossible_error(error.message) from error
    promise.check(found, services.sealer, services.definitions)
    proposal = found.proposal
    if proposal is None:
        return None, found.stack
    detail: dict[str, Any] = {**proposal.given.detail, "plan": mark}
    given = records.replace(proposal.given, detail=detail)
    limited = records.replace(
        proposal,
        ceilings=found.ceilings,
        given=given,
        also=_build_ceiling_write(found.ceilings_below, proposal.also),
        facts=facts,
    )
    return limited, found.stack


def _build_ceiling_write(ceilings: Mapping[str, str], also: Also | None) -> Also:
    """Writes the ceilings of nested instances, then calls ``also``."""

    def write(work: UnitOfWork, stack: StackRow) -> None:
        if also is not None:
            also(work, stack)
        for row in work.rows(ceilings):
            if row.ceiling != ceilings[row.id]:
                row.ceiling = ceilings[row.id]

    return write


def _promise_id(services: EngineServices, promise: Promise) -> EngineServices:
    """The services with the promised id as next id: templates may show it."""
    if not isinstance(promise.action, CreateStack):
        return services
    try:
        services.reader().stack_row(promise.stack_id)
    except NotFound:
        ids = chain([promise.stack_id], iter(services.ids, None))
        return records.replace(services, ids=lambda: next(ids))
    raise build_impossible_error(_ALREADY)
