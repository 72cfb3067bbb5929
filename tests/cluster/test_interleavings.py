"""The five pairs of transactions that hold a cluster together, in every order on PostgreSQL.

What one process at a time cannot show (``tests/simulation``): who waits for whom, and who sees what
after that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import psycopg
import pytest
from tests.cluster.stepping import Gate, Session, play_all, stepping
from tests.engine.conftest import KEY
from tests.postgresql_server import PostgreSQL

from zonda.core.engine.drift.schedule import DueChecks
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.engine.runtime.trees import Trees, get_duties
from zonda.core.store.postgresql import connection
from zonda.core.store.postgresql.members import Members
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import EventRow, StackRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import Store, open_store
from zonda.core.store.write.duties import FencedOut, Ownership

NOW = 1_000_000.0
Unit = Callable[[UnitOfWork], Any]


class Pool:
    """A pool of one connection."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    @contextmanager
    def connection(self) -> Iterator[Gate]:
        yield self._gate


class Member:
    """A member with a store whose statements are let through one by one."""

    def __init__(self, name: str, url: str) -> None:
        self.name, self._url = name, url
        self.store: Store = open_store(url, sealer=Sealer(KEY))
        self._connection: Any = self.store._connection
        self._plain = self._connection._connection
        self.trees: Trees

    def join(self) -> None:
        """Begin anew, with nothing."""
        self._connection._connection = self._plain
        self.store.forget_rows()
        self.store.ownership = Ownership(self.name, 200, lambda: NOW)
        driver: Any = SimpleNamespace(driven=None)
        trees: Any = Trees(driver, self.store.ownership, lambda: None, lambda: None)
        trees._take_over = lambda work, *roots: None  # whoever has the tree is alone by then
        self.trees = trees

    @property
    def roots(self) -> set[str]:
        """What it believes to own."""
        assert self.store.ownership is not None
        return self.store.ownership.roots

    def run(self, *units: Unit) -> None:
        """Run units in one transaction."""
        with self.store.transaction() as tx:
            work = UnitOfWork(tx, NOW, make_id, self.store.sealer, self.name)
            for unit in units:
                unit(work)

    def step(self, *units: Unit, stops: str = "") -> Session:
        """A session that runs units in one transaction."""

        def run(session: Session) -> None:
            self._connection._connection = session.open_gate(self._plain)
            self.run(*units)

        return Session(run, stops)

    def read_events(self, into: list[int]) -> Unit:
        """Reads all events in the same session, after what it has committed."""

        def run(session: Session) -> None:
            reader: Reader = self.store.reader()
            read: Any = reader._connection
            read._pool = Pool(session.open_gate(self._plain))
            into.extend(event.seq for event in reader.events_after(0, 100))

        return run  # type: ignore[return-value]

    def close(self) -> None:
        self._connection._connection = self._plain
        self.store.close()


_numbers = itertools.count(1)


def make_id() -> str:
    return f"id-{next(_numbers)}"


class Scene:
    """A database, two members and a reaper; ``reset`` before each order."""

    def __init__(self, url: str, stack: ExitStack) -> None:
        self.url = url
        self.one, self.two = Member("one", url), Member("two", url)
        stack.callback(self.one.close)
        stack.callback(self.two.close)
        self.observer = stack.enter_context(psycopg.connect(url, autocommit=True))
        self.members = Members(url, "the test's")
        stack.callback(self.members.close)
        self._plain: Any = self.members._connection

    def execute(self, statement: str, *values: Any) -> list[Any]:
        cursor = self.observer.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []

    def reset(self, owner: str | None = None, **stack: Any) -> None:
        """One stack, at rest but for what is said; it has a duty if it has an ``owner``."""
        self.members._connection = self._plain
        for table in ("duty", "member", "request", "drift_check", "event", "stack"):
            self.execute(f"DELETE FROM {table}")
        for member in (self.one, self.two):
            member.join()
            insert = "INSERT INTO member VALUES (%s, '', 0, '', '', '', 0, 0, 1e12, 0)"
            self.execute(insert, member.name)
        row = StackRow("1", "default", "s", root_id="1", **stack)
        self.one.run(lambda work: work.tx.add_stack(row))
        if owner is None:
            self.one.run(lambda work: get_duties(work).release("1"))
        elif owner == "":
            self.one.run(lambda work: get_duties(work).hand_over("1"))

    def reap(self) -> Session:
        """A session that removes who is dead."""

        def run(session: Session) -> None:
            gate: Any = session.open_gate(self._plain)
            self.members._connection = gate
            self.members.reap()

        return Session(run)

    def find_owner(self) -> str | None:
        """The owner, '' for nobody; None: there is no duty."""
        found = self.execute("SELECT member FROM duty")
        return (found[0][0] or "") if found else None

    def play(
        self, prepare: Callable[[], Sequence[Session]], check: Callable[[Sequence[Session]], None]
    ) -> tuple[int, int]:
        return play_all(self.observer, prepare, check)


@pytest.fixture(scope="module")
def scene(postgresql: PostgreSQL) -> Iterator[Scene]:
    with ExitStack() as stack:
        stack.enter_context(stepping())
        # a reader of events waits once, and for as long as it takes
        stack.enter_context(mock.patch.object(connection, "_EVENTS_WAIT", 0))
        yield Scene(postgresql.make_database(), stack)
    postgresql.drop_databases()


def write_note(work: UnitOfWork) -> None:
    stack = work.tx.stack("1")
    assert stack is not None
    stack.note = "mine"


