"""A member of a cluster: it joins, keeps its lease, frees the trees of the dead, and leaves.

Made by ``core.app`` for each life of an engine. Its threads have connections of their own, so that
a long transaction of the engine does not end the lease.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import Protocol

from zonda.core.store.database.placement import Enqueue, enqueue_nothing
from zonda.core.store.database.protocols import Database
from zonda.core.store.postgresql.members import MemberRow, Members
from zonda.core.store.write.database import Store
from zonda.core.store.write.duties import Ownership
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import Conflict, StoreError
from zonda.hooks.records import dataclass

from .clock import ClusterClock

log = logging.getLogger(__name__)

#: Seconds between two looks at the leases of the others; until a session that hears nothing looks
#: whether to end; and until one that has failed begins anew.
_LOOK, _LISTEN, _TICK = 1.0, 5.0, 0.5
#: Seconds after which an engine whose thread does not go round is taken for dead.
_STUCK = 30.0
#: Seconds between two words of new events, and of progress, at least: whoever tells of something in
#: PostgreSQL waits for all others who do.
_EVENT_TICK, _PROGRESS_TICK = 0.25, 1.0
#: The reason why nothing is heard, and the remedy.
POOLED = "a pooler stands before PostgreSQL. Set listen_url to the server itself, or to off"
#: Seconds that a stopping member waits for its own threads.
_GRACE = 5.0


#: Takes a duty for this member; False where another has it.
Claim = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms on which a process is a member.

    ``lease``: seconds; ``served_url``: where its API answers, or ''; ``most``: how many trees it
    takes. ``plugins``: the digest of its plug-ins; ``is_strict``: it joins only members that have
    the same ones. ``listen_url``: where members hear of each other, '' for nowhere.
    """

    lease: float
    version: str
    served_url: str
    most: int
    plugins: str = ""
    is_strict: bool = False
    listen_url: str = ""


@dataclass(frozen=True, slots=True)
class News:
    """A word of another member. ``kind``: ``event`` or ``progress``, which has a ``text``."""

    kind: str
    text: str = ""


class Swept(Protocol):
    """The engine of a member."""

    @property
    def seconds_since_turn(self) -> float:
        """Seconds since its thread has last gone round."""

    def sweep_duties(self, *, takes_free: bool = False) -> None:
        """Release trees at rest and read requests, or take free trees."""


