"""The actions of drift as steps: a check is begun, schedules and exceptions are set.

None of them is a plan, so that the generation of a stack stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase

from zonda.core.engine.actions import Accepted
from zonda.core.store.schema.rows import DriftIgnoreRow, DriftRow, StackRow
from zonda.hooks import records
from zonda.hooks.errors import NotFound, UsageError, ZondaError
from zonda.hooks.text.suggestions import suggestion

from .. import actions
from ..model.effects import Call, Step, Tx
from ..model.unit_of_work import UnitOfWork
from ..plan import drift_schedule
from ..plan.accept import Change, Noted, build_answer, reload_stack
from ..plan.from_template import check_root, find_root_stack
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
    _check_paths(services, stack, resources)
    return stack, tuple(resources)


def _check_paths(services: EngineServices, stack: StackRow, resources: Sequence[str]) -> None:
    known = {path for path, _ in services.reader().drift_rows(stack.id)} if resources else set()
    for path in resources:
        if path not in known:
            raise NotFound("Resource", path, hint=suggestion(path, known), stack=stack.name)


def build_check_unit(
    services: EngineServices, seen: StackRow, scope: tuple[str, ...], cause: str, note: Noted
) -> Callable[[UnitOfWork], tuple[Accepted, Check]]:
    """The unit that stores a check and has it run after the commit."""

    def run(work: UnitOfWork) -> tuple[Accepted, Check]:
        stack = reload_stack(work, seen)
        row = store.begin(work, stack, cause, services.settings.user, scope)
        accepted = records.replace(build_answer(stack), check_id=row.id)
        note(work, accepted)
        begun = Check(row)
        work.after.checks.append(begun)
        return accepted, begun

    return run


def set_drift(services: EngineServices, stack: StackRow, action: actions.SetDrift) -> Change:
    """Set the schedule of drift checks and the policy of a stack."""
    check_root(services, stack)

    def set_columns(work: UnitOfWork, stack: StackRow) -> None:
        found = drift_schedule.build_columns(services, stack, action.schedule, action.policy)
        for name, value in found.items():
            setattr(stack, name, value)

    return set_columns


def ignore(services: EngineServices, stack: StackRow, action: actions.IgnoreDrift) -> Change:
    """Add an exception."""
    _check_exception(services, stack, action)

    def add_exception(work: UnitOfWork, stack: StackRow) -> None:
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

    return add_exception


def _check_exception(
    services: EngineServices, stack: StackRow, action: actions.IgnoreDrift
) -> None:
    """Raise NotFound or UsageError for an unknown resource or property."""
    check_root(services, stack)
    paths = () if _ANY in action.resource else (action.resource,)
    _check_paths(services, stack, paths)
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


def _list_properties(services: EngineServices, row: DriftRow) -> Collection[str]:
    """The properties of the type of a resource; none where no plug-in brings that type any more."""
    whole = services.reader().resource_row(row.id)
    try:
        return () if whole is None else services.definitions.class_of(whole).properties_schema
    except ZondaError:
        return ()


def unignore(services: EngineServices, stack: StackRow, action: actions.UnignoreDrift) -> Change:
    """Remove an exception that a command has added."""
    check_root(services, stack)

    def drop_exception(work: UnitOfWork, stack: StackRow) -> None:
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

    return drop_exception
