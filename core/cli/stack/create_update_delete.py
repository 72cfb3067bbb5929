"""``zonda stack create``, ``update`` and ``delete``."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from zonda.core.app.surface import RunningAction
from zonda.core.engine import actions
from zonda.core.settings.table import LONGEST_ACTION
from zonda.core.store.read.views import StackView, format_deletion_time
from zonda.hooks import records
from zonda.hooks.errors import NotFound, TemplateWarning, UsageError, ZondaError

from ..arguments import STACK, STACKS, YES, argument, takes
from ..console import errors, formats
from ..options import agreement, breakpoints, drift, simulation, template
from ..progress import busy_stacks, result
from ..progress.follow import follow
from ..progress.run_action import add_waiting, say_planned, wait_for_end
from ..session import Session

if TYPE_CHECKING:  # of which a command has one
    from zonda.core.engine.actions.stacks import CheckStack, DeleteStack, ResumeStack, SuspendStack

    _OfStack = DeleteStack | SuspendStack | ResumeStack | CheckStack


def action_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of a creation or an update: timeout, rollback, tags."""
    parser.add_argument(
        "--timeout", type=_minutes, metavar="MINUTES", help="when to give the action up"
    )
    rollback = parser.add_mutually_exclusive_group()
    rollback.add_argument(
        "--enable-rollback",
        dest="rollback",
        action="store_const",
        const=True,
        help="go back to what was before if it fails",
    )
    rollback.add_argument(
        "--disable-rollback",
        dest="rollback",
        action="store_const",
        const=False,
        help="leave everything as it is if it fails",
    )
    parser.add_argument("--tags", metavar="TAG,...", help="words to find the stack by")
    drift.add_options(parser)


