"""Locks of a database on a server: advisory ones, which end with the session that holds them.

They are taken in the session that writes: who has lost that has lost the lock, and cannot write.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Self

import psycopg

from zonda.hooks.errors import StoreError

from .connection import PooledConnection, ServerConnection

_HOLDER = (
    "SELECT activity.application_name FROM pg_locks"
    " LEFT JOIN pg_stat_activity AS activity USING (pid)"
    " WHERE pg_locks.locktype = 'advisory' AND pg_locks.granted AND pg_locks.objsubid = 1"
    " AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND (pg_locks.classid::bigint << 32 | pg_locks.objid::bigint) = %s"
)


_MEMBERS = "SELECT pid FROM member WHERE expires_at > extract(epoch FROM clock_timestamp())"
_HAS_MEMBERS = "SELECT to_regclass('member') IS NOT NULL"


def compute_key(name: str) -> int:
    """The number of a lock, 64 bits."""
    digest = blake2b(f"zonda {name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


class AdvisoryLock:
    """One lock. ``session`` gives the connection to take it in, ``reads`` one to look at it."""

    def __init__(
        self, name: str, session: Callable[[], ServerConnection], reads: PooledConnection
    ) -> None:
        self._key = compute_key(name)
        self._session, self._reads = session, reads
        self._holding: ServerConnection | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._holding is not None

    def acquire(self, blocking: bool = False) -> bool:
        """Take the lock; False if another process, or another lock object, holds it."""
        if self._holding is not None:
            return True
        session = self._session()
        if session.is_pooled:
            raise StoreError(
                f"A pooler stands before {session.where}, and this needs a session of its own.",
                hint="Run it with the database_url of the server itself.",
            )
        try:
            # a session may take a lock twice: another object of this process has it
            if not blocking and self.is_taken():
                return False
            name = "pg_advisory_lock" if blocking else "pg_try_advisory_lock"
            (taken,) = session.execute(f"SELECT {name}(%s)", (self._key,)).fetchone()
        except psycopg.Error as error:
            raise session.to_store_error(error) from error
        if taken is False:
            return False
        self._holding = session
        return True

    def release(self) -> None:
        """Give the lock back; nothing where the session has ended."""
        holding, self._holding = self._holding, None
        if holding is not None:
            with suppress(psycopg.Error):
                holding.execute("SELECT pg_advisory_unlock(%s)", (self._key,))

    def is_taken(self) -> bool:
        """Whether anybody holds the lock."""
        return self._holding is not None or bool(self._look())

    def read_holder(self) -> int | None:
        """The process id of the holder, on whichever machine it is, as far as known."""
        for (name,) in self._look():
            number = str(name or "").removeprefix("zonda ")
            return int(number) if number.isdigit() else None
        return None

    def _look(self) -> list[tuple[str | None]]:
        try:
            found: list[tuple[str | None]] = self._reads.execute(_HOLDER, (self._key,)).fetchall()
        except psycopg.Error as error:
            raise self._reads.to_store_error(error) from error
        return found

    def __enter__(self) -> Self:
        self.acquire(blocking=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class EngineLock(AdvisoryLock):
    """The right to be the only engine: the members of a cluster have it together."""

    def is_taken(self) -> bool:
        """Whether there is any engine."""
        return super().is_taken() or bool(self._list_members())

    def read_holder(self) -> int | None:
        """The process id of an engine, on whichever machine it is, as far as known."""
        members = self._list_members()
        return members[0] if members else super().read_holder()

    def _list_members(self) -> list[int]:
        try:
            if not self._reads.execute(_HAS_MEMBERS).fetchone()[0]:
                return []
            return [pid for (pid,) in self._reads.execute(_MEMBERS).fetchall()]
        except psycopg.Error as error:
            raise self._reads.to_store_error(error) from error
