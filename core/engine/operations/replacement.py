"""The successor of an instance: which one it is, and whether it comes before or after the removal.

As in Heat the successor is made first, and the old instance goes in the clean-up. An instance whose
creation never completed goes before; nothing can live on it. Where nobody wants that any more, it
goes before anything new is made in its stack.
"""

from __future__ import annotations

from collections.abc import Iterator

from zonda.core.store.schema.rows import ResourceRow

from ..model import row_annotations
from ..model.row_annotations import ATTEMPT
from ..model.states import ABSENT, DIRTY, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..progress import partial, progress


def is_completed(row: ResourceRow) -> bool:
    """Whether a creation, an adoption or an update of it has ever ended well."""
    return row.have_template_id is not None


def is_left_alone(row: ResourceRow) -> bool:
    """Whether an instance that is to go was never begun, or stays what it is outside."""
    if row.fence == 0 or row_annotations.is_adopting(row):
        return True
    return row.deletion_policy == "Retain" or row.external_id is not None


def is_removed_first(row: ResourceRow) -> bool:
    """Whether an instance is removed before its successor is made."""
    if is_completed(row) or is_left_alone(row):
        return False
    return not row_annotations.has(row, row_annotations.MISSING)


def is_prepared_first(row: ResourceRow) -> bool:
    """Whether an instance is made ready before its successor is made, if its type asks for that.

    What is managed elsewhere, or not owned yet, is not touched.
    """
    if row.action == "DELETE" or row.external_id is not None:
        return False
    return is_completed(row) and not row_annotations.is_adopting(row)


def must_wait(work: UnitOfWork, row: ResourceRow) -> bool:
    """Whether ``row``, of which a new instance is to be made, waits for removals.

    What earlier plans failed to make, under whatever name, may be the same thing outside: it is
    removed now, and not at the end.
    """
    left = _list_attempts(work, row) if row_annotations.has(row, ATTEMPT) else []
    for other in left:
        progress.remove_now(work, other)
    if left:
        row.waiting = 1
        row_annotations.annotate(row, ATTEMPT, row_annotations.WAITS)
    return bool(left)


def _list_attempts(work: UnitOfWork, row: ResourceRow) -> list[ResourceRow]:
    """The instances to be deleted that were never completed when a plan dropped them."""
    return [
        each
        for each in work.rows(work.tx.list_absent(row.stack_id))
        if row_annotations.has(each, ATTEMPT)
        and not (is_left_alone(each) or row_annotations.read_promise(each))
    ]


def succeed(work: UnitOfWork, row: ResourceRow) -> None:
    """Have the successor take the place of an instance that was never completed and is gone."""
    insert_successor(work, row, row.cause)
    work.tx.remove_resource(row)


def insert_successor(work: UnitOfWork, row: ResourceRow, cause: str) -> None:
    """T1r: a new instance takes the place of ``row``, which is deleted after it is there."""
    new = _build_successor(work, row, cause)
    row_annotations.move_to_successor(row, new)
    row.want, row.open, row.dirty, row.verb, row.hook = ABSENT, 0, 0, "", ""
    edges = [(new.id, other.id) for other in work.tx.list_required(row)]
    edges += [(key, new.id) for key in _list_users(work, row)]
    work.tx.add_edges(row.stack_id, edges)
    work.look(new)


def _build_successor(work: UnitOfWork, row: ResourceRow, cause: str) -> ResourceRow:
    former = row.replaces_id if is_removed_first(row) else None
    new = ResourceRow(
        work.ids(),
        row.stack_id,
        row.name,
        row.type,
        replaces_id=former or row.id,
        cause=cause,
        generation=row.generation,
        want_hash=row.want_hash,
        want_template_id=row.want_template_id,
        requires=row.requires,
        dirty=1,
        open=1,
        created_at=work.now,
        updated_at=work.now,
    )
    work.tx.add_resources([new])
    return new


def _list_users(work: UnitOfWork, row: ResourceRow) -> Iterator[str]:
    """The names of the resources that require the successor of ``row``.

    What the plan is not for goes on with ``row``: a later plan, which is for it, looks at it.
    """
    outside = partial.read_excluded(work.stack_of(row))
    for user in work.rows(work.tx.dependants(row)):
        if user.want == PRESENT and user.name in outside:
            user.dirty = user.dirty or DIRTY
        elif user.want == PRESENT:
            yield user.id
