"""When what was adopted becomes a stack's own: once the adoption of all of it has worked.

Parts of transactions, called by ``phases`` and ``transitions``. Until then it belongs to whoever
made it, so that another stack may have adopted it meanwhile, and that one's it is then: here it
stays a thing that is not ours to delete.
"""

from __future__ import annotations

from collections.abc import Iterator

from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow, StackRow

from ..model import row_annotations
from ..model.unit_of_work import UnitOfWork
from . import partial


def over(work: UnitOfWork, stack: StackRow) -> str:
    """Take over what was adopted, in nested stacks, too, but for what the plan was not for.

    Nothing where ``stack`` is a nested one: the one at the top has to work first. Gives what is to
    be told of things that belong to somebody else by now.
    """
    if stack.owner_resource_id is not None:
        return ""
    left = []
    for row in _adopted(work, stack):
        if is_free(work, row):
            row_annotations.drop(row, row_annotations.ADOPT)
        else:
            left.append(row.name)
    if not left:
        return ""
    return f"; not taken over, for they belong to another resource: {', '.join(sorted(left))}"


def ended(work: UnitOfWork, row: ResourceRow, action: str, op: str = "") -> None:
    """Forget what was handed to an operation that has ended well (``handing.has_ended``).

    What belongs to somebody else by now stays what is not ours.
    """
    before = row.given if row_annotations.is_adopting(row) else None
    row_annotations.has_ended(row, action, op)
    if (
        before is not None
        and not row_annotations.is_adopting(row)
        and not is_free(work, row, before)
    ):
        row.given = before


def is_free(work: UnitOfWork, row: ResourceRow, given: str | None = None) -> bool:
    """Whether no other resource owns the object of an instance; ``given``: what it was handed."""
    known = row.given if given is None else given
    if row.physical_id is None or row_annotations.says_forced(known):
        return True
    kind = row.class_type or row.type
    for key, other_type, other_given in work.tx.with_physical_id(row.physical_id):
        if key != row.id and other_type == kind and not row_annotations.says_adopting(other_given):
            return False
    return True


def _adopted(work: UnitOfWork, stack: StackRow) -> Iterator[ResourceRow]:
    """Every instance that is being adopted, from here down."""
    outside = partial.outside(stack)

    def members(stack_id: str) -> list[ResourceRow]:
        rows = work.tx.resources_of(stack_id)
        return [row for row in rows if stack_id != stack.id or row.name not in outside]

    for _, rows in walk_down(stack, work.tx.tree(stack.root), members):
        yield from filter(row_annotations.is_adopting, rows)
