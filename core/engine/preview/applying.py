"""``ApplyPlan``: exactly what a plan file says, or a refusal that names what has changed since."""

from __future__ import annotations

import dataclasses
from typing import Any

from zonda.core.engine.accepting import Noted, planned
from zonda.core.engine.actions import ApplyPlan
from zonda.core.engine.effects import Step
from zonda.core.engine.planning import Proposal
from zonda.core.engine.room import Room
from zonda.core.store.rows import StackRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported

from .making import preview
from .promise import Promise, stack_is_gone


def apply_plan(room: Room, action: ApplyPlan, note: Noted) -> Step:
    """Plan what the file says; gives ``Accepted``. Raises Conflict where it is out of date."""
    return (yield from planned(lambda: applied(room, action), note))


def applied(room: Room, action: ApplyPlan) -> tuple[Proposal | None, StackRow]:
    """The proposal of a plan file, with nothing stronger allowed than it says."""
    promise = Promise(action.plan, room.sealer)
    try:
        found = preview(room, promise.action)
    except (Conflict, NotFound, NotSupported) as error:
        raise stack_is_gone(error) from error
    promise.check(found, room.sealer, room.definitions)
    proposal = found.proposal
    if proposal is None:
        return None, found.stack
    detail: dict[str, Any] = {
        **proposal.given.detail,
        "plan": room.sealer.hmac(action.plan.encode())[:12],
    }
    given = dataclasses.replace(proposal.given, detail=detail)
    return dataclasses.replace(proposal, ceilings=found.ceilings, given=given), found.stack
