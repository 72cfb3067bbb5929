"""A command on a busy stack: report the running action, ask, wait or supersede.

Used by whatever acts on stacks, but for deletions and cancellations: those are for what is going
on, so that nobody is asked.
"""

from __future__ import annotations

import argparse
from typing import Literal

from zonda.core.app.surface import RunningAction
from zonda.core.engine.actions import Action
from zonda.core.engine.model.states import OVERTAKES
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import ActionInProgress, Conflict, NotFound, UsageError

from ..arguments import argument
from ..console import formats
from ..session import Session
from .follow import wait_until_idle

#: The code of the error for a name that another stack has.
_TAKEN = "ZON206"
#: Actions that make a stack: an existing one of the name refuses them unless it is being deleted.
_NEW = frozenset({"CREATE", "ADOPT"})

Choice = Literal["supersede", "wait", "leave"]
#: The option for a choice, and the question.
_WAYS = {
    "supersede": ("--supersede takes its place.", "Take its place?"),
    "wait": ("--wait waits for its end, then goes on.", "Wait for its end, and go on then?"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--wait`` and ``--no-wait``."""
    waiting = parser.add_mutually_exclusive_group()
    waiting.add_argument(
        "--wait",
        dest="wait_first",
        action="store_true",
        help="if an action runs on the stack, wait for its end and go on then (default: ask)",
    )
    waiting.add_argument(
        "--no-wait",
        dest="wait",
        action="store_false",
        default=True,
        help="return as soon as it is planned; an engine or 'zonda stack wait' carries it out",
    )
    parser.set_defaults(supersede=False)


#: Of commands that may take the place of an action.
add_superseding = argument(
    "--supersede",
    action="store_true",
    help="if an action runs on the stack, take its place (default: ask)",
)


def submit_action(
    session: Session, arguments: argparse.Namespace, action: Action, stack: str, verb: str
) -> RunningAction:
    """Submit an action; ``verb``: the action that the stack will show.

    Raises Conflict where the stack is left to who is at work on it: the user wants that, or nobody
    can be asked and no option says what to do.
    """
    wait_first(session, arguments, stack, verb)
    supersedes = bool(arguments.supersede)
    while True:
        try:
            return session.app.engine.act(action, drive=arguments.wait, supersedes=supersedes)
        except Conflict as error:
            busy = _find_busy_stack(session, stack, error)
            if busy is None:
                raise
            choice: Choice = "wait"
            if not busy.idle and not arguments.wait_first:
                ways: list[Choice] = []
                if not supersedes and busy.action in OVERTAKES.get(verb, ()):
                    ways.append("supersede")
                if action.may_wait:
                    ways.append("wait")
                choice = _ask_choice(session, busy, ways)
        if choice == "leave":
            raise Conflict("Nothing was done.")
        supersedes = choice == "supersede"
        if choice == "wait":
            _wait_for(session, busy)


def wait_first(session: Session, arguments: argparse.Namespace, name: str, verb: str) -> None:
    """With ``--wait``: wait until the running action of the stack ``name`` has ended."""
    if not arguments.wait_first:
        return
    if arguments.supersede:
        raise UsageError("--supersede and --wait exclude each other: give one of them.")
    try:
        stack = session.app.stacks.find(name)
    except NotFound:
        return
    if verb not in _NEW or stack.action == "DELETE":
        _wait_for(session, stack)


def _find_busy_stack(session: Session, name: str, error: Conflict) -> StackView | None:
    """Find the stack whose running action caused an error; None for another cause."""
    try:
        stack = session.app.stacks.find(name)
    except NotFound:
        return None
    if isinstance(error, ActionInProgress):
        return stack
    return stack if error.code == _TAKEN and stack.action == "DELETE" and not stack.idle else None


def _ask_choice(session: Session, stack: StackView, ways: list[Choice]) -> Choice:
    """Ask the user how to proceed with the running action, among the possible ``ways``."""
    screen, told = session.screen, describe_running(session, stack)
    if not screen.can_ask:
        options = [_WAYS[way][0] for way in ways] + [f"'zonda stack cancel {stack.name}' ends it."]
        raise ActionInProgress(told, hint=" ".join(options))
    screen.say(told)
    return next((way for way in ways if screen.ask(_WAYS[way][1])), "leave")


def describe_running(session: Session, stack: StackView) -> str:
    """Describe the running action of a stack: its user, process and start."""
    last = session.app.reader.actions(stack.id)[-1]
    by = f" by {last.by}" if last.by else ""
    holder = session.app.engine.find_holder(stack)
    who = f"{holder} carries it out" if holder else "nobody carries it out now"
    return (
        f"Stack {stack.name} already has an action ({last.action}) in progress{by}, since "
        f"{formats.format_time(last.started_at)}; {who}."
    )


def _wait_for(session: Session, stack: StackView) -> None:
    """Follow the running action of a stack, and its consequences, to the end."""
    if not stack.idle:
        session.screen.say(f"{describe_running(session, stack)} Waiting for its end.")
        wait_until_idle(session, session.app.engine.wait(stack.id))
