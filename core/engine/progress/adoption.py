"""The end of an adoption: the stack owns its resources once all of it has worked.

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


def take_ownership(work: UnitOfWork, stack: StackRow) -> str:
    """Take ownership of the adopted instances, in nested stacks too, within the plan's part.

    Nothing where ``stack`` is a nested one: the one at the top has to work first. Gives what is to
    be told of things that belong to somebody else by now.
    """
    if stack.owner_resource_id is not None:
        return ""
    left = []
    for row in _list_adopting(work, stack):
        if is_unowned(work, row):
            row_annotations.remove(row, row_annotations.ADOPT, row_annotations.FORCED)
        else:
            left.append(row.name)
    if not left:
        return ""
    return f"; not taken over, for they belong to another resource: {', '.join(sorted(left))}"


def clear_annotations(work: UnitOfWork, row: ResourceRow, op: str = "") -> None:
    """Remove the annotations of ``op``, which has ended well, or is not needed (no ``op``).

    What belongs to somebody else by now stays what is not ours.
    """
    before = row.given if row_annotations.is_adopting(row) else None
    if op in ("", "ADOPT", "CHECK"):
        row_annotations.end(row, "keep", work.stack_of(row).action)
    else:
        row_annotations.end(row, "finish", op)
    if (
        before is not None
        and not row_annotations.is_adopting(row)
        and not is_unowned(work, row, before)
    ):
        row.given = before


def is_unowned(work: UnitOfWork, row: ResourceRow, given: str | None = None) -> bool:
    """Whether no other resource owns the object of an instance; ``given``: its annotations."""
    known = row.given if given is None else given
    if row.physical_id is None or row_annotations.FORCED in row_annotations.parse(known):
        return True
    kind = row.class_type or row.type
    for key, other_type, other_given in work.tx.find_by_physical_id(row.physical_id):
        if (
            key != row.id
            and other_type == kind
            and row_annotations.ADOPT not in row_annotations.parse(other_given)
        ):
            return False
    return True


def _list_adopting(work: UnitOfWork, stack: StackRow) -> Iterator[ResourceRow]:
    """Every instance that is being adopted, from here down."""
    outside = partial.read_excluded(stack)

    def members(stack_id: str) -> list[ResourceRow]:
        rows = work.tx.resources_of(stack_id)
        return [row for row in rows if stack_id != stack.id or row.name not in outside]

    for _, rows in walk_down(stack, work.tx.tree(stack.root), members):
        yield from filter(row_annotations.is_adopting, rows)
