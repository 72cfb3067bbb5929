"""Protecting resources, or a stack, by command; and taking that back."""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.hooks.errors import Conflict, NotFound
from zonda.hooks.text.suggestions import suggestion

from ..actions import Accepted, ProtectStack
from ..model.effects import Call, Step, Tx
from ..model.states import COMPLETE, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, accepted_as, noting
from ..plan.from_template import named, root_named
from ..progress import protection
from ..progress.history import signed
from ..progress.protection import Protection
from ..services import EngineServices

#: The events of both, by ``on``.
_EVENTS = {
    True: ("PROTECT", "protected by command"),
    False: ("UNPROTECT", "protected by no command any more"),
}


def protect(services: EngineServices, action: ProtectStack, note: Noted) -> Step:
    """Say that the named resources (without any: the stack) are protected, or not any more."""
    # a nested stack goes with its owner, whatever it is; resources of it are protected like others
    find = named if action.resources else root_named
    seen = yield Call(lambda: find(services, action.stack))
    what, told = _EVENTS[action.on]
    reason = signed(told, services.settings.user)

    def run(work: UnitOfWork) -> Accepted:
        stack = work.tx.stack(seen.id)
        assert stack is not None
        if action.resources:
            rows = _named(work, stack, action)
            known = policies.read(stack.policies).after(policies.Policies())
            _check(stack, action, [protection.of_resource(stack, row, known) for row in rows])
            for row in rows:
                row.protect = int(action.on)
                work.resource_event(row, what, COMPLETE, reason)
        else:
            _check(stack, action, [protection.of_stack(stack)])
            stack.protect = int(action.on)
            work.stack_event(stack, what, COMPLETE, reason)
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def _named(work: UnitOfWork, stack: StackRow, action: ProtectStack) -> list[ResourceRow]:
    """What is meant; protection is taken back of old instances, too, which are to go."""
    rows = [row for row in work.tx.resources_of(stack.id) if row.want == PRESENT or not action.on]
    names = {row.name for row in rows}
    for name in action.resources:
        if name not in names:
            raise NotFound("Resource", name, hint=suggestion(name, names), stack=stack.name)
    return [row for row in rows if row.name in action.resources]


def _check(stack: StackRow, action: ProtectStack, found: list[Protection]) -> None:
    """Refuse to take back what no command has said: it would stay protected.

    What the environment said before the last plan is no reason: nobody says it any more.
    """
    others = [each for each in found if each.by_environment and not action.on]
    if others:
        names = ", ".join(each.name or "it" for each in others)
        by_environment = [
            Protection(each.stack, each.name, False, True).how_to_lift for each in others
        ]
        raise Conflict(
            f"Not a command protects stack {stack.name}: its environment protects {names}."
            if not any(each.by_command for each in others)
            else f"Stack {stack.name}: its environment protects {names}, too.",
            hint=" ".join(by_environment),
            code=protection.CODE,
        )
