"""A nested stack whose owner goes and leaves it alone (deletion policy Retain): a stack of its own.

Called by ``transitions`` as a part of a transaction. Nothing in it is touched; what it has nested
itself stays nested in it.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow

from ..model.unit_of_work import UnitOfWork


def set_free(work: UnitOfWork, owner: ResourceRow) -> None:
    """Make the nested stack of an instance, if it has one, a stack at the top."""
    child = work.tx.child_of(owner.id)
    if child is None:
        return
    above = work.stack_of(owner).name
    work.after.detached[child.id] = child.root
    below = {each.owner_resource_id: each for each in work.tx.tree(child.root)}
    child.owner_resource_id = None
    pending = [child]
    while pending:
        each = pending.pop()
        each.root_id = child.id
        pending.extend(below[row.id] for row in work.tx.resources_of(each.id) if row.id in below)
    work.stack_event(
        child, child.action, child.status, f"Left alone by resource {owner.name} of {above}"
    )
