"""Breakpoints: Heat's hooks, at which a resource waits until somebody clears them.

The wait stands in the row of the instance, which has no operation meanwhile; so nothing runs, no
crash ends it, and a newer plan simply takes the instance over. A cleared breakpoint is kept (with
a ``+``) until the action that it is for has begun. Called in transactions only.
"""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies

from ..model.unit_of_work import UnitOfWork

CLEARED = "+"
#: The step of an instance that is past a breakpoint; of one that is being replaced, its removal.
_PAST = {"pre-update": CLEARED + "pre-delete"}
#: Told where a wait ends with its action, which has failed or was cancelled; in Heat's words.
ENDED = "Failure occurred while waiting."


def stop_at(work: UnitOfWork, row: ResourceRow, hook: str) -> bool:
    """Whether ``row`` must wait at a breakpoint now; from then on it does."""
    stack = work.stack_of(row)
    if not stack.policies or row.hook in (CLEARED + hook, _PAST.get(hook)):
        return False
    known = policies.parse_policies(stack.policies)
    if hook not in known.hooks(row.name):
        return False
    seconds = known.wait(row.name, row.type, hook)
    row.hook, row.hook_until = hook, None if seconds is None else work.now + seconds
    action = hook.partition("-")[2].upper()
    record_event(work, row, f"{action} paused until Hook {hook} is cleared")
    return True


def is_waiting(row: ResourceRow) -> bool:
    """Whether an instance waits at a breakpoint."""
    return bool(row.hook) and not row.hook.startswith(CLEARED)


def end_all(work: UnitOfWork, stack: StackRow, by: str = "") -> None:
    """End the breakpoints of the plan of a stack: it does not go on.

    ``by``: the action that has overtaken it; nothing has failed then.
    """
    for row in work.rows(work.tx.list_paused(stack.id)) if stack.policies else ():
        if is_waiting(row):
            overtaken = f"Hook {row.hook} is left: {stack.action} was overtaken by {by}"
            record_event(work, row, overtaken if by else ENDED)
        row.hook, row.hook_until = "", None


def record_event(work: UnitOfWork, row: ResourceRow, text: str) -> None:
    """Record something about an instance whose state stays what it is."""
    work.resource_event(row, row.action, row.status, text)
