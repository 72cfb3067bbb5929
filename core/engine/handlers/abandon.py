"""Abandonment: a stack and its nested stacks are forgotten, their objects are left alone.

The document that was made of it is what is left. So the caller makes that first and says, by its
digest, what it has seen: if the stack has changed since, nothing is forgotten.
"""

from __future__ import annotations

from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict

from .. import actions
from ..model import documents
from ..model.plan import Given
from ..model.states import COMPLETE, IDLE
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Change
from ..plan.from_template import check_idle, check_root
from ..progress import history
from ..services import EngineServices


def abandon(services: EngineServices, stack: StackRow, action: actions.AbandonStack) -> Change:
    """Forget a stack."""
    check_root(services, stack)

    def forget(work: UnitOfWork, stack: StackRow) -> None:
        tree = [*walk_down(stack, work.tx.tree(stack.root), work.tx.resources_of)]
        for each, _ in tree if not action.force else ():
            check_idle(each)
        if (
            documents.combine_digests([_compute_digest(work, *each) for each in tree], work.sealer)
            != action.digest
        ):
            raise Conflict(
                f"Stack {stack.name} has changed since the document was made of it.",
                hint="Nothing was forgotten: abandon it again.",
            )
        for each, rows in tree:
            _delete_rows(work, each, rows, services.settings.user)

    return forget


def _compute_digest(work: UnitOfWork, stack: StackRow, rows: list[ResourceRow]) -> str:
    known = documents.select_existing_rows(rows)
    data = [work.tx.data(row.id) for row in known]
    return documents.compute_digest(stack, known, data, work.sealer)


def _delete_rows(work: UnitOfWork, stack: StackRow, rows: list[ResourceRow], user: str) -> None:
    """Delete every row; a running operation finds that its row is gone, and stores nothing."""
    for row in rows:
        work.tx.remove_resource(row)
        if row.op:
            work.stop(row)
    work.tx.drop_snapshots(stack.id)
    history.end_overtaken(work, stack, "ABANDON")
    stack.generation += 1
    stack.action, stack.phase, stack.next_action, stack.before = "DELETE", IDLE, "", ""
    stack.remaining = stack.halted = 0
    stack.deadline, stack.deleted_at = None, work.now
    history.begin(work, stack, Given(user, {"abandoned": True}))
    work.stack_state(stack, COMPLETE, "Stack abandoned: its resources were left as they are")
    history.end(work, stack, COMPLETE)
    work.after.idle[stack.id] = None
