"""``zonda stack plan`` and ``apply``: preview an action, and carry out exactly that."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from zonda.core.engine.actions import Action, ApplyPlan, DeleteStack
from zonda.core.template.files.reader import read_text
from zonda.core.template.source.json_text import read_json
from zonda.hooks.errors import NotFound, UsageError

from ..arguments import argument, exclusive, takes
from ..console import formats, plan_tree
from ..options import simulation, template
from ..progress import busy_stacks, result, run_action
from ..session import Session
from . import create_update_delete

NOTHING, ERROR, CHANGES = 0, 1, 2


@takes(
    argument("stack", metavar="STACK", help="name of a stack, a new one too; or id"),
    template.add_arguments,
    simulation.add_arguments,
    exclusive(
        argument(
            "--existing",
            action="store_true",
            help="keep the parameters and, without -t, the template that the stack has",
        ),
        argument("--delete", action="store_true", help="plan the deletion of the stack"),
    ),
    create_update_delete.action_arguments,
    create_update_delete.part_arguments,
    argument("-o", "--out", metavar="FILE", help="keep the plan there, for 'zonda stack apply'"),
    argument(
        "--detailed-exitcode",
        action="store_true",
        help="exit with 0 if there is nothing to do, 1 if it fails, 2 if something would change",
    ),
    formats.add_text_format,
)
def plan(session: Session, arguments: argparse.Namespace) -> int:
    """Show the changes of an action with their reasons. Nothing is changed."""
    found = session.app.stacks.plan(
        _build_action(session, arguments), keep=arguments.out is not None
    )
    plan_tree.show_plan(session.screen, arguments.format, found.document)
    if found.file is not None:
        _write_plan(Path(arguments.out), found.file)
        use = "'zonda stack apply' does exactly that"
        if found.fails:
            use = "it is known to fail, so that 'zonda stack apply' refuses it"
        session.screen.say(f"Kept in {arguments.out}; {use}.")
    if not arguments.detailed_exitcode:
        return NOTHING
    if found.fails:
        return ERROR
    return CHANGES if found.does_something else NOTHING


def _build_action(session: Session, arguments: argparse.Namespace) -> Action:
    name = arguments.stack
    if arguments.delete:
        given = (arguments.template, *arguments.environment, *arguments.parameter)
        if any(given) or arguments.target or arguments.exclude:
            raise UsageError("A deletion is of the whole stack: give its name only.")
        return DeleteStack(session.app.stacks.find(name).id)
    try:
        session.app.stacks.find(name)
        simulation.refuse_for_existing(arguments, name)
    except NotFound:
        if arguments.existing:
            raise
        if not arguments.template:
            raise UsageError(
                f"There is no stack {name}, and no template to make one of.",
                hint="Give a template with -t.",
            ) from None
        return create_update_delete.build_create_action(session, arguments, name)
    return create_update_delete.build_update_action(session, arguments)


def _write_plan(path: Path, text: str) -> None:
    """Write a plan file that only its owner may read; raises UsageError."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


@takes(
    argument("plan", metavar="FILE", help="a plan of 'zonda stack plan -o FILE'"),
    run_action.add_waiting,
    busy_stacks.add_superseding,
    result.add_field_arguments,
)
def apply(session: Session, arguments: argparse.Namespace) -> int:
    """Carry out exactly what a plan says, or refuse and name what has changed since."""
    text = read_text(Path(arguments.plan))
    name, verb = _read_plan(text)
    running = busy_stacks.submit_action(session, arguments, ApplyPlan(text), name, verb)
    return run_action.wait_for_end(session, arguments, running, verb)


def _read_plan(text: str) -> tuple[str, str]:
    """Read the stack and the action from a plan; the engine refuses a text that is no plan."""
    try:
        stack: Any = read_json(text)["stack"]
        return str(stack["name"]), str(stack["action"])
    except (ValueError, TypeError, KeyError):
        return "", ""
