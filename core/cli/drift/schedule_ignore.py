"""``zonda stack drift schedule`` and ``drift ignore``: times of checks, and exceptions."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from typing import Any

from zonda.core.engine.actions import IgnoreDrift, SetDrift, UnignoreDrift
from zonda.core.store.read.drift_views import DriftIgnoreView
from zonda.core.store.read.views import StackView
from zonda.core.template.environment import drift_section
from zonda.hooks.errors import NotFound, NotSupported, UsageError
from zonda.hooks.text.suggestions import suggestion

from ..arguments import STACK, argument, takes
from ..console import formats
from ..options import drift
from ..options.drift import POLICIES
from ..options.nested import find_root_stack, resolve_scope
from ..session import Session

COLUMNS = ("ID", "Resource", "Property", "Until", "Reason", "By", "At")


@takes(
    STACK,
    argument(
        "schedule",
        metavar="EXPR",
        nargs="?",
        help="'*/15 * * * *' (cron, UTC), 15m, 1h30m; off: never; environment: as that says. "
        "None: show what is set",
    ),
    argument("--policy", choices=POLICIES, help="what to do about drift"),
    formats.add_field_arguments,
)
def schedule(session: Session, arguments: argparse.Namespace) -> None:
    """Set or show the schedule of a stack's drift checks."""
    stack = _find_root_stack(session, arguments.stack)
    if arguments.schedule is not None or arguments.policy is not None:
        action = SetDrift(stack.id, arguments.schedule, arguments.policy)
        session.app.engine.act(action, drive=False)
        stack = session.app.stacks.find(stack.id)
    session.show_fields(arguments, {"stack_name": stack.name, **drift.build_fields(stack)})
    if stack.drift_schedule and not session.app.engine.other_engine:
        session.screen.say("No engine runs that would look by itself: 'zonda engine run' is one.")


def _find_root_stack(session: Session, name: str) -> StackView:
    """Find the stack, which must be a root stack; raises NotSupported."""
    stack, root = session.app.stacks.find(name), find_root_stack(session, name)
    if stack.id == root.id:
        return stack
    raise NotSupported(
        f"Stack {stack.name} is nested in the stack {root.name}: a schedule is of the whole.",
        hint=f"Set it there: 'zonda stack drift schedule {root.name}'.",
    )


@takes(
    STACK,
    argument(
        "what",
        metavar="RESOURCE[.PROPERTY]",
        help="a resource (OWNER/NAME of a nested one; * stands for anything), or one property",
    ),
    argument("--reason", metavar="TEXT", required=True, help="why, for all who ask"),
    argument(
        "--until",
        metavar="DATE",
        help="only before that: 2027-01-31, 2027-01-31T12:00 (UTC), or 30d, 12h from now",
    ),
)
def ignore(session: Session, arguments: argparse.Namespace) -> None:
    """Count differences as in sync from now on; they are still listed, as ignored."""
    if not arguments.reason.strip():
        raise UsageError("--reason is empty.", hint="Say why, for all who ask later.")
    stack, [what] = resolve_scope(session, arguments.stack, [arguments.what])
    paths = [each.path for each in session.app.reader.drift_now(stack.id)]
    path, name = split_property(what, paths)
    until = (
        None if arguments.until is None else _parse_until(arguments.until, session.app.clock.now())
    )
    action = IgnoreDrift(stack.id, path, name, arguments.reason, until)
    session.app.engine.act(action, drive=False)
    told = f"property {name} of {path}" if name else path
    when = "" if until is None else f" until {formats.format_time(until)}"
    session.screen.say(f"Drift of {told} is ignored{when}.")


def split_property(what: str, paths: Collection[str]) -> tuple[str, str]:
    """Split ``RESOURCE.PROPERTY``; names may have dots. Raises NotFound."""
    if what in paths:
        return what, ""
    ends = [found.start() for found in re.finditer(r"\.", what)]
    for end in reversed(ends):
        if what[:end] in paths:
            return what[:end], what[end + 1 :]
    if "*" in what:
        path, _, name = what.partition(".") if ends else (what, "", "")
        return path, name
    raise NotFound("Resource", what, hint=suggestion(what.partition(".")[0], paths))


def _parse_until(text: str, now: float) -> float:
    """Parse a future time, in seconds since the epoch; raises UsageError."""
    until = drift_section.parse_end(text, now)
    if until is None:
        raise UsageError(
            f"--until {text} is no date of the years 1 to 9999.",
            hint="Give 2027-01-31, 2027-01-31T12:00, 30d or 12h.",
        )
    if until <= now:
        raise UsageError(f"--until {text} is over already.")
    return until


@takes(STACK, formats.add_arguments)
def list_ignores(session: Session, arguments: argparse.Namespace) -> None:
    """List the exceptions, of commands and of the environment."""
    stack = find_root_stack(session, arguments.stack)
    rows = [_build_row(each) for each in session.app.reader.drift_ignores(stack.id)]
    session.show_rows(arguments, COLUMNS, rows)


def _build_row(each: DriftIgnoreView) -> tuple[Any, ...]:
    times = (formats.format_time(each.until), each.reason, each.by, formats.format_time(each.at))
    return each.id, each.path, each.property, *times


@takes(STACK, argument("ignore", metavar="ID", help="of 'drift ignore list', or its beginning"))
def remove_ignore(session: Session, arguments: argparse.Namespace) -> None:
    """Remove an exception, so that the differences count again."""
    stack = find_root_stack(session, arguments.stack)
    session.app.engine.act(UnignoreDrift(stack.id, arguments.ignore), drive=False)
