"""A hint where a stack is in progress and no engine runs."""

from __future__ import annotations

from zonda.core.store.read.views import StackView

from ..session import Session


def warn_without_engine(session: Session, stack: StackView) -> None:
    """Warn that a stack in progress stands still without an engine, and how to continue it."""
    if not stack.idle and not session.app.engine.find_holder(stack):
        go_on = f"'zonda stack wait {stack.name}' goes on with it."
        session.screen.say(f"No engine is at work on {stack.name}: {go_on}")
