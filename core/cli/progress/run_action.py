"""The end of a command that began an action: follow it, or tell who does the work."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from zonda.core.app.app import RunningAction

from ..options import nested
from ..session import Session
from . import outputs, result
from .follow import follow


def add_waiting(parser: argparse.ArgumentParser) -> None:
    """``--wait``, which is the default, and ``--no-wait``, of what never waits for others."""
    parser.set_defaults(wait_first=False, supersede=False)
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument(
        "--wait", action="store_true", default=True, help="wait for the end (default)"
    )
    waiting.add_argument(
        "--no-wait",
        dest="wait",
        action="store_false",
        help="return as soon as it is planned; an engine or 'zonda stack wait' carries it out",
    )


def to_a_good_end(
    session: Session, arguments: argparse.Namespace, running: RunningAction, good: Collection[str]
) -> int:
    """Follow an action if that is wanted, and show the stack if that is; the exit code."""
    code = 0
    if arguments.wait:
        code = follow(session, running, good)
    else:
        say_planned(session, running)
    result.one(session, arguments, running)
    return code


def to_the_end(
    session: Session, arguments: argparse.Namespace, running: RunningAction, action: str
) -> int:
    """Follow ``action`` if that is wanted, and show the outputs or, with ``-f``, the stack."""
    code = to_a_good_end(session, arguments, running, (action,))
    if arguments.wait and code == 0 and arguments.format is None:
        outputs.at_the_end(session, running.stack_id)
    return code


def say_planned(session: Session, running: RunningAction) -> None:
    """Tell who will do the work."""
    if running.driven_elsewhere:
        session.screen.say(f"Planned; the engine of process {running.driven_elsewhere} does it.")
    else:
        name = nested.root_of(session, running.stack_id).name
        session.screen.say(f"Planned; 'zonda stack wait {name}' carries it out.")
