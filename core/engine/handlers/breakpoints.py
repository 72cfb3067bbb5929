"""Clearing breakpoints: by time, by command, or by a signal as Heat's clients send it."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment.zonda_section import BREAKPOINTS
from zonda.hooks.errors import NotFound, NotSupported, RequestError
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..model.unit_of_work import UnitOfWork
from ..operations import transitions
from ..plan.accept import Change
from ..progress import breakpoints, progress
from ..progress.history import add_user
from ..services import EngineServices

#: The key of a signal that clears a breakpoint.
UNSET = "unset_hook"


def clear(work: UnitOfWork, row: ResourceRow, why: str = "") -> None:
    """Let an instance that waits go on; ``why`` is added to the event."""
    hook, row.hook, row.hook_until = row.hook, breakpoints.CLEARED + row.hook, None
    breakpoints.record_event(work, row, f"Hook {hook} is cleared{why}")
    if not hook.startswith("post-"):
        work.look(row)
        return
    row.hook = ""
    if hook == "post-delete":
        transitions.remove(work, row)
    else:
        progress.close(work, row, changed=True)


def clear_expired(work: UnitOfWork, key: str) -> None:
    """Clear a breakpoint whose time is over."""
    row = work.tx.resource(key)
    if row is None or not breakpoints.is_waiting(row) or row.hook_until is None:
        return
    if row.hook_until < work.now:
        clear(work, row, ": its time is over")


def clear_hooks(services: EngineServices, stack: StackRow, action: actions.ClearHooks) -> Change:
    """Clear the breakpoints of the named resources; raises if one of them waits at none.

    What is in a nested stack is named by the way to it, ``owner/member``; each part of the way may
    be a pattern.
    """

    def clear_chosen(work: UnitOfWork, stack: StackRow) -> None:
        chosen = {
            row.id: row
            for pattern in action.resources
            for row in _match(work, stack.id, pattern, action.hooks)
        }
        for row in chosen.values():
            clear(work, row, add_user("", services.settings.user))

    return clear_chosen


def build_clearance(action: actions.SignalResource) -> actions.ClearHooks:
    """The action that clears the breakpoint named by a signal with ``unset_hook``; others stay."""
    hook = action.details[UNSET]
    if hook not in BREAKPOINTS:
        raise _build_error(
            f'Invalid hook type "{hook}" for {action.resource}',
            suggestion(hook, BREAKPOINTS) or f"The hooks are {', '.join(BREAKPOINTS)}.",
        )
    return actions.ClearHooks(action.stack, (action.resource,), (hook,))


def _list_waiting(work: UnitOfWork, stack_id: str) -> list[ResourceRow]:
    return [*filter(breakpoints.is_waiting, work.rows(work.tx.list_paused(stack_id)))]


def _find_nested(work: UnitOfWork, stack_id: str, way: str) -> list[str]:
    """The ids of the nested stacks that match a path of patterns; raises NotFound."""
    stacks = [stack_id]
    for part in filter(None, way.split("/")):
        rows = [row for each in stacks for row in work.tx.resources_of(each)]
        children = [work.tx.child_of(row.id) for row in rows if fnmatchcase(row.name, part)]
        stacks = [child.id for child in children if child is not None]
        if not stacks:
            raise NotFound("Resource", part, hint=suggestion(part, [row.name for row in rows]))
    return stacks


def _match(
    work: UnitOfWork, stack_id: str, pattern: str, hooks: Collection[str]
) -> list[ResourceRow]:
    way, _, name = pattern.rpartition("/")
    stacks = _find_nested(work, stack_id, way)
    waiting = [row for each in stacks for row in _list_waiting(work, each)]
    fitting = [row for row in waiting if row.name == name or fnmatchcase(row.name, name)]
    found = [row for row in fitting if not hooks or row.hook in hooks]
    if found:
        return found
    if not fitting and "*" not in pattern:
        names = [row.name for each in stacks for row in work.tx.resources_of(each)]
        if name not in names:
            raise NotFound("Resource", pattern, hint=suggestion(name, names))
    at = ", ".join(f"{row.name} at {row.hook}" for row in waiting)
    hint = f"What waits: {at}." if at else "Nothing in this stack waits at a hook."
    shown = " or ".join(f'"{hook}"' for hook in hooks)
    what = f"The {shown} hook is not defined" if hooks else "No hook is reached"
    raise _build_error(f"{what} on {pattern}", hint)


def _build_error(message: str, hint: str) -> RequestError:
    error = NotSupported(message, hint=hint)
    error.heat_type = "InvalidBreakPointHook"
    return error
