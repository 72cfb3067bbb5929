"""The hub: takes what the engine commits and puts it into the queues of those who listen.

The engine's thread only hands its notices over, and that only if somebody listens. One thread
writes each event once; the event loop alone touches the queues.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from zonda.core.app.app import App
from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.events.records import TreePath, read_tree_path
from zonda.core.store.read.reader import Reader
from zonda.hooks.errors import RequestError, StoreError

from .frames import KEEP_ALIVE, Frame, make_event_frame, make_progress_frame

log = logging.getLogger(__name__)

#: Streams that one project may have open.
MOST_STREAMS = 20
#: Frames that wait for one client; whoever is slower than that is sent away, and comes back.
QUEUE = 1000
#: Seconds without anything to send after which a line is sent all the same.
KEEP_ALIVE_AFTER = 15.0
#: Frames after which those who write to clients get a turn.
_TURN = 200


class TooManyStreams(RequestError):
    """A project has all the streams open that it may have."""

    heat_type = "RequestLimitExceeded"


class Subscription:
    """The queue of one client. Used in the event loop only.

    ``check_at``: when it is looked at again whether the client may listen, by the monotonic clock.
    """

    def __init__(self, project: str, root_id: str) -> None:
        self.project = project
        self.root_id = root_id
        self.frames: deque[Frame] = deque()
        self.check_at = 0.0
        self.quiet_since = 0.0
        self.is_check_due = False
        #: Whether the server wants the stream to end, and whether the client was too slow.
        self.is_over = self.is_full = False
        self._news = asyncio.Event()
        self._give_up: Callable[[], object] = bool

    def put(self, frame: Frame) -> None:
        """Keep a frame for the client; a full queue ends its stream at once."""
        if self.is_over:
            return
        if len(self.frames) >= QUEUE:
            self.is_full = True
            self.frames.clear()
            self.end()
            self._give_up()
            return
        self.frames.append(frame)
        self._news.set()

    def end(self) -> None:
        """Let the stream end behind what waits."""
        self.is_over = True
        self._news.set()

    def ask_again(self) -> None:
        """Have it looked at whether the client may listen."""
        self.is_check_due = True
        self._news.set()

    def give_up_by(self, function: Callable[[], object]) -> None:
        """Call ``function`` once the client is too slow: it may hold up who writes to it."""
        self._give_up = function

    async def take(self) -> list[Frame]:
        """The frames that wait; returns without any for whatever else there is to do."""
        await self._news.wait()
        self._news.clear()
        taken = list(self.frames)
        self.frames.clear()
        return taken


class Hub:
    """All streams of one server."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._streams: dict[tuple[str, str], set[Subscription]] = {}
        self._counts: dict[str, int] = {}
        self._frames: deque[Frame] = deque()
        # The last message of each resource since the last tick.
        self._progress: dict[tuple[str, str], Notice] = {}
        self._worker = ThreadPoolExecutor(1, "zonda-live")
        self._reader: Reader | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unsubscribe: Callable[[], None] | None = None
        #: Whether no stream may begin any more.
        self.is_closed = False

    @property
    def count(self) -> int:
        """The number of open streams."""
        return sum(self._counts.values())

    # -- in the event loop ----------------------------------------------------------------------

    def open(self, project: str, root_id: str, most: int = MOST_STREAMS) -> Subscription:
        """Begin a stream of a project, or of one tree of it.

        Raises TooManyStreams; StoreError at the end of the server.
        """
        if self.is_closed:
            raise StoreError("The server is about to stop.", hint="Try again in a second.")
        if self._counts.get(project, 0) >= most:
            raise TooManyStreams(f"The project has {most} streams open, which is all it may have.")
        if self._unsubscribe is None:
            self._loop = asyncio.get_running_loop()
            self._unsubscribe = self._app.engine.subscribe_all(self._hear)
        made = Subscription(project, root_id)
        made.quiet_since = self._app.clock.monotonic()
        self._streams.setdefault((project, root_id), set()).add(made)
        self._counts[project] = self._counts.get(project, 0) + 1
        return made

    def drop(self, subscription: Subscription) -> None:
        """Forget a stream that has ended."""
        key = (subscription.project, subscription.root_id)
        known = self._streams.get(key, set())
        if subscription not in known:
            return
        known.discard(subscription)
        if not known:
            del self._streams[key]
        self._counts[subscription.project] -= 1
        if not self._counts[subscription.project]:
            del self._counts[subscription.project]
        if not self._streams and self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
            self._progress.clear()

    def tick(self) -> None:
        """Do what is due; called about once a second."""
        now = self._app.clock.monotonic()
        if self._progress:
            waiting, self._progress = list(self._progress.values()), {}
            self._submit(lambda: self._write_progress(waiting))
        for each in self._list_all():
            if now >= each.check_at:
                each.ask_again()
            if now - each.quiet_since >= KEEP_ALIVE_AFTER and not each.frames:
                each.put(Frame(each.project, each.root_id, 0, KEEP_ALIVE))
                each.quiet_since = now

    def close(self) -> None:
        """End all streams, and begin none any more."""
        self.is_closed = True
        for each in self._list_all():
            each.end()
        self._worker.shutdown(wait=False)

    def _list_all(self) -> list[Subscription]:
        return [each for known in self._streams.values() for each in known]

    def _add(self, frames: Iterable[Frame]) -> None:
        is_idle = not self._frames
        self._frames.extend(frames)
        if is_idle:
            self._distribute()

    def _distribute(self) -> None:
        """Put some frames into the queues; the rest once clients had a turn to empty them."""
        now = self._app.clock.monotonic()
        for frame in [self._frames.popleft() for _ in range(min(_TURN, len(self._frames)))]:
            for key in ((frame.project, frame.root_id), (frame.project, "")):
                for each in self._streams.get(key, ()):
                    each.put(frame)
                    each.quiet_since = now
        if self._frames:
            asyncio.get_running_loop().call_soon(self._distribute)

    def _take_notices(self, frames: list[Frame], notices: Sequence[Notice]) -> None:
        for notice in notices:
            event = notice.event
            if event is None:
                self._progress[notice.stack_id, notice.resource] = notice
            else:
                self._progress.pop((notice.stack_id, event.resource_name), None)
        self._add(frames)

    # -- in the engine's threads ----------------------------------------------------------------

    def _hear(self, notices: Sequence[Notice]) -> None:
        self._submit(lambda: self._write_events(notices))

    def _submit(self, function: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the server has stopped
            self._worker.submit(function)

    # -- in the thread of the hub ---------------------------------------------------------------

    def _write_events(self, notices: Sequence[Notice]) -> None:
        events = [notice.event for notice in notices if notice.event is not None]
        places = self._find_places({event.stack_id: event.stack_name for event in events})
        frames = [
            make_event_frame(event, places[event.stack_id])
            for event in events
            if event.stack_id in places
        ]
        self._call_loop(lambda: self._take_notices(frames, notices))

    def _write_progress(self, notices: Sequence[Notice]) -> None:
        places = self._find_places({notice.stack_id: "" for notice in notices})
        frames = [
            make_progress_frame(
                each.stack_id, each.resource, each.message, each.since, places[each.stack_id]
            )
            for each in notices
            if each.stack_id in places
        ]
        self._call_loop(lambda: self._add(frames))

    def _find_places(self, names: dict[str, str]) -> dict[str, TreePath]:
        """The positions of stacks. They are read each time, since stacks move between trees."""
        if self._reader is None:
            self._reader = self._app.store.reader()
        try:
            return {key: read_tree_path(self._reader, key, name) for key, name in names.items()}
        except StoreError as error:
            # whoever listens comes back, and gets from the table what was not sent
            log.warning("Live events cannot be sent: %s", error)
            self._call_loop(self._end_all)
            return {}

    def _end_all(self) -> None:
        for each in self._list_all():
            each.end()

    def _call_loop(self, function: Callable[[], None]) -> None:
        assert self._loop is not None
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(function)
