"""The actions of drift as steps: a check is begun, schedules and exceptions are set.

Called by ``acting``. None of them is a plan, so that the generation of a stack stays what it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from zonda.core.engine import actions, drift_setting
from zonda.core.engine.accepting import Noted, accepted_as, noting
from zonda.core.engine.actions import Accepted
from zonda.core.engine.effects import Call, Step, Tx
from zonda.core.engine.proposals import root_named
from zonda.core.engine.room import Room
from zonda.core.engine.work import Work
from zonda.core.store.rows import DriftIgnoreRow, StackRow
from zonda.hooks.errors import NotFound, UsageError
from zonda.hooks.near import near

from . import storing
from .check import Check

#: Resources that are no pattern, and this in a path, which makes it one.
_ANY = "*"


def check(room: Room, action: actions.CheckDrift, note: Noted) -> Step:
    """Begin a check; the reader tells what it has found."""
    stack, scope = yield Call(lambda: scoped(room, action.stack, action.resources))
    accepted, _ = yield Tx(beginning(room, stack, scope, action.cause, note))
    return accepted


def scoped(room: Room, name: str, resources: Sequence[str]) -> tuple[StackRow, tuple[str, ...]]:
    """The stack, and the paths of its resources that are meant; raises NotFound."""
    stack = root_named(room, name)
    if resources:
        known = _paths(room, stack)
        for path in resources:
            if path not in known:
                raise NotFound("Resource", path, hint=near(path, known))
    return stack, tuple(resources)


def _paths(room: Room, stack: StackRow) -> set[str]:
    return {path for path, _ in room.reader().drift_rows(stack.id)}


def beginning(
    room: Room, seen: StackRow, scope: tuple[str, ...], cause: str, note: Noted
) -> Callable[[Work], tuple[Accepted, Check]]:
    """The unit that stores a check, and has it run once that is committed."""

    def run(work: Work) -> tuple[Accepted, Check]:
        stack = _there(work, seen)
        row = storing.begin(work, stack, cause, room.settings.user, scope)
        accepted = dataclasses.replace(accepted_as(stack), check_id=row.id)
        note(work, accepted)
        begun = Check(row)
        work.after.checks.append(begun)
        return accepted, begun

    return run


def set_drift(room: Room, action: actions.SetDrift, note: Noted) -> Step:
    """Say when drift is looked for, and what is done about it."""
    seen = yield Call(lambda: root_named(room, action.stack))

    def run(work: Work) -> Accepted:
        stack = _there(work, seen)
        found = drift_setting.by_command(room, stack, action.schedule, action.policy)
        for name, value in found.items():
            setattr(stack, name, value)
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def ignore(room: Room, action: actions.IgnoreDrift, note: Noted) -> Step:
    """Add an exception."""
    paths = () if _ANY in action.resource else (action.resource,)
    seen, _ = yield Call(lambda: scoped(room, action.stack, paths))

    def run(work: Work) -> Accepted:
        stack = _there(work, seen)
        if action.until is not None and action.until <= work.now:
            raise UsageError("The exception would end in the past.", hint="Give a later time.")
        row = DriftIgnoreRow(
            work.ids(),
            stack.id,
            action.resource,
            action.property,
            action.until,
            action.reason,
            room.settings.user,
            work.now,
        )
        work.tx.drift.add_ignore(row)
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def unignore(room: Room, action: actions.UnignoreDrift, note: Noted) -> Step:
    """Remove an exception that a command has added."""
    seen = yield Call(lambda: root_named(room, action.stack))

    def run(work: Work) -> Accepted:
        stack = _there(work, seen)
        known = [row.id for row in work.tx.drift.ignores(stack.id)]
        meant = [key for key in known if key == action.ignore] or [
            key for key in known if action.ignore and key.startswith(action.ignore)
        ]
        if len(meant) != 1:
            raise NotFound(
                "drift exception",
                action.ignore,
                hint=f"'zonda stack drift ignore list {stack.name}' shows them; what the "
                "environment says is changed there.",
            )
        work.tx.drift.drop_ignore(meant[0], stack.id)
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def _there(work: Work, seen: StackRow) -> StackRow:
    stack = work.tx.stack(seen.id)
    if stack is None or stack.deleted_at is not None:
        raise NotFound("Stack", seen.name)
    return stack