def part_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--target`` and ``--exclude``."""
    group = parser.add_argument_group("a part of the template")
    group.add_argument(
        "--target",
        metavar="RESOURCE",
        action="append",
        default=[],
        help="only this and all it requires; may be given several times",
    )
    group.add_argument(
        "--exclude",
        metavar="RESOURCE",
        action="append",
        default=[],
        help="all but this and what requires it; may be given several times",
    )


def _common_arguments(parser: argparse.ArgumentParser) -> None:
    action_arguments(parser)
    part_arguments(parser)
    agreement.add_arguments(parser)
    result.add_arguments(parser, formats.SHELL)


def _minutes(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 1 <= value <= LONGEST_ACTION:
        raise argparse.ArgumentTypeError(
            f"must be a number of minutes from 1 to {LONGEST_ACTION} (a year)"
        )
    return value


@takes(
    argument("name", metavar="NAME", help="name of the new stack"),
    template.add_required_arguments,
    simulation.add_arguments,
    breakpoints.declare("pre-create"),
    _common_arguments,
    busy_stacks.add_arguments,
)
def create(session: Session, arguments: argparse.Namespace) -> int:
    """Create a stack and wait until every resource is complete."""
    action = build_create_action(session, arguments, arguments.name)
    bundle = breakpoints.add_hooks(action.bundle, arguments.pre_create, "pre-create")
    action = records.replace(action, bundle=bundle)
    wanted, code = agreement.confirm_action(session, arguments, action)
    if wanted is None:
        return code
    running = busy_stacks.submit_action(session, arguments, wanted, arguments.name, "CREATE")
    _say_warnings(session, running)
    return wait_for_end(session, arguments, running, "CREATE")


def build_create_action(
    session: Session, arguments: argparse.Namespace, name: str
) -> actions.CreateStack:
    """Build the creation from the arguments."""
    return actions.CreateStack(
        name=name,
        bundle=simulation.simulate(
            session, arguments, template.collect_bundle(session, arguments, all_given=True)
        ),
        timeout_mins=arguments.timeout or session.settings.stack_timeout_mins,
        rollback=bool(arguments.rollback),
        tags=parse_tags(arguments.tags) or (),
        **_parse_common(arguments),
    )


def _parse_common(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "targets": tuple(arguments.target),
        "excludes": tuple(arguments.exclude),
        "drift_schedule": arguments.drift_schedule,
        "drift_policy": arguments.drift_policy,
    }


@takes(
    STACK,
    template.add_arguments,
    argument(
        "--existing",
        action="store_true",
        help="keep the parameters and, without -t, the template that the stack has",
    ),
    breakpoints.declare("pre-update"),
    _common_arguments,
    busy_stacks.add_arguments,
    busy_stacks.add_superseding,
)
def update(session: Session, arguments: argparse.Namespace) -> int:
    """Update a stack to a template, and wait until it is complete."""
    action = build_update_action(session, arguments)
    if arguments.pre_update and arguments.existing and not arguments.environment:
        raise UsageError("--pre-update replaces the environment: give that with -e, too.")
    bundle = breakpoints.add_hooks(action.bundle, arguments.pre_update, "pre-update")
    action = records.replace(action, bundle=bundle)
    busy_stacks.wait_first(session, arguments, arguments.stack, "UPDATE")
    wanted, code = agreement.confirm_action(session, arguments, action)
    if wanted is None:
        return code
    running = busy_stacks.submit_action(session, arguments, wanted, arguments.stack, "UPDATE")
    if arguments.template or arguments.environment:
        _say_warnings(session, running)
    return wait_for_end(session, arguments, running, "UPDATE")


def _say_warnings(session: Session, running: RunningAction) -> None:
    """Print the warnings of ``template validate``."""
    warnings: Iterable[TemplateWarning] | None = running.warnings
    if warnings is None:
        stacks = session.app.stacks
        warnings = stacks.list_warnings(stacks.find(running.stack_id))
    for warning in warnings:
        session.screen.say(errors.warning_as_text(session.screen, warning))


def build_update_action(session: Session, arguments: argparse.Namespace) -> actions.UpdateStack:
    """Build the update from the arguments; raises UsageError where there is no template."""
    if not arguments.template and not arguments.existing:
        raise UsageError("Give the new template with -t, or keep the stack's with --existing.")
    return actions.UpdateStack(
        stack=arguments.stack,
        bundle=template.collect_bundle(
            session, arguments, defaults=not arguments.existing, all_given=not arguments.existing
        ),
        existing=arguments.existing,
        timeout_mins=arguments.timeout,
        rollback=arguments.rollback,
        tags=parse_tags(arguments.tags),
        **_parse_common(arguments),
    )


@takes(STACKS, YES, add_waiting, result.add_arguments)
def delete(session: Session, arguments: argparse.Namespace) -> int:
    """Delete stacks, all at once, and wait until they are deleted."""
    found, code = _find_stacks(session, arguments.stacks)
    if found and not arguments.yes and not _confirm(session, found):
        return 1
    deletions = [actions.DeleteStack(stack.id) for stack in found]
    return max(code, submit_all(session, arguments, deletions, "DELETE"))


def _find_stacks(session: Session, names: Iterable[str]) -> tuple[list[StackView], int]:
    """Find the existing stacks; 1 unless the others have been deleted before."""
    found: dict[str, StackView] = {}
    code = 0
    for name in dict.fromkeys(names):
        try:
            stack = session.app.stacks.find_or_deleted(name)
        except NotFound as missing:
            code = errors.say_error(session.screen, missing)
            continue
        if stack.deleted_at is None:
            found[stack.id] = stack
        else:
            how = f"deleted at {format_deletion_time(stack)} ({stack.status_reason})"
            session.screen.say(f"Stack {stack.name} was {how}: nothing to do.")
    return list(found.values()), code


def submit_all(
    session: Session, arguments: argparse.Namespace, wanted: Iterable[_OfStack], end: str
) -> int:
    """Submit actions on several stacks and follow each to its end, which should be ``end``.

    One that refuses does not keep the others from it. Gives the exit code.
    """
    running, code = [], 0
    for action in wanted:
        try:
            running.append(busy_stacks.submit_action(session, arguments, action, action.stack, end))
        except ZondaError as error:
            code = max(code, errors.say_error(session.screen, error))
    for each in running:
        if arguments.wait:
            code = max(code, follow(session, each, (end,)))
        else:
            say_planned(session, each)
    result.show_stacks(session, arguments, running)
    return code


def _confirm(session: Session, stacks: list[StackView]) -> bool:
    for stack in stacks if session.screen.can_ask else ():
        if not stack.idle:
            session.screen.say(busy_stacks.describe_running(session, stack))
    question = f"Delete {', '.join(stack.name for stack in stacks)} and everything in it?"
    return session.screen.confirm(question, "Deleting", "deleted")


def parse_tags(text: str | None) -> tuple[str, ...] | None:
    """Parse tags from a text with commas; None for none."""
    if text is None:
        return None
    return tuple(tag.strip() for tag in text.split(",") if tag.strip())
