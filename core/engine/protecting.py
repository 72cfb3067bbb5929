"""Protecting resources, or a stack, by command; and taking that back."""

from __future__ import annotations

from collections.abc import Iterable

from zonda.core.store.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict, NotFound
from zonda.hooks.near import near

from . import protection
from .accepting import Noted, accepted_as, noting
from .actions import Accepted, ProtectStack
from .effects import Call, Step, Tx
from .proposals import named
from .protection import Protection
from .room import Room
from .states import PRESENT
from .work import Work


def protect(room: Room, action: ProtectStack, note: Noted) -> Step:
    """Say that the named resources (without any: the stack) are protected, or not any more."""
    seen = yield Call(lambda: named(room, action.stack))

    def run(work: Work) -> Accepted:
        stack = work.tx.stack(seen.id)
        assert stack is not None
        if action.resources:
            rows = _named(work, stack, action.resources)
            _check(stack, action, [protection.of_resource(stack, row) for row in rows])
            for row in rows:
                row.protect = int(action.on)
        else:
            _check(stack, action, [protection.of_stack(stack)])
            stack.protect = int(action.on)
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def _named(work: Work, stack: StackRow, names: Iterable[str]) -> list[ResourceRow]:
    rows = {row.name: row for row in work.tx.resources_of(stack.id) if row.want == PRESENT}
    for name in names:
        if name not in rows:
            raise NotFound("Resource", name, hint=near(name, rows))
    return [rows[name] for name in names]


def _check(stack: StackRow, action: ProtectStack, found: list[Protection]) -> None:
    """Refuse to take back what no command has said: it would stay protected."""
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
