"""Walks down nested stacks: to the innermost failures, and to the resources that really work.

An owner fails because something in its nested stack has; what is told of is that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from zonda.core.store.read import trees
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.tree_paths import by_owner
from zonda.core.store.read.views import ActionView, FailedView, StackView
from zonda.core.store.schema.rows import ResourceRow, StackRow
from zonda.hooks import records

from .failures import BAD, Failure, Failures, RootAndPath, failures
from .situation import Situation, situations

_AT_REST = "at rest"
#: Told of an owner that has something below it that is told of.
_LOOKED_AT = "something in its nested stack is not as it shall be: the next update goes down there"


def find_root(reader: Reader, stack: StackView) -> RootAndPath:
    """Find the stack at the top of a tree, and the path from there."""
    if stack.root_id == stack.id:
        return RootAndPath(stack)
    _, owner = trees.Owners(reader, stack.root_id).of(stack)
    way = tuple((owner or "").split("/")[1:])
    return RootAndPath(reader.stack_by_id(stack.root_id), way)


def expand_failures(reader: Reader, top: RootAndPath, found: Failures) -> Failures:
    """Replace the failures of owners by the nested failures that caused them."""
    nested = _read_children(reader, top.stack.root_id) if found.found else {}
    if not nested:
        return found
    below, followed = list[Failure](), list(found.followed)
    for failure in found.found:
        inner = _find_nested_failures(reader, top, nested, failure)
        below += inner.found if inner is not None else (failure,)
        followed += inner.followed if inner is not None else ()
    return Failures(found.action, tuple(below), tuple(dict.fromkeys(followed)))


def list_innermost_failures(
    reader: Reader, stack: StackView, views: Sequence[FailedView]
) -> list[Failure]:
    """List the failures of nested stacks, in place of those of owners among ``views``."""
    nested, top = _read_children(reader, stack.root_id), find_root(reader, stack)
    found: list[Failure] = []
    for view in views:
        own = Failure(view, (), (), (), top.way)
        inner = (
            _find_nested_failures(reader, top, nested, own) if view.resource_id in nested else None
        )
        found += [own] if inner is None else inner.found
    return found


def _read_children(reader: Reader, root_id: str) -> dict[str, list[str]]:
    """Read the nested stacks of each owner, also the deleted ones."""
    nested: dict[str, list[str]] = {}
    for child, _, owner in reader.names_of_tree(root_id):
        if owner is not None:
            nested.setdefault(owner, []).append(child)
    return nested


def _find_nested_failures(
    reader: Reader, top: RootAndPath, nested: Mapping[str, list[str]], failure: Failure
) -> Failures | None:
    """Find the failures of an owner's nested stack during the owner's operation; None: none."""
    view = failure.view
    for child in reversed(nested.get(view.resource_id, ())):
        bad = [action for action in reader.actions(child) if _belongs_to(failure, action)]
        if bad:
            inside = RootAndPath(top.stack, (*failure.way, view.resource_name))
            found = failures(reader, reader.stack_by_id(child), bad[-1], top=inside)
            if found.found:
                return expand_failures(reader, inside, found)
    return None


def _belongs_to(failure: Failure, action: ActionView) -> bool:
    began = failure.view.at if failure.view.started_at is None else failure.view.started_at
    return action.status in BAD and began <= action.started_at <= failure.view.at


class NestedSituations:
    """The situations of the resources of a tree, by their owners."""

    def __init__(self, reader: Reader, root_id: str) -> None:
        self._reader = reader
        self._stacks = {row.id: row for row in reader.tree(root_id)}
        self._children = by_owner(self._stacks.values())
        self._rows: dict[str, list[ResourceRow]] = {}
        for row in reader.tree_resources(root_id) if self._children else ():
            self._rows.setdefault(row.stack_id, []).append(row)

    def of(self, owner: Situation, *, wholly: bool = False) -> list[Situation]:
        """List the situations below an owner that are not at rest, the innermost instead of owners.

        ``wholly``: also what the next update works on, and what was changed last.
        """
        child = self._children.get(owner.row.id)
        return (
            []
            if child is None
            else [*self._walk_child(child, (*owner.way, owner.row.name), wholly)]
        )

    def _walk_child(
        self, child: StackRow, way: tuple[str, ...], wholly: bool
    ) -> Iterator[Situation]:
        since = self._read_last_start(child) if wholly else 0.0
        for each in situations(child, self._rows.get(child.id, ()), everything=True):
            each = records.replace(each, way=way)
            below = self.of(each, wholly=wholly)
            yield from below
            if below:
                continue
            if each.doing != _AT_REST or (wholly and _is_reported(each, since)):
                yield each

    def _read_last_start(self, child: StackRow) -> float:
        actions = self._reader.actions(child.id)
        return actions[-1].started_at if actions else 0.0


def _is_reported(each: Situation, since: float) -> bool:
    """Whether an instance at rest is reported: by its next update, or by the last one."""
    return bool(each.told) or (each.cause is not None and each.row.updated_at >= since)


def add_nested(
    inside: NestedSituations, found: list[Situation], *, wholly: bool
) -> list[Situation]:
    """Add nested situations: in place of owners, or behind them with ``wholly``."""
    told: list[Situation] = []
    for each in found:
        below = inside.of(each, wholly=wholly)
        if wholly and below and each.doing == _AT_REST and each.row.dirty:
            each = records.replace(each, told=(_LOOKED_AT,))
        if wholly or not below:
            told.append(each)
        told += below
    return told
