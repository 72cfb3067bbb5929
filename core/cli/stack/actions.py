"""``zonda stack cancel``, ``suspend``, ``resume``, ``check`` and ``wait``."""

from __future__ import annotations

import argparse

from zonda.core.engine.actions import CancelStack, CheckStack, ResumeStack, SuspendStack
from zonda.core.engine.model.states import PASSING

from ..arguments import STACK, STACKS, argument, exclusive, takes
from ..progress import busy_stacks, outputs, result
from ..progress.follow import follow, follow_passing
from ..progress.run_action import add_waiting, wait_for_success
from ..session import Session
from .create_update_delete import submit_all

#: An action that was cancelled or undone has still come to a good end for who asked for that.
_ENDS_OF_CANCEL = (
    *("CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE", "DELETE"),
    *("SUSPEND", "RESUME", "CHECK", "SNAPSHOT"),
)
_GOOD_ENDS = tuple(end for end in _ENDS_OF_CANCEL if end != "ROLLBACK")
#: The actions whose end is printed with the outputs.
_SHOWN = ("CREATE", "ADOPT", "UPDATE")


_ARGUMENTS = (STACKS, busy_stacks.add_arguments, result.add_arguments)


@takes(*_ARGUMENTS)
def suspend(session: Session, arguments: argparse.Namespace) -> int:
    """Suspend every resource, dependants first."""
    return submit_all(session, arguments, map(SuspendStack, arguments.stacks), "SUSPEND")


@takes(*_ARGUMENTS)
def resume(session: Session, arguments: argparse.Namespace) -> int:
    """Resume every resource, requirements first."""
    return submit_all(session, arguments, map(ResumeStack, arguments.stacks), "RESUME")


@takes(*_ARGUMENTS)
def check(session: Session, arguments: argparse.Namespace) -> int:
    """Check that every resource is still healthy; nothing is changed."""
    return submit_all(session, arguments, map(CheckStack, arguments.stacks), "CHECK")


@takes(
    STACK,
    exclusive(
        argument(
            "--rollback",
            action="store_true",
            default=True,
            help="go back to what was before (default); of a create nothing is left",
        ),
        argument(
            "--no-rollback",
            dest="rollback",
            action="store_false",
            help="start nothing more, and leave everything as it is then",
        ),
    ),
    add_waiting,
    result.add_field_arguments,
)
def cancel(session: Session, arguments: argparse.Namespace) -> int:
    """Roll back the running create or update, or only stop to start new operations."""
    action = CancelStack(arguments.stack, arguments.rollback)
    running = session.app.engine.act(action, drive=arguments.wait)
    wait_for_success(session, arguments, running, _ENDS_OF_CANCEL)
    if not arguments.wait:
        return 0
    ended = session.app.stacks.find(running.stack_id)
    # Without rollback an UPDATE_FAILED is left: that is what was asked for. Going back may fail.
    return 1 if arguments.rollback and ended.status == "FAILED" else 0


@takes(STACK, result.add_field_arguments)
def wait(session: Session, arguments: argparse.Namespace) -> int:
    """Continue the action of an interrupted command, or watch the engine that carries it out."""
    running = session.app.engine.wait(arguments.stack)
    action = session.app.stacks.find(running.stack_id).action
    if action in PASSING:
        done = f"{action} of stack {running.name}: COMPLETE"
        code = follow_passing(session, running, done)
    else:
        code = follow(session, running, _GOOD_ENDS)
    result.show_stack(session, arguments, running)
    if code == 0 and action in _SHOWN and arguments.format is None:
        outputs.show_at_end(session, running.stack_id)
    return code
