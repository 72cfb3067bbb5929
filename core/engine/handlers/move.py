"""``MoveResource``: the next update is to find a resource under another name, or not any more."""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported
from zonda.hooks.text.suggestions import suggestion

from ..actions import Accepted, MoveResource
from ..model import row_annotations
from ..model.effects import Call, Step, Tx
from ..model.plan import BELOW
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Noted, accepted_as, noting
from ..plan.from_template import check_idle, root_named
from ..progress.moves import joined
from ..services import EngineServices
from ..templates.tree_rows import TreeRows, way


def move(services: EngineServices, action: MoveResource, note: Noted) -> Step:
    """Leave word with the instance; the update that has a template with the new name moves it.

    Of what is nested the resource of the stack at the top that leads to it keeps the word.
    """
    stack, old, new = yield Call(lambda: _checked(services, action))
    name, _, below = old.partition(BELOW)

    def run(work: UnitOfWork) -> Accepted:
        found = work.tx.stack(stack.id)
        if new is not None:
            check_idle(stack if found is None else found)
        rows = [row for row in work.tx.resources_named(stack.id, name) if row.want == "PRESENT"]
        for row in rows:
            words = {key: to for key, to in row_annotations.moves(row).items() if key != below}
            row_annotations.set_moves(row, words if new is None else {**words, below: new})
        return accepted_as(stack)

    return (yield Tx(noting(run, note)))


def _checked(services: EngineServices, action: MoveResource) -> tuple[StackRow, str, str | None]:
    """The stack, the way to the resource, and the one that it shall have."""
    stack = root_named(services, action.stack)
    if action.to is not None:
        check_idle(stack)
    tree = TreeRows(services.reader(), stack)
    names = tree.members("").keys()
    old = way(action.resource, names)
    row = tree.at(old)
    if row is None:
        beside = tree.members(old.rpartition(BELOW)[0])
        raise NotFound(
            "Resource", action.resource, hint=suggestion(old.rpartition(BELOW)[2], beside)
        )
    if action.to is None:
        return stack, old, None
    new = way(action.to, names)
    _check(tree, row, old, new)
    return stack, old, new


def _check(tree: TreeRows, row: ResourceRow, old: str, new: str) -> None:
    what = f"Resource {old} cannot be moved to {new}"
    if not all(new.split(BELOW)) or not new.isprintable():
        raise NotSupported(f"{what}: that is no name of a resource.")
    if tree.at(new) is not None:
        raise Conflict(f"{what}: that is there already.", hint="Choose another name.")
    for each in tree.members("").values():
        for below, to in row_annotations.moves(each).items():
            if way(to, tree.members("")) == new and joined(each.name, below) != old:
                raise Conflict(f"{what}: {joined(each.name, below)} is to be moved there.")
