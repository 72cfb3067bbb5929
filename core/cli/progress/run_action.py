"""The end of a command that submitted an action: follow it, or name its engine."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from zonda.core.app.surface import RunningAction

from ..options import nested
from ..session import Session
from . import outputs, result
from .follow import follow


def add_waiting(parser: argparse.ArgumentParser) -> None:
    """Add ``--wait`` (default) and ``--no-wait`` of a command that waits for no other action."""
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


def wait_for_success(
    session: Session, arguments: argparse.Namespace, running: RunningAction, good: Collection[str]
) -> int:
    """Follow an action with ``--wait``, and show the stack with ``-f``; return the exit code."""
    code = 0
    if arguments.wait:
        code = follow(session, running, good)
    else:
        say_planned(session, running)
    result.show_stack(session, arguments, running)
    return code


def wait_for_end(
    session: Session, arguments: argparse.Namespace, running: RunningAction, action: str
) -> int:
    """Follow ``action`` with ``--wait``, and show the outputs or, with ``-f``, the stack."""
    code = wait_for_success(session, arguments, running, (action,))
    if arguments.wait and code == 0 and arguments.format is None:
        outputs.show_at_end(session, running.stack_id)
    return code


def say_planned(session: Session, running: RunningAction) -> None:
    """Print which engine carries out the action."""
    if engine := running.client.other_engine:
        session.screen.say(f"Planned; {engine} does it.")
    else:
        name = nested.find_root_stack(session, running.stack_id).name
        session.screen.say(f"Planned; 'zonda stack wait {name}' carries it out.")
