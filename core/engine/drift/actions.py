"""The actions of drift as steps: a check is begun, schedules and exceptions are set.

Called by ``acting``. None of them is a plan, so that the generation of a stack stays what it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

from zonda.core.engine.actions import Accepted
from zonda.core.store.schema.rows import DriftIgnoreRow, DriftRow, StackRow
from zonda.hooks.errors import NotFound, UsageError, ZondaError
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..model.effects import Call, Step, Tx
from ..model.unit_of_work import UnitOfWork
from ..plan import drift_schedule
from ..plan.accept import Noted, build_answer, with_note
from ..plan.from_template import find_root_stack
from ..services import EngineServices
from . import store
from .findings import Check

#: Resources that are no pattern, and this in a path, which makes it one.
_ANY = "*"


def begin_check(services: EngineServices, action: actions.CheckDrift, note: Noted) -> Step:
    """Begin a check; its result is read from the database."""
    stack, scope = yield Call(lambda: resolve_scope(services, action.stack, action.resources))
    accepted, _ = yield Tx(build_check_unit(services, stack, scope, action.cause, note))
    return accepted


def resolve_scope(
    services: EngineServices, name: str, resources: Sequence[str]
) -> tuple[StackRow, tuple[str, ...]]:
    """The stack and the paths of the named resources; raises NotFound."""
    stack = find_root_stack(services, name)
    if resources:
        known = _list_paths(services, stack)
        for path in resources:
            if path not in known:
                raise NotFound("Resource", path, hint=suggestion(path, known), stack=stack.name)
    return stack, tuple(resources)


def _list_paths(services: EngineServices, stack: StackRow) -> set[str]:
    return {path for path, _ in services.reader().drift_rows(stack.id)}


def build_check_unit(
    services: EngineServices, seen: StackRow, scope: tuple[str, ...], cause: str, note: Noted
) -> Callable[[UnitOfWork], tuple[Accepted, Check]]:
    """The unit that stores a check and has it run after the commit."""

    def run(work: UnitOfWork) -> tuple[Accepted, Check]:
        stack = _reload_stack(work, seen)
        row = store.begin(work, stack, cause, services.settings.user, scope)
        accepted = dataclasses.replace(build_answer(stack), check_id=row.id)
        note(work, accepted)
        begun = Check(row)
        work.after.checks.append(begun)
        return accepted, begun

    return run


def set_drift(services: EngineServices, action: actions.SetDrift, note: Noted) -> Step:
    """Set the schedule of drift checks and the policy of a stack."""
    seen = yield Call(lambda: find_root_stack(services, action.stack))

    def run(work: UnitOfWork) -> Accepted:
        stack = _reload_stack(work, seen)
        found = drift_schedule.build_columns(services, stack, action.schedule, action.policy)
        for name, value in found.items():
            setattr(stack, name, value)
        return build_answer(stack)

    return (yield Tx(with_note(run, note)))


def ignore(services: EngineServices, action: actions.IgnoreDrift, note: Noted) -> Step:
    """Add an exception."""
    seen = yield Call(lambda: _check_exception(services, action))

    def run(work: UnitOfWork) -> Accepted:
        stack = _reload_stack(work, seen)
        if action.until is not None and action.until <= work.now:
            raise UsageError("The exception would end in the past.", hint="Give a later time.")
        row = DriftIgnoreRow(
            work.ids(),
            stack.id,
            action.resource,
            action.property,
            action.until,
            action.reason,
            services.settings.user,
            work.now,
        )
        work.tx.drift.add_ignore(row)
        return build_answer(stack)

    return (yield Tx(with_note(run, note)))


def _check_exception(services: EngineServices, action: actions.IgnoreDrift) -> StackRow:
    """The stack; raises NotFound or UsageError for an unknown resource or property."""
    paths = () if _ANY in action.resource else (action.resource,)
    stack, _ = resolve_scope(services, action.stack, paths)
    rows = [
        row
        for path, row in services.reader().drift_rows(stack.id)
        if path == action.resource or (not paths and fnmatchcase(path, action.resource))
    ]
    if not rows:
        raise NotFound("Resource", action.resource, stack=stack.name)
    name = action.property.partition(".")[0]
    known = {each for row in rows for each in _list_properties(services, row)}
    if name and known and name not in known:
        types = ", ".join(sorted({row.type for row in rows})[:3])
        raise UsageError(f"{types} has no property {name}.", hint=suggestion(name, known))
    return stack


def _list_properties(services: EngineServices, row: DriftRow) -> Collection[str]:
    """The properties of the type of a resource; none where no plug-in brings that type any more."""
    whole = services.reader().resource_row(row.id)
    try:
        return () if whole is None else services.definitions.class_of(whole).properties_schema
    except ZondaError:
        return ()


def unignore(services: EngineServices, action: actions.UnignoreDrift, note: Noted) -> Step:
    """Remove an exception that a command has added."""
    seen = yield Call(lambda: find_root_stack(services, action.stack))

    def run(work: UnitOfWork) -> Accepted:
        stack = _reload_stack(work, seen)
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
        return build_answer(stack)

    return (yield Tx(with_note(run, note)))


def _reload_stack(work: UnitOfWork, seen: StackRow) -> StackRow:
    stack = work.tx.stack(seen.id)
    if stack is None or stack.deleted_at is not None:
        raise NotFound("Stack", seen.name)
    return stack
