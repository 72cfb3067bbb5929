"""``MoveResource``: the next update is to find a resource under another name, or not any more."""

from __future__ import annotations

from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks.errors import Conflict, NotFound, NotSupported
from zonda.hooks.text.suggestions import suggestion

from ..actions import MoveResource
from ..model import row_annotations
from ..model.plan import BELOW
from ..model.unit_of_work import UnitOfWork
from ..plan.accept import Change
from ..plan.from_template import check_idle, check_root
from ..progress.moves import join_path
from ..services import EngineServices
from ..templates.tree_rows import TreeRows, parse_path


def move(services: EngineServices, stack: StackRow, action: MoveResource) -> Change:
    """Store the new name; the next update with that name in its template moves the instance.

    Of what is nested the resource of the stack at the top that leads to it keeps the word.
    """
    old, new = _resolve_move(services, stack, action)
    name, _, below = old.partition(BELOW)

    def store_name(work: UnitOfWork, stack: StackRow) -> None:
        if new is not None:
            check_idle(stack)
        rows = [row for row in work.tx.resources_named(stack.id, name) if row.want == "PRESENT"]
        for row in rows:
            words = {key: to for key, to in row_annotations.read_moves(row).items() if key != below}
            row_annotations.set_moves(row, words if new is None else {**words, below: new})

    return store_name


def _resolve_move(
    services: EngineServices, stack: StackRow, action: MoveResource
) -> tuple[str, str | None]:
    """The path of the resource, and its new path."""
    check_root(services, stack)
    if action.to is not None:
        check_idle(stack)
    tree = TreeRows(services.reader(), stack)
    names = tree.members("").keys()
    old = parse_path(action.resource, names)
    row = tree.find(old)
    if row is None:
        beside = tree.members(old.rpartition(BELOW)[0])
        raise NotFound(
            "Resource", action.resource, hint=suggestion(old.rpartition(BELOW)[2], beside)
        )
    if action.to is None:
        return old, None
    new = parse_path(action.to, names)
    _check_move(tree, row, old, new)
    return old, new


def _check_move(tree: TreeRows, row: ResourceRow, old: str, new: str) -> None:
    what = f"Resource {old} cannot be moved to {new}"
    if not all(new.split(BELOW)) or not new.isprintable():
        raise NotSupported(f"{what}: that is no name of a resource.")
    if tree.find(new) is not None:
        raise Conflict(f"{what}: that is there already.", hint="Choose another name.")
    for each in tree.members("").values():
        for below, to in row_annotations.read_moves(each).items():
            if parse_path(to, tree.members("")) == new and join_path(each.name, below) != old:
                raise Conflict(f"{what}: {join_path(each.name, below)} is to be moved there.")
