"""Abandonment: a stack is forgotten with all that is nested in it, what it made is left alone.

The document that was made of it is what is left. So the caller makes that first and says, by its
digest, what it has seen: if the stack has changed since, nothing is forgotten.
"""

from __future__ import annotations

from zonda.core.store.read.tree_paths import walk_down
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict

from .. import actions
from ..actions import Accepted
from ..model import documents
from ..model.effects import Call, Step, Tx
from ..model.plan import Given
from ..model.states import COMPLETE, IDLE
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, accepted_as, noting
from ..plan.from_template import check_idle, root_named
from ..progress import history
from ..services import EngineServices


def abandon(services: EngineServices, action: actions.AbandonStack, note: Noted) -> Step:
    """Forget a stack; gives ``Accepted``."""
    stack: StackRow = yield Call(lambda: root_named(services, action.stack))

    def forget(work: UnitOfWork) -> Accepted:
        found = work.tx.stack(stack.id)
        if found is None or found.deleted_at is not None:
            raise Conflict(f"Stack {stack.name} has been deleted meanwhile.")
        tree = [*walk_down(found, work.tx.tree(found.root), work.tx.resources_of)]
        for each, _ in tree if not action.force else ():
            check_idle(each)
        if documents.joined([_digest(work, *each) for each in tree], work.sealer) != action.digest:
            raise Conflict(
                f"Stack {found.name} has changed since the document was made of it.",
                hint="Nothing was forgotten: abandon it again.",
            )
        for each, rows in tree:
            _forget(work, each, rows, services.settings.user)
        return accepted_as(found)

    return (yield Tx(noting(forget, note)))


def _digest(work: UnitOfWork, stack: StackRow, rows: list[ResourceRow]) -> str:
    known = documents.known_rows(rows)
    data = [work.tx.data(row.id) for row in known]
    return documents.digest(stack, known, data, work.sealer)


def _forget(work: UnitOfWork, stack: StackRow, rows: list[ResourceRow], user: str) -> None:
    """Take every row away; what runs notices that its row is gone, and stores nothing."""
    for row in rows:
        work.tx.remove_resource(row)
        if row.op:
            work.stop(row)
    work.tx.drop_snapshots(stack.id)
    history.overtake(work, stack, "ABANDON")
    stack.generation += 1
    stack.action, stack.phase, stack.next_action, stack.before = "DELETE", IDLE, "", ""
    stack.remaining = stack.halted = 0
    stack.deadline, stack.deleted_at = None, work.now
    history.begin(work, stack, Given(user, {"abandoned": True}))
    work.stack_state(stack, COMPLETE, "Stack abandoned: its resources were left as they are")
    history.end(work, stack, COMPLETE)
    work.after.idle[stack.id] = None
