"""``MoveResource``: the next update is to find a resource under another name, or not any more."""

from __future__ import annotations

from zonda.core.store.rows import ResourceRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported
from zonda.hooks.near import near

from . import handing
from .accepting import Noted, accepted_as, noting
from .actions import Accepted, MoveResource
from .effects import Call, Step, Tx
from .proposals import check_idle, root_named
from .room import Room
from .states import PRESENT
from .work import Work


def move(room: Room, action: MoveResource, note: Noted) -> Step:
    """Leave word with the instance; the update that has a template with the new name moves it."""
    stack = yield Call(lambda: root_named(room, action.stack))

    def run(work: Work) -> Accepted:
        there = {row.name: row for row in work.tx.resources_of(stack.id) if row.want == PRESENT}
        row = there.get(action.resource)
        if row is None:
            raise NotFound("Resource", action.resource, hint=near(action.resource, there))
        if action.to is None:
            handing.drop(row, handing.MOVE)
        else:
            found = work.tx.stack(stack.id)
            check_idle(stack if found is None else found)
            _check(row, action.to, there)
            handing.hand(row, handing.to_move(action.to))
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def _check(row: ResourceRow, new: str, there: dict[str, ResourceRow]) -> None:
    what = f"Resource {row.name} cannot be moved to {new}"
    if "/" in row.name + new:
        raise NotSupported(f"{what}: only a resource of the stack itself can get another name.")
    if not new or not new.isprintable():
        raise NotSupported(f"{what}: that is no name of a resource.")
    if row.action == "INIT":
        raise NotSupported(f"{what}: it has not been created yet.")
    if new in there:
        raise Conflict(f"{what}: that is there already.", hint="Choose another name.")
    asked = [each.name for each in there.values() if handing.moves_to(each) == new]
    if asked and asked != [row.name]:
        raise Conflict(f"{what}: {asked[0]} is to be moved there.")
