"""The root stack that a command is for, and the selected paths below it."""

from __future__ import annotations

from collections.abc import Iterable

from zonda.core.store.read import trees
from zonda.core.store.read.views import StackView

from ..session import Session
from . import nested


def find_root_stack(session: Session, name: str) -> StackView:
    """Find the stack at the top of a tree, which all checks are for."""
    return nested.find_root(session, session.app.stacks.find(name).id)


def resolve_scope(
    session: Session, name: str, resources: Iterable[str]
) -> tuple[StackView, list[str]]:
    """Find the root stack, and the paths from there; a nested stack gives its owner's."""
    stack = session.app.stacks.find(name)
    if stack.id == stack.root_id:
        return stack, list(resources)
    _, way = trees.Owners(session.app.reader, stack.root_id).of(stack)
    above = (way or "").partition("/")[2]
    return find_root_stack(session, name), [f"{above}/{each}" for each in resources] or [above]
