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
#: Where an instance was that is past a breakpoint: what is removed to be replaced, in its removal.
_PAST = {"pre-update": CLEARED + "pre-delete"}
#: Told where a wait ends with its action, which has failed or was cancelled; in Heat's words.
ENDED = "Failure occurred while waiting."


def stops(work: UnitOfWork, row: ResourceRow, hook: str) -> bool:
    """Whether ``row`` is to wait at a breakpoint now; from then on it does."""
    stack = work.stack_of(row)
    if not stack.policies or row.hook in (CLEARED + hook, _PAST.get(hook)):
        return False
    known = policies.read(stack.policies)
    if hook not in known.hooks(row.name):
        return False
    seconds = known.wait(row.name, row.type, hook)
    row.hook, row.hook_until = hook, None if seconds is None else work.now + seconds
    action = hook.partition("-")[2].upper()
    say(work, row, f"{action} paused until Hook {hook} is cleared")
    return True


def waits(row: ResourceRow) -> bool:
    """Whether an instance waits at a breakpoint."""
    return bool(row.hook) and not row.hook.startswith(CLEARED)


def end_all(work: UnitOfWork, stack: StackRow, by: str = "") -> None:
    """The plan that the breakpoints of a stack are of does not go on: nobody waits any more.

    ``by``: the action that has overtaken it; nothing has failed then.
    """
    for key in work.tx.paused(stack.id) if stack.policies else ():
        row = work.tx.resource(key)
        if row is not None:
            if waits(row):
                overtaken = f"Hook {row.hook} is left: {stack.action} was overtaken by {by}"
                say(work, row, overtaken if by else ENDED)
            row.hook, row.hook_until = "", None


def say(work: UnitOfWork, row: ResourceRow, text: str) -> None:
    """Record something about an instance whose state stays what it is."""
    work.resource_event(row, row.action, row.status, text)
