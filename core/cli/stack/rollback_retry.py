"""``zonda stack rollback`` and ``zonda stack retry``."""

from __future__ import annotations

import argparse

from zonda.core.engine.actions import RetryStack, RollbackStack

from ..arguments import STACK, argument, takes
from ..progress import busy_stacks, result
from ..progress.run_action import wait_for_success
from ..session import Session

#: Actions that can be retried, and the status of their good end.
_ENDS = ("CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE", "DELETE")
_ENDS_OF_VERBS = ("SUSPEND", "RESUME", "CHECK", "SNAPSHOT")


@takes(
    STACK,
    argument(
        "--to",
        type=int,
        metavar="GENERATION",
        help="back to what this generation wanted ('zonda stack history' lists them); "
        "without it to the last template that worked",
    ),
    argument(
        "--skip",
        metavar="RESOURCE",
        action="append",
        default=[],
        help="leave this resource as it is; may be given several times",
    ),
    busy_stacks.add_arguments,
    busy_stacks.add_superseding,
    result.add_field_arguments,
)
def rollback(session: Session, arguments: argparse.Namespace) -> int:
    """Roll a stack back to an earlier generation, and wait for the end."""
    action = RollbackStack(arguments.stack, arguments.to, tuple(dict.fromkeys(arguments.skip)))
    running = busy_stacks.submit_action(session, arguments, action, arguments.stack, "ROLLBACK")
    return wait_for_success(session, arguments, running, ("ROLLBACK",))


@takes(STACK, busy_stacks.add_arguments, result.add_field_arguments)
def retry(session: Session, arguments: argparse.Namespace) -> int:
    """Retry the failed operations, and wait for the end."""
    action = RetryStack(arguments.stack)
    running = busy_stacks.submit_action(session, arguments, action, arguments.stack, "")
    return wait_for_success(session, arguments, running, (*_ENDS, *_ENDS_OF_VERBS))
