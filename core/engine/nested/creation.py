"""The adoption and the restoration of nested stacks, with the stack above.

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
from ..plan.from_template import load_nodes
from ..services import EngineServices


def adapt_plan(
    services: EngineServices, owner: WorkItem, child: StackRow, proposal: StackPlan
) -> StackPlan:
    """The plan of a nested stack, adapted to the operation of its owner."""
    if owner.row.op == "ADOPT":
        return adoption.plan_child_adoption(
            services, owner.row, proposal, read_annotation(services, owner, row_annotations.ADOPT)
        )
    if owner.stack.action == "RESTORE" and row_annotations.has(owner.row, row_annotations.RESTORE):
        return _restore_plan(
            services, child, proposal, read_annotation(services, owner, row_annotations.RESTORE)
        )
    return proposal


def list_members(services: EngineServices, owner: WorkItem) -> tuple[str, ...]:
    """The members in the document from which an owner is adopted."""
    known = read_annotation(services, owner, row_annotations.ADOPT).get("resources")
    return tuple(map(str, known)) if isinstance(known, Mapping) else ()


def read_annotation(services: EngineServices, owner: WorkItem, kind: str) -> Mapping[str, Any]:
    """The annotation of an owner."""
    return row_annotations.read_values(services.sealer, owner.row, kind)


def _restore_plan(
    services: EngineServices, child: StackRow, proposal: StackPlan, handed: Mapping[str, Any]
) -> StackPlan:
    part = snapshots.find_part(services, child, str(handed.get("snapshot")))
    if part is None or (part.action, part.status) != ("SNAPSHOT", COMPLETE):
        return proposal  # this stack is younger than the snapshot
    nodes = load_nodes(services, proposal.template_id)
    proposal = dataclasses.replace(proposal, action="RESTORE")
    return snapshots.with_restore(services, proposal, part, nodes)
