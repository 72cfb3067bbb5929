"""Whether anybody works on a stack that is in progress: told by what shows its state."""

from __future__ import annotations

from zonda.core.store.read.views import StackView

from ..session import Session


def say_if_nobody(session: Session, stack: StackView) -> None:
    """Say that what is in progress stands still, where no engine runs, and how it goes on."""
    if not stack.idle and not session.app.has_engine:
        go_on = f"'zonda stack wait {stack.name}' goes on with it."
        session.screen.say(f"No engine is at work on {stack.name}: {go_on}")
