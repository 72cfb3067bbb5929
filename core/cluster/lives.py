"""The lives of a process as a member of a cluster, one after the other.

A life ends when the member is removed or loses its connection; the next one begins with nothing:
rows say what is due.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from zonda.core.engine.model.unit_of_work import Notice
from zonda.core.engine.runtime.engine import Engine
from zonda.core.store.database.placement import enqueue_nothing
from zonda.core.store.database.protocols import Database
from zonda.core.store.postgresql.connection import connect, is_pooled
from zonda.core.store.postgresql.role import apply_settings
from zonda.core.store.write.database import Store
from zonda.core.store.write.duties import Ownership
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids
from zonda.hooks.errors import StoreError

from .membership import POOLED, Claim, Membership, News, Terms
from .placement import Placement
from .progress import ProgressNews, parse_progress
from .tail import EventTail

if TYPE_CHECKING:  # what short commands do not pay for
    from .queue import Queue

log = logging.getLogger(__name__)

#: Seconds until a member joins its cluster again, at first and at most.
_FIRST_RETRY, _LAST_RETRY = 0.2, 1.0


def apply_role_settings(database: Database, lease: float) -> None:
    """Give the role on the server what ``store.postgresql.role`` says. Raises StoreError."""
    for refused in apply_settings(database.url, database.where, lease):
        log.warning("The server refuses a setting of the role: %s", refused)


class Process(Protocol):
    """The process that lives: what it does at the beginning and the end of a life."""

    def make_engine(self) -> Engine:
        """Make an engine for a life."""

    def start_engine(self, engine: Engine, drive: str) -> None:
        """Start the engine of a life."""

    def lose_engine(self) -> None:
        """End what depends on an engine that has failed."""

    def stop_engine(self) -> None:
        """Let the engine end what it has begun to call, and leave its trees."""

    def check_delivery(self, engine: Engine, claim: Claim) -> None:
        """Deliver events to sinks if ``claim`` gives that duty. Called every few seconds."""

    def show_progress(self, notice: Notice) -> None:
        """Show what an operation of another member waits for; '' for one that has ended."""


class Lives:
    """The lives of ``process``; ``begin`` before anything else, ``end`` at the end."""

    def __init__(
        self, process: Process, store: Store, clock: SystemClock, ids: Ids, terms: Terms
    ) -> None:
        self._process = process
        self._store, self._clock, self._ids, self._terms = store, clock, ids, terms
        self._membership: Membership | None = None
        self._enqueue = Placement().enqueue if terms.listen_url else enqueue_nothing
        self._queue: Queue | None = None
        # The last id of this process as a member, and earlier ones that may have a row yet.
        self._members: list[str] = []
        self._is_over = threading.Event()
        # Held while another life begins, so that none outlasts the end.
        self._beginning = threading.Lock()
        self._progress = ProgressNews()
        self.tail = EventTail(store.reader, clock)

    def begin(self, drive: str, *, is_draining: bool = False) -> None:
        """Join the cluster with a new engine. Raises StoreError.

        The lease begins once the engine is made, which may take longer than a lease.
        """
        engine, member, follows = self._process.make_engine(), self._ids.new(), self._members
        membership = self._make_membership(member)
        self._members = [*follows, member]
        self._store.ownership = owned = membership.join(
            self._store,
            self._terms,
            takes_free=drive == "all",
            follows=follows,
            is_draining=is_draining,
        )
        self._members = [member]
        engine.on_failure = lambda: self._begin_anew(drive, owned)
        engine.subscribe(partial(self._hear_engine, membership))
        self._process.start_engine(engine, drive)
        membership.begin(
            engine,
            on_renewal=lambda claim: self._process.check_delivery(engine, claim),
            on_news=self._take_news,
            list_progress=self._progress.write,
            on_drain=lambda wanted: self._start(lambda: self._drain(drive, wanted)),
        )
        self._membership = membership
        if drive == "all" and self._terms.listen_url and not is_draining:
            self._queue = self._open_queue(engine, owned)

    def _open_queue(self, engine: Engine, owned: Ownership) -> Queue | None:
        """Begin to take trees from the queue; None where that cannot be: sweeps find them."""
        database, url = self._store.database, self._terms.listen_url
        try:
            with connect(url, database.where) as connection:
                if is_pooled(connection):
                    log.warning("There is no queue: %s", POOLED)
                    return None
            from . import queue_schema
            from .queue import Queue

            if queue_schema.make(database):
                apply_role_settings(database, self._terms.lease)
        except ImportError as error:
            log.warning("Without %s there is no queue: pip install 'zonda[cluster]'", error.name)
            return None
        except StoreError as error:
            log.warning("There is no queue: %s %s", error, error.hint)
            return None
        queue = Queue(url, owned, engine)
        queue.start()
        return queue

    def _make_membership(self, member: str) -> Membership:
        known = self._store.database, self._clock, member, self._terms.lease
        return Membership(*known, self._enqueue)

    def end(self) -> None:
        """End for good: what this member still owns then is free at once."""
        self._is_over.set()
        with self._beginning:
            self._leave()

    def _leave(self) -> None:
        """Take nothing more, end what was begun, and give away what is still owned then."""
        if self._queue is not None:
            self._queue.close()
        self._process.stop_engine()
        if self._queue is not None:
            self._queue.stop()
        if self._membership is not None:
            self._membership.leave()

    def _begin_anew(self, drive: str, owned: Ownership) -> None:
        """Begin another life; called in the thread of an engine that has failed.

        A call may outlast its life that was ended in good order: then the next one has begun.
        """
        if self._store.ownership is owned:
            self._start(lambda: self._renew(drive))

    def _start(self, run: Callable[[], None]) -> None:
        if not self._is_over.is_set():
            threading.Thread(target=run, name="zonda-life", daemon=True).start()

    def _drain(self, drive: str, is_wanted: bool) -> None:
        """Go on as a member that takes no trees, after all were left to others; or as before."""
        owned, membership = self._store.ownership, self._membership
        if not is_wanted and owned is not None:
            owned.is_draining = False
        if is_wanted and membership is not None:
            self._leave()
            self._renew(drive, is_draining=True)

    def _renew(self, drive: str, *, is_draining: bool = False) -> None:
        if self._membership is not None:
            self._membership.abandon()
            self._membership = None
        if self._queue is not None:
            self._queue.stop(waits=False)
            self._queue = None
        self._process.lose_engine()
        delay = _FIRST_RETRY
        while not self._is_over.wait(delay):
            with self._beginning:
                if self._is_over.is_set():
                    return
                try:
                    self._store.reopen()
                    self.begin(drive, is_draining=is_draining)
                    return
                except StoreError as error:
                    log.warning("The cluster cannot be joined: %s", error)
            delay = min(2 * delay, _LAST_RETRY)

    # -- news -------------------------------------------------------------------------------------

    def _hear_engine(self, membership: Membership, notices: Sequence[Notice]) -> None:
        self._progress.take_notices(notices)
        if any(notice.event is not None for notice in notices):
            self.tail.tell_news()
            membership.tell_events()

    def _take_news(self, news: News) -> None:
        if news.kind == "event":
            self.tail.tell_news()
        for notice in parse_progress(news.text) if news.kind == "progress" else ():
            self._process.show_progress(notice)
            if notice.message:
                self.tail.publish(notice)
