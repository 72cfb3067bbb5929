"""Two sessions on PostgreSQL, one statement at a time, in every order that there is.

Each session runs in a thread of its own and waits before each statement. Whether it is blocked by
the other one is asked of the server (``pg_blocking_pids``), so that no time matters.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg

from zonda.core.store.postgresql.cursor import Cursor
from zonda.core.system.clock import SystemClock

_BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
#: Seconds after which a session that neither comes back nor is blocked is taken for lost.
PATIENCE = 120.0


class Gate:
    """A connection of psycopg that waits before each statement until it is let through."""

    def __init__(self, connection: psycopg.Connection[Any], session: Session) -> None:
        self._connection, self._session = connection, session

    def wait_before(self, statement: str) -> None:
        """Wait until it is a statement's turn."""
        if self._session.stops_at(statement):
            self._session.wait_for_turn()

    def execute(self, statement: Any, *values: Any) -> Any:
        """Run a statement when it is its turn."""
        self.wait_before(str(statement))
        return self._connection.execute(statement, *values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction whose end is a statement."""
        with self._connection.transaction():
            yield
            self._session.wait_for_turn()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@contextmanager
def stepping() -> Iterator[None]:
    """Statements of the store wait at a gate, and each is carried out before the next is sent."""

    def gate(run: Callable[..., Any]) -> Callable[..., Any]:
        def run_at_gate(cursor: Cursor, statement: str, values: Any) -> Any:
            at: Any = cursor.connection
            if not isinstance(at, Gate):
                return run(cursor, statement, values)
            at.wait_before(statement)
            found = run(cursor, statement, values)
            cursor._wait()
            return found

        return run_at_gate

    with (
        mock.patch.object(Cursor, "run", gate(Cursor.run)),
        mock.patch.object(Cursor, "run_each", gate(Cursor.run_each)),
    ):
        yield


class Session:
    """One of two sessions. ``pid``: of its process on the server.

    ``stops``: a pattern of the statements that wait for a turn; what is only read by the way goes
    along with the one before. The begin of a transaction has no effect.
    """

    def __init__(self, run: Callable[[Session], None], stops: str = "") -> None:
        self.pid = 0
        self._stops = re.compile(stops)
        self.error: BaseException | None = None
        self._run = run
        self._turns = threading.Semaphore(0)
        self._is_waiting = threading.Event()
        self._is_over = False
        self._thread = threading.Thread(target=self._go, daemon=True)

    def open_gate(self, connection: psycopg.Connection[Any]) -> Gate:
        """A connection that waits for its turn at each statement."""
        self.pid = connection.info.backend_pid
        return Gate(connection, self)

    def stops_at(self, statement: str) -> bool:
        """Whether it waits before a statement."""
        return not statement.startswith("BEGIN") and bool(self._stops.search(statement))

    def begin(self) -> None:
        """Go on to the first statement."""
        self._thread.start()

    def _go(self) -> None:
        try:
            self._run(self)
        except BaseException as error:
            self.error = error
        self._is_over = True
        self._is_waiting.set()

    def wait_for_turn(self) -> None:
        """Wait for its turn; called in its thread."""
        self._is_waiting.set()
        self._turns.acquire()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._is_waiting.is_set() and self._is_over

    @property
    def is_ready(self) -> bool:
        """Whether it waits for its turn."""
        return self._is_waiting.is_set() and not self._is_over

    def step(self) -> None:
        """Let the next statement through."""
        self._is_waiting.clear()
        self._turns.release()

    @property
    def is_running(self) -> bool:
        """Whether it neither waits for its turn nor has ended: it may be blocked."""
        return not self._is_waiting.is_set()


class Order:
    """One order of two sessions: at each choice what ``choices`` says, and the first after that.

    ``taken``: what was chosen, of how many.
    """

    def __init__(self, observer: psycopg.Connection[Any], choices: Sequence[int]) -> None:
        self._observer, self._choices = observer, choices
        self._clock = SystemClock()
        self.taken: list[tuple[int, int]] = []
        self.has_blocked = False

    def play(self, sessions: Sequence[Session]) -> None:
        """Play it to its end."""
        for session in sessions:
            session.begin()
            self._settle(session)
        while ready := [session for session in sessions if session.is_ready]:
            place = len(self.taken)
            choice = self._choices[place] if place < len(self._choices) else 0
            self.taken.append((choice, len(ready)))
            stepped = ready[choice]
            stepped.step()
            self._settle(stepped)  # before the other one, whom it may have set free
            for session in sessions:
                self._settle(session)
        stuck = [session.pid for session in sessions if not session.is_over]
        assert not stuck, f"{stuck} block each other"

    def _settle(self, session: Session) -> None:
        """Wait until a session has come back, or is blocked."""
        until = self._clock.monotonic() + PATIENCE
        while session.is_running:
            found = self._observer.execute(_BLOCKED, (session.pid,)).fetchone()
            if found is not None and found[0]:
                self.has_blocked = True
                return
            assert self._clock.monotonic() < until, "a session is lost"
            self._clock.pause(0.0005)


def play_all(
    observer: psycopg.Connection[Any],
    prepare: Callable[[], Sequence[Session]],
    check: Callable[[Sequence[Session]], None],
) -> tuple[int, int]:
    """Play every order of what ``prepare`` gives; how many there are, and how many had blocks."""
    pending: list[list[int]] = [[]]
    count = blocked = 0
    while pending:
        choices = pending.pop()
        order, sessions = Order(observer, choices), prepare()
        order.play(sessions)
        try:
            check(sessions)
        except AssertionError as error:
            error.add_note(f"order {[choice for choice, _ in order.taken]}")
            raise
        count += 1
        blocked += order.has_blocked
        for place in range(len(choices), len(order.taken)):
            chosen = [choice for choice, _ in order.taken[:place]]
            pending += [[*chosen, other] for other in range(1, order.taken[place][1])]
    return count, blocked
