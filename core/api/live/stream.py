"""The stream of one client: what it has missed, then what happens.

It subscribes before it reads the table, and leaves out what both have: nothing is missing between
the two, and nothing comes twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from zonda.core.app.app import App
from zonda.core.events.records import read_tree_path
from zonda.core.store.read.reader import Reader
from zonda.hooks.records import dataclass

from .frames import GOODBYE, Frame, format_gap, format_position, make_event_frame
from .hub import MOST_STREAMS, Hub, Subscription

T = TypeVar("T")


class Run(Protocol):
    """Runs a function that blocks in a thread, and gives its result."""

    async def __call__(self, function: Callable[[], T], /) -> T:
        """Run ``function``."""


#: Sends a part of the stream; may wait for the client.
Write = Callable[[bytes], Awaitable[None]]
#: Whether the client may still listen, and until when its token counts (seconds since the epoch).
Check = Callable[[], tuple[bool, float | None]]

#: Events that a client can have missed; behind them there is a gap.
MOST_REPLAYED = 10_000
#: Seconds after which it is asked again whose the token of a client is.
CHECK_AFTER = 300.0
#: Events that are read together.
PAGE = 500


@dataclass(frozen=True, slots=True)
class Wish:
    """The events that a client wants.

    ``root_id``: of the tree of this stack, or ''. ``after``: behind this sequence number; None:
    from now on. ``expires``: when the client's token ends, in seconds since the epoch. ``most``:
    how many streams the project may have open.
    """

    project: str
    root_id: str = ""
    after: int | None = None
    expires: float | None = None
    most: int = MOST_STREAMS


class EventStream:
    """One stream. ``open`` in the event loop, then ``run``, then ``close``."""

    def __init__(self, hub: Hub, app: App, get_reader: Callable[[], Reader], wish: Wish) -> None:
        self._hub = hub
        self._app = app
        self._get_reader = get_reader
        self._wish = wish
        self._check: Check = lambda: (False, None)
        self._queue: Subscription | None = None
        self._last = 0

    def ask_by(self, check: Check) -> None:
        """Ask this again and again whether the client may listen; it is called in a thread."""
        self._check = check

    def open(self) -> None:
        """Begin to listen; raises ZondaError where that is refused."""
        self._queue = self._hub.open(self._wish.project, self._wish.root_id, self._wish.most)
        self._queue.check_at = self._find_next_check(self._wish.expires)

    def end(self) -> None:
        """Let ``run`` come back: the client has gone."""
        if self._queue is not None:
            self._queue.end()

    def close(self) -> None:
        """Listen no more."""
        if self._queue is not None:
            self._hub.drop(self._queue)

    async def run(self, run: Run, write: Write) -> bool:
        """Send until one side ends it; whether its end can be sent, too."""
        queue = self._queue
        assert queue is not None
        task = asyncio.current_task()
        assert task is not None
        queue.give_up_by(task.cancel)
        try:
            await self._replay(run, write)
            while not queue.is_over:
                await self._send(await queue.take(), write)
                if queue.is_check_due and not await self._may_listen(run):
                    return True
            await write(GOODBYE)
        except asyncio.CancelledError:
            if not queue.is_full:
                raise
            task.uncancel()
        return not queue.is_full

    async def _send(self, frames: Sequence[Frame], write: Write) -> None:
        """Send new frames, without those that the table had already."""
        fresh = [frame for frame in frames if not frame.seq or frame.seq > self._last]
        if fresh:
            self._last = max(self._last, *(frame.seq for frame in fresh))
            await write(b"".join(frame.data for frame in fresh))

    # -- what was missed ------------------------------------------------------------------------

    async def _replay(self, run: Run, write: Write) -> None:
        first, last = await run(self._begin_to_follow)
        after = self._wish.after
        if after is None or after > last:  # the numbers of another database begin anew
            self._last = last
            await write(format_position(last) if after is None else format_gap(after, last))
            return
        self._last = after
        if after < first - 1:  # they have been deleted since
            self._last = first - 1
            await write(format_gap(after, self._last))
        for _ in range(MOST_REPLAYED // PAGE):
            frames = await run(lambda: self._read_page(PAGE))
            await self._send(frames, write)
            if len(frames) < PAGE:
                return
        _, last = await run(lambda: self._get_reader().read_event_range())
        if await run(lambda: self._read_page(1)):
            await write(format_gap(self._last, last))
            self._last = last

    def _begin_to_follow(self) -> tuple[int, int]:
        self._app.engine.begin_to_follow()
        return self._get_reader().read_event_range()

    def _read_page(self, limit: int) -> list[Frame]:
        reader, wish = self._get_reader(), self._wish
        events = reader.list_events_after(self._last, wish.project, wish.root_id, limit)
        names = {event.stack_id: event.stack_name for event in events}
        places = {key: read_tree_path(reader, key, name) for key, name in names.items()}
        return [make_event_frame(event, places[event.stack_id]) for event in events]

    # -- whether the client may listen ----------------------------------------------------------

    async def _may_listen(self, run: Run) -> bool:
        assert self._queue is not None
        may_listen, expires = await run(self._check)
        self._queue.is_check_due = False
        self._queue.check_at = self._find_next_check(expires)
        return may_listen

    def _find_next_check(self, expires: float | None) -> float:
        """The time at which it is asked again, by the monotonic clock."""
        clock = self._app.clock
        left = CHECK_AFTER if expires is None else min(CHECK_AFTER, expires - clock.now())
        return clock.monotonic() + max(left, 0.0)
