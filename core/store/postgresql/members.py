"""The members of a cluster, on a connection of their own: leases, and the duties of the dead.

Called by ``core.cluster``. A lease says when a member is taken for dead; whether two may write to
one tree is said by row locks alone (``schema.cluster_statements``). All times are the server's.
"""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from zonda.hooks.records import dataclass

from ..database.placement import ORDINARY, TREE, Enqueue, enqueue_nothing
from .connection import ServerConnection, connect
from .faults import to_store_error

_NOW = "extract(epoch FROM clock_timestamp())::float8"
#: The channel on which members tell that there is something to look at; sweeps find it anyway.
CHANNEL = "zonda"
_JOIN = f"""INSERT INTO member
    (id, host, pid, version, plugins, url, started_at, draining, listens, expires_at)
    VALUES (%s, %s, %s, %s, %s, %s, {_NOW}, %s, %s, {_NOW} + %s) RETURNING started_at"""
#: Seconds after which whoever has room takes a free tree, whatever the queue does with its job: the
#: worker that has fetched that may have died before it could take the tree.
_OVERLOOKED = 2.0
# A member whose session that listens has ended; and a tree that the queue brings to nobody.
_GONE = """{0}.listens = 1 AND NOT EXISTS (SELECT 1 FROM pg_stat_activity AS activity
    WHERE activity.application_name = 'zonda listener ' || {0}.id)"""
_HAS_FREE = f"""EXISTS (SELECT 1 FROM duty WHERE duty.member IS NULL AND key LIKE '{TREE}%%'
    AND GREATEST(since, not_before) < {_NOW} - {_OVERLOOKED})"""
_LOOK = f"""SELECT id, expires_at < {_NOW}, {_GONE.format("member")}, {_HAS_FREE} FROM member"""
_RENEW = f"""UPDATE member SET expires_at = {_NOW} + %s WHERE id = %s
    RETURNING {_NOW}, draining, {_HAS_FREE} OR EXISTS (SELECT 1 FROM member AS other
        WHERE other.expires_at < {_NOW} OR {_GONE.format("other")})"""
# A member that was stopped inside a transaction holds its row: it is cut, not waited for.
_DEAD = f"""SELECT id FROM member WHERE expires_at < {_NOW} OR id = ANY(%s)
    FOR UPDATE SKIP LOCKED"""
# The owners of a healthy tree may die by chance: only after five deaths in a row it has to wait.
_FREE = f"""UPDATE duty SET member = NULL, since = {_NOW}, takeovers = takeovers + 1,
    not_before = CASE WHEN takeovers < 5 THEN 0
                      ELSE {_NOW} + LEAST(POWER(2, takeovers - 5), 300) END
    WHERE member = ANY(%s) RETURNING key, not_before"""
_LEAVE = f"""UPDATE duty SET member = NULL, since = {_NOW} WHERE member = %s
    RETURNING key, not_before"""
# The row of the member stays until the commit: a duty is not taken for one that is removed.
_CLAIM = f"""INSERT INTO duty (key, member, since, not_before, takeovers)
    SELECT %s, id, {_NOW}, 0, 0 FROM member WHERE id = %s FOR KEY SHARE
    ON CONFLICT (key) DO UPDATE SET member = EXCLUDED.member, since = EXCLUDED.since
    WHERE duty.member IS NULL RETURNING 1"""
# It waits until they are gone, so that their locks are, too; at most so many milliseconds.
_CUT = f"""SELECT pg_terminate_backend(activity.pid, 1000) FROM pg_stat_activity AS activity
    JOIN member ON activity.application_name = 'zonda ' || member.id
    WHERE member.expires_at < {_NOW} AND activity.datname = current_database()"""


_MEMBERS = f"""SELECT id, host, pid, version, plugins, url, draining, listens, started_at,
    expires_at - {_NOW}, (SELECT COUNT(*) FROM duty WHERE duty.member = member.id)
    FROM member ORDER BY started_at, id"""
