"""Protecting resources, or a stack, by command; and taking that back."""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.core.template.environment import policies
from zonda.hooks.errors import Conflict, NotFound
from zonda.hooks.text.suggestions import suggestion

from ..actions import ProtectStack
from ..model.states import COMPLETE, PRESENT
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Change
from ..plan.from_template import check_root
from ..progress import protection
from ..progress.history import add_user
from ..progress.protection import Protection
from ..services import EngineServices

#: The events of both, by ``on``.
_EVENTS = {
    True: ("PROTECT", "protected by command"),
    False: ("UNPROTECT", "protected by no command any more"),
}


def protect(services: EngineServices, stack: StackRow, action: ProtectStack) -> Change:
    """Say that the named resources (without any: the stack) are protected, or not any more."""
    if not action.resources:  # a nested stack goes with its owner, whatever it is
        check_root(services, stack)
    what, told = _EVENTS[action.on]
    reason = add_user(told, services.settings.user)

    def set_protection(work: UnitOfWork, stack: StackRow) -> None:
        if action.resources:
            rows = _find_named(work, stack, action)
            known = policies.parse_policies(stack.policies).continue_from(policies.Policies())
            _check_by_command(
                stack, action, [protection.find_protection(stack, row, known) for row in rows]
            )
            for row in rows:
                row.protect = int(action.on)
                work.resource_event(row, what, COMPLETE, reason)
        else:
            _check_by_command(stack, action, [protection.find_stack_protection(stack)])
            stack.protect = int(action.on)
            work.stack_event(stack, what, COMPLETE, reason)

    return set_protection


def _find_named(work: UnitOfWork, stack: StackRow, action: ProtectStack) -> list[ResourceRow]:
    """The named instances; where protection ends also old ones that are to be deleted."""
    rows = [row for row in work.tx.resources_of(stack.id) if row.want == PRESENT or not action.on]
    names = {row.name for row in rows}
    for name in action.resources:
        if name not in names:
            raise NotFound("Resource", name, hint=suggestion(name, names), stack=stack.name)
    return [row for row in rows if row.name in action.resources]


def _check_by_command(stack: StackRow, action: ProtectStack, found: list[Protection]) -> None:
    """Refuse to end a protection that no command has set: it would stay.

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
