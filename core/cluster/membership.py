"""A member of a cluster: it joins, keeps its lease, frees the trees of the dead, and leaves.

Made by ``core.app`` for each life of an engine. Its threads have connections of their own, so that
a long transaction of the engine does not end the lease.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from typing import Protocol

from zonda.core.store.database.protocols import Database
from zonda.core.store.postgresql.members import MemberRow, Members
from zonda.core.store.write.database import Store
from zonda.core.store.write.duties import Ownership
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import StoreError

from .clock import ClusterClock

log = logging.getLogger(__name__)

#: Seconds between two looks at the leases of the others.
_TICK = 0.5
#: Seconds after which an engine whose thread does not go round is taken for dead.
_STUCK = 30.0
#: Seconds that a stopping member waits for its own threads.
_GRACE = 5.0


class Swept(Protocol):
    """The engine of a member."""

    @property
    def seconds_since_turn(self) -> float:
        """Seconds since its thread has last gone round."""

    def sweep_duties(self) -> None:
        """Take free trees and read requests."""


class Membership:
    """One life of this process as a member."""

    def __init__(
        self, database: Database, clock: SystemClock, *, member: str, lease: float
    ) -> None:
        self._database, self._clock = database, clock
        self._member, self._lease = member, lease
        self._engine: Swept | None = None
        self._on_renewal: Callable[[], None] = lambda: None
        self._news: set[str] = set()
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def join(
        self, store: Store, *, version: str, served_url: str, most: int, takes_free: bool
    ) -> Ownership:
        """Become a member that writes through ``store``; returns what it owns: nothing yet.

        Raises StoreError.
        ``most``: how many trees it takes; ``takes_free``: also those that nobody looks after.
        """
        members = self._open()
        row = MemberRow(self._member, socket.gethostname(), os.getpid(), version, "", served_url)
        try:
            self._synchronise(members.join(row, self._lease))
        finally:
            members.close()
        store.name_session(f"zonda {self._member}")
        return Ownership(
            self._member, most, self._clock.now, takes_free=takes_free, tell=self._tell
        )

    def begin(self, engine: Swept, on_renewal: Callable[[], None]) -> None:
        """Keep the lease from now on, and tell ``engine`` what the others tell.

        ``on_renewal`` is called after each renewal; it may raise StoreError.
        """
        self._engine, self._on_renewal = engine, on_renewal
        for run in (self._keep, self._listen):
            thread = threading.Thread(target=run, name="zonda-member", daemon=True)
            self._threads.append(thread)
            thread.start()

    def leave(self) -> None:
        """End: what this member still owns is free at once."""
        self._stopping.set()
        self._woken.set()
        for thread in self._threads:
            thread.join(_GRACE)

    def _tell(self, what: str) -> None:
        self._news.add(what)
        self._woken.set()

    def _open(self) -> Members:
        return Members(self._database.url, self._database.where)

    def _synchronise(self, now: float) -> None:
        if isinstance(self._clock, ClusterClock):
            self._clock.synchronise(now)

    # -- the thread that keeps the lease --------------------------------------------------------

    def _keep(self) -> None:
        members: Members | None = None
        due = 0.0
        while not self._stopping.is_set():
            try:
                members = members or self._open()
                if self._clock.monotonic() >= due:
                    if not self._renew(members):
                        break
                    due = self._clock.monotonic() + self._lease / 3
                    self._on_renewal()
                self._look_after_others(members)
            except StoreError as error:
                log.warning("The lease cannot be kept: %s", error)
                _close(members)
                members = None
            self._woken.wait(_TICK)
            self._woken.clear()
        self._end(members)

    def _renew(self, members: Members) -> bool:
        """Renew the lease, unless the engine is stuck; False where it was removed."""
        if self._engine is not None and self._engine.seconds_since_turn > _STUCK:
            return True
        now = members.renew(self._member, self._lease)
        if now is None:
            log.warning("This process is no member of the cluster any more")
            return False
        self._synchronise(now)
        return True

    def _look_after_others(self, members: Members) -> None:
        while self._news:
            members.tell(self._news.pop())
        if members.has_expired() and not members.reap():
            members.cut()

    def _end(self, members: Members | None) -> None:
        try:
            if self._stopping.is_set():
                members = members or self._open()
                members.leave(self._member)
        except StoreError as error:  # the lease ends by itself
            log.warning("The cluster cannot be left: %s", error)
        _close(members)

    # -- the thread that listens ------------------------------------------------------------------

    def _listen(self) -> None:
        members: Members | None = None
        while not self._stopping.is_set():
            try:
                if members is None:
                    members = self._open()
                    members.begin_to_listen()
                if members.hear(_TICK) and self._engine is not None:
                    self._engine.sweep_duties()
            except StoreError:
                _close(members)
                members = None
                self._stopping.wait(_TICK)
        _close(members)


def _close(members: Members | None) -> None:
    if members is not None:
        members.close()
