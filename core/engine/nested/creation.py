"""Nested stacks that are not simply made: adopted, or gone back to, like the stack above.

In the pool. The plan of the template is there already; what it is for, and what it hands to the
members, is added here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from zonda.core.store.schema.rows import StackRow

from ..model import row_annotations
from ..model.plan import StackPlan
from ..model.states import COMPLETE
from ..model.work_item import WorkItem
from ..plan import adoption, snapshots
from ..plan.from_template import nodes_of
from ..services import EngineServices


def as_above(
    services: EngineServices, owner: WorkItem, child: StackRow, proposal: StackPlan
) -> StackPlan:
    """The plan of a nested stack as what is done to its owner wants it."""
    if owner.row.op == "ADOPT":
        return adoption.below(
            services, owner.row, proposal, given(services, owner, row_annotations.ADOPT)
        )
    if owner.stack.action == "RESTORE" and row_annotations.is_for(owner.row, "RESTORE"):
        return _restored(services, child, proposal, given(services, owner, row_annotations.RESTORE))
    return proposal


def members(services: EngineServices, owner: WorkItem) -> tuple[str, ...]:
    """The members that the document names of which an owner is adopted."""
    known = given(services, owner, row_annotations.ADOPT).get("resources")
    return tuple(map(str, known)) if isinstance(known, Mapping) else ()


def given(services: EngineServices, owner: WorkItem, kind: str) -> Mapping[str, Any]:
    """What an owner was handed."""
    return row_annotations.values(services.sealer, owner.row, kind)


def _restored(
    services: EngineServices, child: StackRow, proposal: StackPlan, handed: Mapping[str, Any]
) -> StackPlan:
    part = snapshots.part(services, child, str(handed.get("snapshot")))
    if part is None or (part.action, part.status) != ("SNAPSHOT", COMPLETE):
        return proposal  # this stack is younger than the snapshot
    nodes = nodes_of(services, proposal.template_id)
    proposal = dataclasses.replace(proposal, action="RESTORE")
    return snapshots.restoring(services, proposal, part, nodes)
