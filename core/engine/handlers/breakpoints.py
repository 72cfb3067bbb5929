"""Clearing breakpoints: by time, by command, or by a signal as Heat's clients send it."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.environment.zonda_section import BREAKPOINTS
from zonda.hooks.errors import NotFound, NotSupported, RequestError
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..actions import Accepted
from ..model.effects import Call, Step, Tx
from ..model.unit_of_work import UnitOfWork
from ..operations import transitions
from ..plan.accept import Noted, accepted_as, noting
from ..plan.from_template import named
from ..progress import breakpoints, progress
from ..progress.history import signed
from ..services import EngineServices

#: The key of a signal that clears a breakpoint.
UNSET = "unset_hook"


def clear(work: UnitOfWork, row: ResourceRow, why: str = "") -> None:
    """Let an instance that waits go on; ``why`` is added to what is told."""
    hook, row.hook, row.hook_until = row.hook, breakpoints.CLEARED + row.hook, None
    breakpoints.say(work, row, f"Hook {hook} is cleared{why}")
    if not hook.startswith("post-"):
        work.look(row)
        return
    row.hook = ""
    if hook == "post-delete":
        transitions.gone(work, row)
    else:
        progress.close(work, row, changed=True)


def is_past_time(work: UnitOfWork, key: str) -> None:
    """Clear a breakpoint whose time is over."""
    row = work.tx.resource(key)
    if row is None or not breakpoints.waits(row) or row.hook_until is None:
        return
    if row.hook_until < work.now:
        clear(work, row, ": its time is over")


def clear_hooks(services: EngineServices, action: actions.ClearHooks, note: Noted) -> Step:
    """Clear what the named resources wait at; raises if one of them waits at nothing.

    What is in a nested stack is named by the way to it, ``owner/member``; each part of the way may
    be a pattern.
    """
    stack = yield Call(lambda: named(services, action.stack))

    def run(work: UnitOfWork) -> Accepted:
        chosen = {
            row.id: row
            for pattern in action.resources
            for row in _chosen(work, stack.id, pattern, action.hooks)
        }
        for row in chosen.values():
            clear(work, row, signed("", services.settings.user))
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def clear_by_signal(services: EngineServices, action: actions.SignalResource, note: Noted) -> Step:
    """What a signal with ``unset_hook`` asks for; other resources' breakpoints stay."""
    hook = action.details[UNSET]
    if hook not in BREAKPOINTS:
        raise _invalid(
            f'Invalid hook type "{hook}" for {action.resource}',
            suggestion(hook, BREAKPOINTS) or f"The hooks are {', '.join(BREAKPOINTS)}.",
        )
    clearing = actions.ClearHooks(action.stack, (action.resource,), (hook,))
    return (yield from clear_hooks(services, clearing, note))


def _waiting(work: UnitOfWork, stack_id: str) -> list[ResourceRow]:
    rows = (work.tx.resource(key) for key in work.tx.paused(stack_id))
    return [row for row in rows if row is not None and breakpoints.waits(row)]


def _below(work: UnitOfWork, stack_id: str, way: str) -> list[str]:
    """The nested stacks that a way of patterns leads to; raises NotFound."""
    stacks = [stack_id]
    for part in filter(None, way.split("/")):
        rows = [row for each in stacks for row in work.tx.resources_of(each)]
        children = [work.tx.child_of(row.id) for row in rows if fnmatchcase(row.name, part)]
        stacks = [child.id for child in children if child is not None]
        if not stacks:
            raise NotFound("Resource", part, hint=suggestion(part, [row.name for row in rows]))
    return stacks


def _chosen(
    work: UnitOfWork, stack_id: str, pattern: str, hooks: Collection[str]
) -> list[ResourceRow]:
    way, _, name = pattern.rpartition("/")
    stacks = _below(work, stack_id, way)
    waiting = [row for each in stacks for row in _waiting(work, each)]
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
    raise _invalid(f"{what} on {pattern}", hint)


def _invalid(message: str, hint: str) -> RequestError:
    error = NotSupported(message, hint=hint)
    error.heat_type = "InvalidBreakPointHook"
    return error
