"""``--plan`` and ``--dry-run`` of creations and updates: a plan is shown before the action.

With ``--plan`` a person agrees to the plan, and exactly that is carried out, as by ``stack apply``.
"""

from __future__ import annotations

import argparse

from zonda.core.engine import actions
from zonda.core.engine.actions import Action
from zonda.hooks.errors import UsageError

from ..console import plan_tree
from ..session import Session


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--dry-run``, ``--plan`` and ``--yes``."""
    group = parser.add_argument_group("plan")
    shown = group.add_mutually_exclusive_group()
    shown.add_argument(
        "--dry-run", action="store_true", help="show what would be done, as 'zonda stack plan' does"
    )
    shown.add_argument(
        "--plan", action="store_true", help="show what would be done, ask, and do exactly that"
    )
    group.add_argument("-y", "--yes", action="store_true", help="of --plan: do not ask")


def confirm_action(
    session: Session, arguments: argparse.Namespace, action: Action
) -> tuple[Action | None, int]:
    """Return the action to carry out; None if there is none, with the exit code."""
    if arguments.dry_run:
        found = session.app.stacks.plan(action)
        plan_tree.show_plan(session.screen, arguments.format, found.document)
        return None, 0
    return _show_and_confirm(session, arguments, action) if arguments.plan else (action, 0)


def _show_and_confirm(
    session: Session, arguments: argparse.Namespace, action: Action
) -> tuple[Action | None, int]:
    screen = session.screen
    if not arguments.yes and not screen.can_ask:
        raise UsageError("A plan needs a yes: give -y where nobody can be asked.")
    found = session.app.stacks.plan(action, keep=True)
    # What is asked for with -f is the stack as it is then: the plan is only said.
    write = screen.draw if arguments.format is None and not arguments.column else screen.say_marked
    for line in plan_tree.format_plan(found.document):
        write(line)
    if found.fails:
        screen.say("It is known to fail: nothing was done.")
        return None, 1
    if not found.does_something:
        return None, 0
    screen.out.flush()
    if not arguments.yes and not screen.ask("\nDo this?"):
        screen.say("Nothing was done.")
        return None, 1
    assert found.file is not None
    return actions.ApplyPlan(found.file), 0
