"""``zonda stack hook poll`` and ``zonda stack hook clear``."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase

from zonda.core.engine.actions import ClearHooks
from zonda.core.store.read import trees
from zonda.core.store.read.stack_reads import ALL
from zonda.core.store.read.views import ResourceSummary, StackView
from zonda.hooks.errors import NotFound

from ..arguments import STACK, argument, takes
from ..console import formats
from ..options import nested
from ..progress.event_line import PAUSED
from ..progress.run_action import say_planned
from ..session import Session

_HOOKS = ("pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete")
_COLUMNS = ("resource_name", "hook", "resource_status", "event_time", "cleared_at")


@takes(STACK, nested.depth("what waits in resources"), formats.add_arguments)
def poll(session: Session, arguments: argparse.Namespace) -> None:
    """List one row per resource that waits at a breakpoint."""
    stack, depth = session.app.stacks.find(arguments.stack), nested.get_depth(arguments)
    waiting = _list_waiting(session, stack, depth)
    since = _read_start_times(session, stack, depth) if waiting else {}
    found = [(trees.format_path(path, one.name), *_build_row(one, since)) for path, one in waiting]
    session.show_rows(arguments, _COLUMNS, found)


def _list_waiting(
    session: Session, stack: StackView, depth: int
) -> list[tuple[tuple[str, ...], ResourceSummary]]:
    """List the resources that wait at a breakpoint, with the paths of their stacks."""
    found = trees.list_resources(session.app.reader, stack, depth)
    return [(path, one) for path, one in found if one.hook and not one.hook.startswith("+")]


def _build_row(one: ResourceSummary, since: dict[str | None, float]) -> tuple[str | None, ...]:
    times = (formats.format_time(since.get(one.id)), formats.format_time(one.hook_until))
    return one.hook, f"{one.action}_{one.status}", *times


def _read_start_times(session: Session, stack: StackView, depth: int) -> dict[str | None, float]:
    """Read the time when each resource reached its breakpoint: that of its last such event."""
    reader = session.app.reader
    root = stack.root_id
    events = reader.tree_events(root) if depth else reader.events(stack.id, limit=ALL)
    return {event.resource_id: event.at for event in events if PAUSED in event.reason}


@takes(
    STACK,
    argument(
        "resources", metavar="RESOURCE", nargs="+", help="name, OWNER/NAME, or pattern with *"
    ),
    *(
        argument(
            f"--{hook}",
            dest="hooks",
            action="append_const",
            const=hook,
            help=f"only what waits at {hook}",
        )
        for hook in _HOOKS
    ),
)
def clear(session: Session, arguments: argparse.Namespace) -> None:
    """Clear the breakpoints of resources."""
    hooks = tuple(arguments.hooks or ())
    chosen = [
        name for each in arguments.resources for name in _expand_pattern(session, arguments, each)
    ]
    for stack, names in nested.group_by_stack(arguments.stack, chosen).items():
        running = session.app.engine.act(ClearHooks(stack, tuple(names), hooks), drive=False)
    if not nested.find_root_stack(session, running.stack_id).idle:
        say_planned(session, running)


def _expand_pattern(session: Session, arguments: argparse.Namespace, pattern: str) -> list[str]:
    """Expand a pattern; with ``*`` in the path: all waiting resources that match."""
    if "*" not in pattern.rpartition("/")[0]:
        return [pattern]
    parts, stack = pattern.split("/"), session.app.stacks.find(arguments.stack)
    ways = [(*path, one.name) for path, one in _list_waiting(session, stack, len(parts) - 1)]
    found = [way for way in ways if len(way) == len(parts) and all(map(fnmatchcase, way, parts))]
    if not found:
        raise NotFound("resource that waits at a hook", pattern)
    return ["/".join(way) for way in found]
