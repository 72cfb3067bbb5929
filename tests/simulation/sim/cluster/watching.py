"""What must hold in a cluster after each commit, beside what must hold of the rows.

A: a tree that has anything to do has a duty. B: only its owner writes rows of a tree. C: nobody
takes a duty from a member that has a row. D: a member commits only while it has one.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from zonda.core.store.read.reader import Reader

from ..clock import SetClock
from ..watch import Watcher
from ..world import Violation, World

if TYPE_CHECKING:
    from .process import Process
    from .simulator import ClusterSimulator

_NOTED = "CREATE TEMP TABLE written (stack_id TEXT)"
_NOTE = """CREATE TEMP TRIGGER written_by_{what}_of_{table} AFTER {what} ON main.{table}
BEGIN INSERT INTO written VALUES ({row}.{column}); END"""
_TABLES = {
    "stack": "id",
    "resource": "stack_id",
    "drift_check": "stack_id",
    "snapshot": "stack_id",
}
_WRITES = {"INSERT": "new", "UPDATE": "new", "DELETE": "old"}
#: The trees that have anything to do, and no duty.
_FORGOTTEN = """
SELECT root_id FROM stack WHERE deleted_at IS NULL AND (phase != 'IDLE' OR next_action != '')
UNION SELECT stack.root_id FROM resource JOIN stack ON stack.id = resource.stack_id
    WHERE resource.op != '' OR (resource.below != resource.below_seen AND outputs_hash != '')
UNION SELECT stack.root_id FROM drift_check JOIN stack ON stack.id = drift_check.stack_id
    WHERE drift_check.status = 'RUNNING'
UNION SELECT root_id FROM request WHERE answered_at IS NULL AND root_id != ''
EXCEPT SELECT SUBSTR("key", 6) FROM duty
"""


class Ownerships:
    """The duties, members and requests after the last commit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._duties: dict[str, str | None] = {}
        self._members: set[str] = set()
        self._requests: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        #: How often anything of it has changed, or of the rows.
        self.changes = 0
        connection.execute(_NOTED)
        for table, column in _TABLES.items():
            for what, row in _WRITES.items():
                note = _NOTE.format(what=what, table=table, row=row, column=column)
                connection.execute(note)

    @property
    def is_free(self) -> bool:
        """Whether nobody has anything to look after, and nobody waits for an answer."""
        return not self._duties and not self._requests

    @property
    def members(self) -> set[str]:
        """The members."""
        return self._members

    def __repr__(self) -> str:
        return f"duties {self._duties}, requests {self._requests}, members {self._members}"

    def look(self, member: str | None) -> None:
        """Look after a commit: of a ``member``, or of whoever removes members."""
        before, had, asked = self._duties, self._members, self._requests
        execute = self._connection.execute
        self._duties = {
            key.removeprefix("tree:"): owner
            for key, owner in execute('SELECT "key", member FROM duty')
        }
        self._members = {key for (key,) in execute("SELECT id FROM member")}
        open_ = "SELECT id, root_id FROM request WHERE answered_at IS NULL AND root_id != ''"
        self._requests = dict(execute(open_).fetchall())
        written = [key for (key,) in execute("SELECT DISTINCT stack_id FROM written ORDER BY 1")]
        execute("DELETE FROM written")
        now = (self._duties, self._members, self._requests)
        if written or now != (before, had, asked):
            self.changes += 1
        if member is not None and member not in self._members:
            raise Violation(f"D: {member} commits and is no member: {written}")
        self._check_taken(before, member)
        self._check_written(written, before, member)
        self._check_answered(asked, before, member)
        forgotten = [key for (key,) in execute(_FORGOTTEN)]
        if forgotten:
            raise Violation(f"A: nobody has to look after {forgotten}: {self}")

    def _check_taken(self, before: dict[str, str | None], member: str | None) -> None:
        for key, owner in before.items():
            if owner in (None, member) or self._duties.get(key) == owner:
                continue
            if owner in self._members:
                raise Violation(f"C: {key} of {owner}, a member, is {self._duties.get(key)}'s")

    def _is_owned(self, root: str, before: dict[str, str | None], member: str | None) -> bool:
        return member is not None and member in (before.get(root), self._duties.get(root))

    def _check_written(
        self, written: list[str], before: dict[str, str | None], member: str | None
    ) -> None:
        for key in written:
            found = self._connection.execute("SELECT root_id FROM stack WHERE id = ?", (key,))
            ((root,),) = found.fetchall()
            was = self._roots.get(key)
            self._roots[key] = root
            is_mine = self._is_owned(root, before, member)
            if was is None:  # a new tree may be left to others from the first
                is_mine = is_mine or (root == key and root in self._duties)
            elif was != root:
                is_mine = is_mine and self._is_owned(was, before, member)
            if not is_mine:
                raise Violation(f"B: {member} writes to {key} of {root}: {before}, {self}")

    def _check_answered(
        self, asked: dict[str, str], before: dict[str, str | None], member: str | None
    ) -> None:
        for key in asked.keys() - self._requests.keys():
            found = self._connection.execute("SELECT answer FROM request WHERE id = ?", (key,))
            if found.fetchall() and not self._is_owned(asked[key], before, member):
                raise Violation(f"B: {member} answers {key} for {asked[key]}: {before}")


class SeenClock(SetClock):
    """The clock of the process whose commit is looked at. Members may differ by seconds."""

    went_back = True  # events of two owners may be out of order by that

    def __init__(self, sim: ClusterSimulator) -> None:
        self._sim, self._time = sim, sim.time
        #: The process that commits.
        self.process: Process | None = None

    def now(self) -> float:
        return self._time.read_server() if self.process is None else self.process.clock.now()

    def monotonic(self) -> float:
        return self._time.passed if self.process is None else self.process.clock.monotonic()

    @property
    def elapsed(self) -> float:
        """By no host's clock: that of another may be behind, since it stood still.

        What passes counts twice: another member may think that it is later.
        """
        return 2 * self._time.passed

    def count_seconds_until(self, time: float) -> float:
        """By the server's clock: that of a host which stood is behind until it asks."""
        return time - self._time.read_server()

    def advance(self, seconds: float) -> None:
        self._sim.pass_calmly(seconds)


class ClusterWatcher(Watcher):
    """Looks at the rows by the clock of whoever commits."""

    def __init__(
        self, connection: sqlite3.Connection, reader: Reader, world: World, clock: SeenClock
    ) -> None:
        super().__init__(connection, reader, world, clock)
        self._seen = clock
        self._offsets: dict[Any, float] = {}

    def look(self, process: Process, *, alone: bool) -> None:
        """Look after a commit of a process."""
        self._seen.process = process
        self._offset = self._offsets.get(process, self._clock_offset)
        self.committed(alone=alone, zombie=None)
        self._offsets[process] = self._offset
        self._seen.process = None
