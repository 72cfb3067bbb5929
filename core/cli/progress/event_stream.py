"""The events of a stack and of its nested stacks, as they come."""

from __future__ import annotations

from zonda.core.store.read import trees
from zonda.core.store.read.stack_reads import ALL
from zonda.core.store.read.views import EventView, StackView

from ..session import Session

#: The way down to a stack, and an event of it.
EventWithPath = tuple[tuple[str, ...], EventView]


class EventStream:
    """The events of a stack and of its nested stacks, ``depth`` levels down, as they come."""

    def __init__(self, session: Session, stack: StackView, depth: int) -> None:
        self._reader = session.app.reader
        self._stack = stack
        self._depth = depth
        self._ways = trees.Ways(self._reader, stack) if depth else None

    def list_after(self, seq: int) -> list[EventWithPath]:
        """List the events with a greater ``seq``, in the order in which they were stored."""
        if self._ways is None:
            events = self._reader.events(self._stack.id, after=seq, limit=ALL)
            return [((), event) for event in events]
        return self._ways.list_events(
            self._reader.tree_events(self._stack.root_id, seq), self._depth
        )