class Membership:
    """One life of this process as a member."""

    def __init__(
        self,
        database: Database,
        clock: SystemClock,
        member: str,
        lease: float,
        enqueue: Enqueue = enqueue_nothing,
    ) -> None:
        self._database, self._clock, self._enqueue = database, clock, enqueue
        self._member, self._lease = member, lease
        self._engine: Swept | None = None
        self._listen_url = ""
        # Hears of the others from before this member joins.
        self._listener: Members | None = None
        self._on_renewal: Callable[[Claim], None] = lambda claim: None
        self._on_news: Callable[[News], None] = lambda news: None
        self._list_progress: Callable[[], Iterable[str]] = tuple
        self._on_drain: Callable[[bool], None] = lambda is_draining: None
        self._is_draining = False
        self._news: set[str] = set()
        self._has_events = False
        # When the lease is renewed, the others are looked at, and events and progress are told of.
        self._renew_at = self._look_at = self._events_at = self._progress_at = 0.0
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._is_lost = threading.Event()
        # Set once the row is removed: until then others see the listening session.
        self._has_left = threading.Event()
        self._threads: list[threading.Thread] = []

    def join(
        self,
        store: Store,
        terms: Terms,
        *,
        takes_free: bool,
        follows: Collection[str] = (),
        is_draining: bool = False,
    ) -> Ownership:
        """Become a member that writes through ``store``; returns what it owns: nothing yet.

        Raises StoreError; Conflict where it is strict and the others have other plug-ins.
        ``takes_free``: it takes trees that nobody looks after, too. ``follows``: earlier lives of
        this process, which are over. ``is_draining``: it takes none at all.
        """
        members, self._is_draining = self._open(), is_draining
        self._listen_url = terms.listen_url
        self._listener = self._try_to_listen()
        row = MemberRow(
            self._member,
            socket.gethostname(),
            os.getpid(),
            terms.version,
            terms.plugins,
            terms.served_url,
            int(is_draining),
            int(self._listener is not None),
        )
        try:
            if follows:
                members.reap([*follows])
            _compare_plugins(members, terms)
            self._synchronise(members.join(row, self._lease))
        except BaseException:
            _close(self._listener)
            raise
        finally:
            members.close()
        store.name_session(f"zonda {self._member}")
        owned = Ownership(
            self._member,
            terms.most,
            self._clock.now,
            takes_free=takes_free,
            tell=self._tell,
            enqueue=self._enqueue,
        )
        owned.is_draining = is_draining
        return owned

    def begin(
        self,
        engine: Swept,
        *,
        on_renewal: Callable[[Claim], None] = lambda claim: None,
        on_news: Callable[[News], None] = lambda news: None,
        list_progress: Callable[[], Iterable[str]] = tuple,
        on_drain: Callable[[bool], None] = lambda is_draining: None,
    ) -> None:
        """Keep the lease from now on, and tell ``engine`` what the others tell.

        ``on_renewal`` is called after each renewal with what claims a duty that is no tree; it may
        raise StoreError. ``on_news`` is given
        what is not for the engine; ``list_progress`` gives what to tell the others. ``on_drain`` is
        called when somebody wants this member to drain, or not to any more.
        """
        self._engine, self._on_renewal, self._on_drain = engine, on_renewal, on_drain
        self._on_news, self._list_progress = on_news, list_progress
        for run in (self._keep, self._listen):
            self._start(run)

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name="zonda-member", daemon=True)
        self._threads.append(thread)
        thread.start()

    def leave(self) -> None:
        """End: what this member still owns is free at once."""
        self._stopping.set()
        self._woken.set()
        for thread in self._threads:
            thread.join(_GRACE)

    def abandon(self) -> None:
        """End without a word to the database, which may not answer."""
        self._is_lost.set()
        self._stopping.set()
        self._woken.set()

    def tell_events(self) -> None:
        """Tell the others soon that there are new events."""
        if not self._has_events:
            self._has_events = True
            self._woken.set()

    def _tell(self, what: str) -> None:
        self._news.add(what)
        self._woken.set()

    def _open(self) -> Members:
        return Members(self._database.url, self._database.where, self._enqueue)

    def _synchronise(self, now: float) -> None:
        if isinstance(self._clock, ClusterClock):
            self._clock.synchronise(now)

    # -- the thread that keeps the lease --------------------------------------------------------

    def _keep(self) -> None:
        members: Members | None = None
        while not self._stopping.is_set():
            wait = _LOOK
            try:
                members = members or self._open()
                if not self._do_due(members, self._clock.monotonic()):
                    break
                wait = self._compute_wait(self._clock.monotonic())
            except StoreError as error:
                log.warning("The lease cannot be kept: %s", error)
                _close(members)
                members = None
            self._woken.wait(wait)
            self._woken.clear()
        self._end(members)

    def _do_due(self, members: Members, now: float) -> bool:
        """Do what is due; False where this member was removed."""
        if now >= self._renew_at:
            if not self._renew(members):
                return False
            self._renew_at = now + self._lease / 3
            self._on_renewal(partial(self._claim, members))
        self._tell_news(members)
        if self._has_events and now >= self._events_at:
            self._has_events, self._events_at = False, now + _EVENT_TICK
            members.tell("event")
        if now >= self._look_at:
            self._look_at = now + _LOOK
            if members.remove_dead() and self._engine is not None:
                self._engine.sweep_duties(takes_free=True)
        if now >= self._progress_at:
            self._progress_at = now + _PROGRESS_TICK
            for text in self._list_progress():
                members.tell(f"progress {self._member} {text}")
        return True

    def _tell_news(self, members: Members) -> None:
        while self._news:
            members.tell(self._news.pop())

    def _claim(self, members: Members, key: str) -> bool:
        return not self._is_draining and members.claim(key, self._member)

    def _compute_wait(self, now: float) -> float:
        due = min(self._look_at, self._events_at) if self._has_events else self._look_at
        return max(0.0, due - now)

    def _renew(self, members: Members) -> bool:
        """Renew the lease, unless the engine is stuck; False where it was removed."""
        if self._engine is not None and self._engine.seconds_since_turn > _STUCK:
            return True
        found = members.renew(self._member, self._lease)
        if found is None:
            log.warning("This process is no member of the cluster any more")
            if self._engine is not None:
                self._engine.sweep_duties(takes_free=True)  # its fence ends it
            return False
        self._synchronise(found.now)
        # the renewal has looked at the others, too
        self._look_at = 0.0 if found.has_news else self._clock.monotonic() + _LOOK
        if found.is_draining != self._is_draining:
            self._is_draining = found.is_draining
            self._on_drain(found.is_draining)
        return True

    def _end(self, members: Members | None) -> None:
        try:
            if self._stopping.is_set() and not self._is_lost.is_set():
                members = members or self._open()
                self._tell_news(members)
                members.leave(self._member)
                self._has_left.set()
                members.tell("end")  # whom it wakes first is this member
        except StoreError as error:  # the lease ends by itself
            log.warning("The cluster cannot be left: %s", error)
        self._has_left.set()
        _close(members)

    # -- the thread that listens ------------------------------------------------------------------

    def _try_to_listen(self) -> Members | None:
        try:
            return self._open_listener()
        except StoreError as error:
            log.warning("Members cannot hear of each other yet: %s", error)
            return None

    def _open_listener(self) -> Members | None:
        """A session that listens; None where that cannot be. Raises StoreError."""
        if not self._listen_url:
            return None
        members = Members(self._listen_url, self._database.where)
        if members.is_pooled:
            log.warning("Members cannot hear of each other: %s", POOLED)
            self._listen_url = ""
            members.close()
            return None
        members.begin_to_listen(self._member)
        return members

    def _listen(self) -> None:
        members, self._listener = self._listener, None
        while not self._has_left.is_set():
            try:
                if members is None:
                    members = self._open_listener()
                    if members is None:
                        break
                    self._catch_up()
                for told in members.hear(_LISTEN):
                    self._take(told)
            except StoreError:
                _close(members)
                members = None
                self._has_left.wait(_TICK)
        _close(members)

    def _catch_up(self) -> None:
        """Look for what was told while nobody listened."""
        assert self._engine is not None
        self._engine.sweep_duties(takes_free=True)
        self._engine.sweep_duties()

    def _take(self, told: str) -> None:
        kind, _, rest = told.partition(" ")
        member, _, text = rest.partition(" ")
        assert self._engine is not None
        if kind == "duty":
            self._engine.sweep_duties(takes_free=True)
        elif kind == "request":
            self._engine.sweep_duties()
        elif member != self._member:
            self._on_news(News(kind, text))


def _compare_plugins(members: Members, terms: Terms) -> None:
    """Warn of members that have other plug-ins; raises Conflict for a strict one."""
    others = [each for each in members.list_members() if each.plugins != terms.plugins]
    if not others:
        return
    text = f"Process {others[0].pid} on {others[0].host} has other plug-ins than this one."
    if terms.is_strict:
        raise Conflict(text, hint="Install the same ones, or set strict_plugins to no.")
    log.warning("%s A stack may need those that one of them lacks", text)


def _close(members: Members | None) -> None:
    if members is not None:
        members.close()