_DUTIES = f"""SELECT duty.key, stack.name, stack.project, duty.member, duty.since, duty.takeovers,
    GREATEST(duty.not_before - {_NOW}, 0)
    FROM duty LEFT JOIN stack ON 'tree:' || stack.id = duty.key ORDER BY duty.since, duty.key"""


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member as it joins.

    ``plugins``: the digest of its plug-ins. ``listens``: whether its session listens by now.
    """

    id: str
    host: str
    pid: int
    version: str
    plugins: str
    url: str
    draining: int = 0
    listens: int = 0


@dataclass(frozen=True, slots=True)
class MemberView(MemberRow):
    """A member for display. ``left``: seconds until its lease ends; ``duties``: how many it has."""

    started_at: float = 0.0
    left: float = 0.0
    duties: int = 0


@dataclass(frozen=True, slots=True)
class DutyView:
    """A duty for display: a stack with all that is nested in it, and who looks after it ``since``.

    ``member``: None for nobody; ``takeovers``: how many owners in a row have died without any
    progress; ``waits``: seconds until somebody may take it.
    """

    key: str
    stack: str | None
    project: str | None
    member: str | None
    since: float
    takeovers: int
    waits: float


@dataclass(frozen=True, slots=True)
class Renewal:
    """An answer to a renewal: the server's time, and whether the member is to drain.

    ``has_news``: whether ``remove_dead`` has anything to do.
    """

    now: float
    is_draining: bool
    has_news: bool


class Members:
    """The table of members. For one thread; raises StoreError, after which it is made anew."""

    def __init__(self, url: str, where: str, enqueue: Enqueue = enqueue_nothing) -> None:
        self._where, self._enqueue = where, enqueue
        self._connection = connect(url, where)

    @property
    def is_pooled(self) -> bool:
        """Whether a pooler stands before the server: nothing can be heard through one."""
        return self._connection.prepare_threshold is None

    def join(self, row: MemberRow, lease: float) -> float:
        """Add a member whose lease ends in ``lease`` seconds; returns the server's time."""
        shown = (row.id, row.host, row.pid, row.version, row.plugins, row.url)
        return float(self._execute(_JOIN, *shown, row.draining, row.listens, lease)[0][0])

    def renew(self, member: str, lease: float) -> Renewal | None:
        """Renew a lease; returns None for a member that was removed."""
        found = self._execute(_RENEW, lease, member)
        return Renewal(float(found[0][0]), *map(bool, found[0][1:])) if found else None

    def set_draining(self, member: str, is_draining: bool) -> bool:
        """Have a member take no trees and hand its own over, or take some again.

        It sees that at its next renewal. False where there is no such member.
        """
        statement = "UPDATE member SET draining = %s WHERE id = %s RETURNING id"
        return bool(self._execute(statement, int(is_draining), member))

    def list_members(self) -> list[MemberView]:
        """All members, the oldest first."""
        return [MemberView(*found) for found in self._execute(_MEMBERS)]

    def list_duties(self) -> list[DutyView]:
        """All duties, the oldest first."""
        return [DutyView(*found) for found in self._execute(_DUTIES)]

    def remove_dead(self) -> bool:
        """Remove members whose lease is over, or whose process has ended, and free their duties.

        Returns whether there are trees that the queue brings to nobody.
        PostgreSQL closes the sessions of a process that ends at once: a listening session that is
        there no more tells of that long before the lease does.
        """
        found = self._execute(_LOOK)
        gone = [key for key, _, is_gone, _ in found if is_gone]
        expired = any(is_expired for _, is_expired, _, _ in found)
        if (gone or expired) and not self.reap(gone) and expired and self.cut():
            self.reap()
        return any(is_overlooked for *_, is_overlooked in found)

    def reap(self, gone: Sequence[str] = ()) -> int:
        """Remove members whose lease is over, and ``gone``; returns how many there were."""
        with self._transaction():
            dead = [key for (key,) in self._execute(_DEAD, [*gone])]
            has_freed = self._place(self._execute(_FREE, dead))
            self._execute("DELETE FROM member WHERE id = ANY(%s)", dead)
        if has_freed:
            self.tell("duty")
        return len(dead)

    def _place(self, freed: Sequence[tuple[str, float]]) -> bool:
        """Put the trees among freed duties into the queue, if there is one; whether there are any.

        Members are told of them as well: a worker that looks for jobs just then hears of none.
        """
        trees = [(key.removeprefix(TREE), at) for key, at in freed if key.startswith(TREE)]
        if trees:
            self._enqueue(ServerConnection(self._connection, self._where), trees, ORDINARY)
        return bool(trees)

    def cut(self) -> int:
        """End the writing sessions of members whose lease is over; returns how many there were."""
        return len(self._execute(_CUT))

    def leave(self, member: str) -> None:
        """Remove a member that ends, and give its duties away at once."""
        with self._transaction():  # locks in the order of ``reap``
            self._execute("SELECT 1 FROM member WHERE id = %s FOR UPDATE", member)
            has_freed = self._place(self._execute(_LEAVE, member))
            self._execute("DELETE FROM member WHERE id = %s", member)
        if has_freed:
            self.tell("duty")

    def claim(self, key: str, member: str) -> bool:
        """Take a duty that is no tree, and that no member has; whether ``member`` has it now."""
        return bool(self._execute(_CLAIM, key, member))

    def tell(self, what: str) -> None:
        """Tell every member that there is something new: ``duty``, ``request``, ``answer``."""
        self._execute("SELECT pg_notify(%s, %s)", CHANNEL, what)

    def begin_to_listen(self, member: str) -> None:
        """Hear what members tell from now on; while it does, ``member`` lives."""
        self._execute(f"LISTEN {CHANNEL}")
        self._execute(
            "SELECT set_config('application_name', %s, false)", f"zonda listener {member}"
        )

    def hear(self, seconds: float) -> set[str]:
        """Wait for something to be told, up to ``seconds``; returns it."""
        try:
            found = self._read_notes()
            if not found:
                # psycopg itself would look ten times a second
                ready = select.poll()
                ready.register(self._connection.fileno(), select.POLLIN)
                if ready.poll(seconds * 1000):
                    found = self._read_notes()
        except psycopg.Error as error:
            raise to_store_error(error, self._where) from error
        return found

    def _read_notes(self) -> set[str]:
        return {note.payload for note in self._connection.notifies(timeout=0)}

    def _execute(self, statement: str, *values: Any) -> list[Any]:
        try:
            cursor = self._connection.execute(statement.encode(), values)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise to_store_error(error, self._where) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with self._connection.transaction():
                yield
        except psycopg.Error as error:
            raise to_store_error(error, self._where) from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
