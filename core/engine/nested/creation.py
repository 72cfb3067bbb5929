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
from ..model.plan import Proposal
from ..model.states import COMPLETE
from ..model.work_item import Seen
from ..plan import adoption, snapshots
from ..plan.from_template import nodes_of
from ..services import Room


def as_above(room: Room, owner: Seen, child: StackRow, proposal: Proposal) -> Proposal:
    """The plan of a nested stack as what is done to its owner wants it."""
    if owner.row.op == "ADOPT":
        return adoption.below(room, owner.row, proposal, given(room, owner, row_annotations.ADOPT))
    if owner.stack.action == "RESTORE" and row_annotations.is_for(owner.row, "RESTORE"):
        return _restored(room, child, proposal, given(room, owner, row_annotations.RESTORE))
    return proposal


def members(room: Room, owner: Seen) -> tuple[str, ...]:
    """The members that the document names of which an owner is adopted."""
    known = given(room, owner, row_annotations.ADOPT).get("resources")
    return tuple(map(str, known)) if isinstance(known, Mapping) else ()


def given(room: Room, owner: Seen, kind: str) -> Mapping[str, Any]:
    """What an owner was handed."""
    return row_annotations.values(room.sealer, owner.row, kind)


def _restored(
    room: Room, child: StackRow, proposal: Proposal, handed: Mapping[str, Any]
) -> Proposal:
    part = snapshots.part(room, child, str(handed.get("snapshot")))
    if part is None or (part.action, part.status) != ("SNAPSHOT", COMPLETE):
        return proposal  # this stack is younger than the snapshot
    nodes = nodes_of(room, proposal.template_id)
    proposal = dataclasses.replace(proposal, action="RESTORE")
    return snapshots.restoring(room, proposal, part, nodes)
