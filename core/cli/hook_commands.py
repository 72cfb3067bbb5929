"""``zonda stack hook poll`` and ``zonda stack hook clear``."""

from __future__ import annotations

import argparse

from zonda.core.engine.actions import ClearHooks
from zonda.core.store.views import EventView

from . import output
from .session import Session
from .stack_change import say_planned

_HOOKS = ("pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete")
_COLUMNS = ("resource_name", "hook", "resource_status", "event_time", "cleared_at")
_PAGE = 1000


def poll_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack hook poll``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    output.add_arguments(parser)


def poll(session: Session, arguments: argparse.Namespace) -> int:
    """One row per resource that waits at a breakpoint."""
    reader = session.app.reader
    stack = session.app.stack(arguments.stack)
    waiting = [one for one in reader.resources(stack.id, absent=True) if one.hook]
    since = _since(session, stack.id) if waiting else {}
    found = [
        (
            one.name,
            one.hook,
            one.state,
            output.moment(since.get(one.id)),
            output.moment(one.hook_until),
        )
        for one in waiting
    ]
    screen = session.screen
    output.rows(screen.out, arguments, _COLUMNS, found, screen.width)
    return 0


def _since(session: Session, stack_id: str) -> dict[str | None, float]:
    """When each resource came to where it waits: by its last event that says so."""
    found: dict[str | None, float] = {}
    after = 0
    while page := session.app.reader.events(stack_id, after=after, limit=_PAGE):
        found.update((event.resource_id, event.at) for event in page if _says_so(event))
        after = page[-1].seq
    return found


def _says_so(event: EventView) -> bool:
    return " paused until Hook " in event.reason


def clear_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``stack hook clear``."""
    parser.add_argument("stack", metavar="STACK", help="name or id")
    parser.add_argument("resources", metavar="RESOURCE", nargs="+", help="name, or pattern with *")
    for hook in _HOOKS:
        parser.add_argument(
            f"--{hook}",
            dest="hooks",
            action="append_const",
            const=hook,
            help=f"only what waits at {hook}",
        )


def clear(session: Session, arguments: argparse.Namespace) -> int:
    """Let resources go on that wait at a breakpoint."""
    action = ClearHooks(arguments.stack, tuple(arguments.resources), tuple(arguments.hooks or ()))
    running = session.app.act(action, drive=False)
    if not session.app.stack(running.stack_id).idle:
        say_planned(session, running)
    return 0
