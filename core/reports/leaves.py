"""Down through nested stacks: of what failed the innermost, of what is at work what really works.

An owner fails because something in its nested stack has; what is told of is that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from zonda.core.store.read import trees
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.tree_paths import by_owner
from zonda.core.store.read.views import ActionView, FailedView, StackView
from zonda.core.store.schema.rows import ResourceRow, StackRow

from .failures import BAD, Failure, Failures, Top, failures
from .situation import Situation, situations

_AT_REST = "at rest"
#: Told of an owner that has something below it that is told of.
_LOOKED_AT = "something in its nested stack is not as it shall be: the next update goes down there"


def top_of(reader: Reader, stack: StackView) -> Top:
    """The stack at the top of a tree, and the way from there."""
    if stack.root_id == stack.id:
        return Top(stack)
    _, owner = trees.Owners(reader, stack.root_id).of(stack)
    way = tuple((owner or "").split("/")[1:])
    return Top(reader.stack_by_id(stack.root_id), way)


def leaves(reader: Reader, top: Top, found: Failures) -> Failures:
    """The failures with those that they come from in place of those of owners."""
    nested = _nested(reader, top.stack.root_id) if found.found else {}
    if not nested:
        return found
    below, followed = list[Failure](), list(found.followed)
    for failure in found.found:
        inner = _below(reader, top, nested, failure)
        below += inner.found if inner is not None else (failure,)
        followed += inner.followed if inner is not None else ()
    return Failures(found.action, tuple(below), tuple(dict.fromkeys(followed)))


def innermost(reader: Reader, stack: StackView, views: Sequence[FailedView]) -> list[Failure]:
    """What failed in nested stacks, in place of the owners among ``views`` that it made fail."""
    nested, top = _nested(reader, stack.root_id), top_of(reader, stack)
    found: list[Failure] = []
    for view in views:
        own = Failure(view, (), (), (), top.way)
        inner = _below(reader, top, nested, own) if view.resource_id in nested else None
        found += [own] if inner is None else inner.found
    return found


def _nested(reader: Reader, root_id: str) -> dict[str, list[str]]:
    """The nested stacks of each owner, those that are deleted, too."""
    nested: dict[str, list[str]] = {}
    for child, _, owner in reader.names_of_tree(root_id):
        if owner is not None:
            nested.setdefault(owner, []).append(child)
    return nested


def _below(
    reader: Reader, top: Top, nested: Mapping[str, list[str]], failure: Failure
) -> Failures | None:
    """What failed in the nested stack of an owner while it worked on that; None: nothing."""
    view = failure.view
    for child in reversed(nested.get(view.resource_id, ())):
        bad = [action for action in reader.actions(child) if _is_of(failure, action)]
        if bad:
            inside = Top(top.stack, (*failure.way, view.resource_name))
            found = failures(reader, reader.stack_by_id(child), bad[-1], top=inside)
            if found.found:
                return leaves(reader, inside, found)
    return None


def _is_of(failure: Failure, action: ActionView) -> bool:
    began = failure.view.at if failure.view.started_at is None else failure.view.started_at
    return action.status in BAD and began <= action.started_at <= failure.view.at


class Inside:
    """What resources of a tree are doing, by what owns them."""

    def __init__(self, reader: Reader, root_id: str) -> None:
        self._reader = reader
        self._stacks = {row.id: row for row in reader.tree(root_id)}
        self._children = by_owner(self._stacks.values())
        self._rows: dict[str, list[ResourceRow]] = {}
        for row in reader.tree_resources(root_id) if self._children else ():
            self._rows.setdefault(row.stack_id, []).append(row)

    def of(self, owner: Situation, *, wholly: bool = False) -> list[Situation]:
        """What is not at rest below an owner, the innermost in place of owners.

        ``wholly``: also what the next update works on, and what was changed last.
        """
        child = self._children.get(owner.row.id)
        return [] if child is None else [*self._in(child, (*owner.way, owner.row.name), wholly)]

    def _in(self, child: StackRow, way: tuple[str, ...], wholly: bool) -> Iterator[Situation]:
        since = self._last_began(child) if wholly else 0.0
        for each in situations(child, self._rows.get(child.id, ()), everything=True):
            each = dataclasses.replace(each, way=way)
            below = self.of(each, wholly=wholly)
            yield from below
            if below:
                continue
            if each.doing != _AT_REST or (wholly and _is_told(each, since)):
                yield each

    def _last_began(self, child: StackRow) -> float:
        actions = self._reader.actions(child.id)
        return actions[-1].started_at if actions else 0.0


def _is_told(each: Situation, since: float) -> bool:
    """Whether something at rest is told of: the next update is for it, or the last one was."""
    return bool(each.told) or (each.cause is not None and each.row.updated_at >= since)


def through(inside: Inside, found: list[Situation], *, wholly: bool) -> list[Situation]:
    """The situations with what is nested: in place of owners, or ``wholly`` behind them."""
    told: list[Situation] = []
    for each in found:
        below = inside.of(each, wholly=wholly)
        if wholly and below and each.doing == _AT_REST and each.row.dirty:
            each = dataclasses.replace(each, told=(_LOOKED_AT,))
        if wholly or not below:
            told.append(each)
        told += below
    return told
