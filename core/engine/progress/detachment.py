"""Detachment of a nested stack whose owner leaves it (policy Retain): it becomes a root stack.

Called by ``transitions`` as a part of a transaction. Nothing in it is touched; what it has nested
itself stays nested in it.
"""

from __future__ import annotations

from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow

from ..model.unit_of_work import UnitOfWork


def detach(work: UnitOfWork, owner: ResourceRow) -> None:
    """Make the nested stack of an instance, if it has one, a stack at the top."""
    child = work.tx.child_of(owner.id)
    if child is None:
        return
    above = work.stack_of(owner).name
    work.after.detached[child.id] = child.root
    stacks = work.tx.tree(child.root)
    child.owner_resource_id = None
    for each, _ in walk_down(child, stacks, work.tx.resources_of):
        each.root_id = child.id
    work.stack_event(
        child, child.action, child.status, f"Left alone by resource {owner.name} of {above}"
    )