def read_note(scene: Scene) -> str:
    ((note,),) = scene.execute("SELECT note FROM stack")
    return str(note)


def test_fence_and_reap(scene: Scene) -> None:
    """An owner's commit is before its removal, and seen; or after it, and does not happen."""
    ends: set[tuple[bool, str | None]] = set()

    def prepare() -> Sequence[Session]:
        scene.reset(owner="one")
        scene.execute("UPDATE member SET expires_at = 0 WHERE id = 'one'")
        return scene.one.step(write_note), scene.reap()

    def check(sessions: Sequence[Session]) -> None:
        owner, reaper = sessions
        assert reaper.error is None
        assert owner.error is None or isinstance(owner.error, FencedOut)
        is_kept, found = owner.error is None, scene.find_owner()
        scene.two.run(scene.two.trees._claim_free)
        seen: list[str] = []
        scene.two.run(lambda work: seen.append(work.tx.stack("1").note))  # type: ignore[union-attr]
        assert seen == ["mine" if is_kept else ""]
        assert is_kept or found == ""
        ends.add((is_kept, found))

    count, blocked = scene.play(prepare, check)
    assert count > 20
    assert blocked
    # kept and not removed (it was locked), kept and removed after that, fenced out
    assert ends == {(True, "one"), (True, ""), (False, "")}


def test_release_and_ask(scene: Scene) -> None:
    """A request is for an owner that answers it, or its member owns the tree."""
    ends: set[str | None] = set()

    def prepare() -> Sequence[Session]:
        scene.reset(owner="one")
        ask: Unit = lambda work: scene.two.trees._take(work, "1", ("r", "text"))  # noqa: E731
        return scene.one.step(lambda work: get_duties(work).release("1")), scene.two.step(ask)

    def check(sessions: Sequence[Session]) -> None:
        assert [session.error for session in sessions] == [None, None]
        owner, asked = scene.find_owner(), scene.execute("SELECT id FROM request")
        assert (owner, asked) in [("one", [("r",)]), ("two", [])]
        assert scene.one.roots == ({"1"} if owner == "one" else set())
        assert scene.two.roots == ({"1"} if owner == "two" else set())
        ends.add(owner)

    count, blocked = scene.play(prepare, check)
    assert count > 20
    assert blocked
    assert ends == {"one", "two"}


@pytest.mark.parametrize("owner", [None, ""])
def test_claim_and_claim(scene: Scene, owner: str | None) -> None:
    """Of two members that take a tree without an owner, or without a duty, one has it."""
    ends: set[str | None] = set()

    def take(member: Member) -> Session:
        if owner is None:
            return member.step(lambda work: member.trees._take(work, "1", ("r", "text")))
        return member.step(member.trees._claim_free)

    def prepare() -> Sequence[Session]:
        scene.reset(owner=owner)
        return take(scene.one), take(scene.two)

    def check(sessions: Sequence[Session]) -> None:
        assert [session.error for session in sessions] == [None, None]
        found = scene.find_owner()
        assert found in ("one", "two")
        for member in (scene.one, scene.two):
            assert member.roots == ({"1"} if member.name == found else set())
        ends.add(found)

    count, _ = scene.play(prepare, check)
    assert count > 20
    assert ends == {"one", "two"}


class Timing:
    """Every quarter of an hour."""

    def compute_next_due(self, text: str, stack_id: str, now: float) -> float:
        return now + 900.0


def test_drift_and_drift(scene: Scene) -> None:
    """Of two members that find a due check, one begins it, once."""
    settings = SimpleNamespace(settings=SimpleNamespace(timing=Timing()))

    def sweep(member: Member) -> Session:
        fire = DueChecks(settings)  # type: ignore[arg-type]
        stops = "INSERT|UPDATE|COMMIT|drift_next <"
        return member.step(member.trees.claim_due, fire, stops=stops)

    def prepare() -> Sequence[Session]:
        scene.reset(drift_policy="REPORT", drift_schedule="15m", drift_next=NOW - 1)
        return sweep(scene.one), sweep(scene.two)

    def check(sessions: Sequence[Session]) -> None:
        assert [session.error for session in sessions] == [None, None]
        assert scene.execute("SELECT status FROM drift_check") == [("RUNNING",)]
        assert scene.execute("SELECT drift_next FROM stack") == [(NOW + 900,)]

    count, _ = scene.play(prepare, check)
    assert count > 20


def test_event_and_tail(scene: Scene) -> None:
    """Whoever has read events up to one has read all before it, whatever others commit later."""
    got: list[int] = []
    outcomes: set[int] = set()

    def add(work: UnitOfWork) -> None:
        key = make_id()
        event = EventRow(key, "1", "s", 1, None, "", "", None, "CREATE", "COMPLETE", "", NOW)
        work.tx.add_event(event)

    def prepare() -> Sequence[Session]:
        scene.reset()
        got.clear()

        def run(session: Session) -> None:
            scene.two._connection._connection = session.open_gate(scene.two._plain)
            scene.two.run(add)
            scene.two.read_events(got)(session)  # type: ignore[arg-type]

        return scene.one.step(add), Session(run)

    def check(sessions: Sequence[Session]) -> None:
        assert [session.error for session in sessions] == [None, None]
        stored = [seq for (seq,) in scene.execute("SELECT seq FROM event ORDER BY seq")]
        assert len(stored) == 2
        assert got
        assert got == [seq for seq in stored if seq <= got[-1]]
        outcomes.add(len(got))

    count, blocked = scene.play(prepare, check)
    assert count > 20
    assert blocked
    assert outcomes == {1, 2}
