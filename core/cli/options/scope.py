"""Which stack at the top a command means, and which paths below it."""

from __future__ import annotations

from collections.abc import Iterable

from zonda.core.store.read import trees
from zonda.core.store.read.views import StackView

from ..session import Session
from . import nested


def top(session: Session, name: str) -> StackView:
    """The stack at the top of a tree: checks are of that."""
    return nested.root_of(session, session.app.stack(name).id)


def scoped(session: Session, name: str, resources: Iterable[str]) -> tuple[StackView, list[str]]:
    """The stack at the top, and the paths from there; of a nested stack: its owner's."""
    stack = session.app.stack(name)
    if stack.id == stack.root_id:
        return stack, list(resources)
    _, way = trees.Owners(session.app.reader, stack.root_id).of(stack)
    above = (way or "").partition("/")[2]
    return top(session, name), [f"{above}/{each}" for each in resources] or [above]
