"""One database in memory with several sessions: those that write, and those of members.

Transactions are serial, which is what the fence gives on PostgreSQL. The statements of ``Members``
are its own; what SQLite writes otherwise is translated.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zonda.core.store.database.faults import Lost
from zonda.core.store.database.placement import enqueue_nothing
from zonda.core.store.file.connection import FileConnection
from zonda.core.store.postgresql.members import Members
from zonda.hooks.errors import StoreError

from ..faulty import KINDS, Faulty

if TYPE_CHECKING:
    from .process import Process
    from .simulator import ClusterSimulator

_ACTIVITY = "CREATE TEMP TABLE pg_stat_activity (pid INTEGER, application_name TEXT, datname TEXT)"
_TRANSLATIONS = (
    (r"extract\(epoch FROM clock_timestamp\(\)\)::float8", "server_time()"),
    (r"= ANY\(%s\)", "IN (SELECT value FROM json_each(%s))"),
    (r"FOR UPDATE( SKIP LOCKED)?", ""),
    (r"%s", "?"),
)


class Cut(sqlite3.DatabaseError):
    """The session was ended on the server."""


class Sessions:
    """The sessions, as ``pg_stat_activity`` shows them; others may end one."""

    def __init__(self, sim: ClusterSimulator, connection: FileConnection) -> None:
        self.connection = connection
        self._last = 0
        self.cut: set[int] = set()
        connection.execute(_ACTIVITY)
        functions: list[tuple[str, int, Any]] = [
            ("server_time", 0, sim.time.read_server),
            ("current_database", 0, lambda: "zonda"),
            ("pg_terminate_backend", 1, self.end),
            ("pg_notify", 2, lambda channel, text: sim.notify(text)),
            ("LEAST", 2, min),
            ("GREATEST", 2, max),
            ("POWER", 2, lambda base, power: float(base) ** power),
        ]
        for name, count, run in functions:
            connection.create_function(name, count, run)

    def begin(self) -> int:
        """A session without a name."""
        self._last += 1
        return self._last

    def name(self, session: int, name: str) -> None:
        """Show a session under a name."""
        self.connection.execute("DELETE FROM pg_stat_activity WHERE pid = ?", (session,))
        values = (session, name, "zonda")
        self.connection.execute("INSERT INTO pg_stat_activity VALUES (?, ?, ?)", values)

    def end(self, session: int) -> int:
        """End a session: its next statement fails."""
        self.cut.add(session)
        return 1

    def close(self, session: int) -> None:
        """Show a session no more."""
        self.connection.execute("DELETE FROM pg_stat_activity WHERE pid = ?", (session,))


class Session(Faulty):
    """The session in which a process writes."""

    def __init__(self, sim: ClusterSimulator, process: Process) -> None:
        super().__init__(sim.connection)
        self._sim, self._process = sim, process
        self.number = sim.sessions.begin()

    def begin(self) -> None:
        source = self._sim.source
        is_bad = self._sim.faults and source.random() < self._sim.faults
        self.arm(source.randrange(12) if is_bad else None, source.choice([*KINDS]))
        super().begin()

    def commit(self) -> None:
        super().commit()
        self.arm(None)
        self._sim.note_commit(self._process)
        if self._sim.source.random() < self._sim.losses:
            self._sim.counted["commits that nobody heard of"] += 1
            self._sim.sessions.end(self.number)
            raise Cut("the connection has ended")

    def close(self) -> None:
        self._sim.sessions.close(self.number)

    def execute(self, statement: str, *values: Any) -> Any:
        if "set_config" in statement:
            self._sim.sessions.name(self.number, values[0][0])
            return None
        return super().execute(statement, *values)

    def to_store_error(self, error: Exception) -> StoreError:  # type: ignore[override]
        if isinstance(error, Cut):
            return Lost("The connection to the database has ended.", hint="Try again.")
        return FileConnection.to_store_error(self, error)  # type: ignore[arg-type]

    def _perhaps(self, statement: str) -> None:
        if self.number in self._sim.sessions.cut and statement != "ROLLBACK":
            raise Cut("the connection has ended")
        super()._perhaps(statement)


class SharedDatabase:
    """The database as one process knows it."""

    url = where = ":memory:"

    def __init__(self, sim: ClusterSimulator, process: Process) -> None:
        self._sim, self._process = sim, process

    def open(self, key_check: str, *, read_only: bool) -> Session:
        """Begin a session that writes."""
        return Session(self._sim, self._process)

    def open_reader(self) -> FileConnection:
        """What reads sees the same."""
        return self._sim.connection


class SteppedMembers(Members):
    """``Members`` in a session of its own."""

    def __init__(self, sim: ClusterSimulator) -> None:
        self._sim, self._where, self._enqueue = sim, ":memory:", enqueue_nothing
        self._connection: Any = None
        self.number = sim.sessions.begin()

    def _execute(self, statement: str, *values: Any) -> list[Any]:
        sim = self._sim
        if self.number in sim.sessions.cut:
            raise Lost("The connection to the database has ended.", hint="Try again.")
        if statement.startswith("LISTEN"):
            return []
        if "set_config" in statement:
            sim.sessions.name(self.number, values[0])
            return []
        for old, new in _TRANSLATIONS:
            statement = re.sub(old, new, statement)
        given = [json.dumps(each) if isinstance(each, list) else each for each in values]
        cursor = sim.connection.execute(statement, given)
        found = cursor.fetchall() if cursor.description else []
        if not sim.connection.in_transaction:
            sim.note_members()
        return found

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._sim.connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._sim.connection.execute("ROLLBACK")
            raise
        self._sim.connection.execute("COMMIT")
        self._sim.note_members()

    def close(self) -> None:
        """End the session."""
        self._sim.sessions.close(self.number)
