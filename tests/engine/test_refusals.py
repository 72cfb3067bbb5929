"""What the engine's thread survives: a database that refuses for a while, units that are wrong."""

from __future__ import annotations

import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.clock import SystemClock
from zonda.core.engine import actions
from zonda.core.engine.engine import Engine
from zonda.core.engine.pool import Pool
from zonda.core.engine.requests import single
from zonda.core.functions.table import functions_for
from zonda.core.ids import Ids
from zonda.core.store.faults import Refused, Unusable, explain
from zonda.core.store.sealing import Sealer, make_key
from zonda.core.store.store import Store, open_store
from zonda.hooks.errors import StoreError

KEY = make_key()
LONG = 20.0

Start = Callable[..., Engine]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "z.db", sealer=Sealer(KEY))
    yield opened
    opened.close()


@pytest.fixture
def start(bench: Any, store: Store) -> Iterator[Start]:
    """Starts engines on the file, and stops them."""
    engines: list[Engine] = []

    def make(drive: str = "own", clock: SystemClock | None = None) -> Engine:
        clock = clock or SystemClock()
        engine = Engine(
            store,
            bench.plugins,
            clock=clock,
            ids=Ids(clock),
            random=random.Random(0),
            lender=bench.lender,
            functions=lambda version: functions_for(version, bench.plugins),
        )
        engine.start(drive)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.stop(LONG)


def begin(engine: Engine, name: str, bundle: Any) -> str:
    accepted = engine.submit(actions.CreateStack(name, bundle)).result(LONG)
    engine.drive(accepted.stack_id)
    return accepted.stack_id


def many(bench: Any, count: int, kind: str = "Box") -> Any:
    return bench.bundle("\n".join(f"r{n}: {{type: Test::{kind}}}" for n in range(count)))


class Refusing:
    """Makes a store refuse between ``begin`` and ``end``."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self._real = store.transaction
        self._on = False
        self.tries = 0
        monkeypatch.setattr(store, "transaction", self._transaction)

    def _transaction(self) -> Any:
        if self._on:
            self.tries += 1
            raise Refused("The disk is full.", hint="Make room.")
        return self._real()

    def begin(self) -> None:
        self._on = True

    def end(self) -> None:
        self._on = False


def test_calls_that_come_back_do_not_use_up_the_patience(
    bench: Any, start: Start, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Refusing(store, monkeypatch)
    together = threading.Barrier(16)

    def late(box: Any) -> None:
        together.wait(LONG)
        database.begin()
        time.sleep(0.01 * int(box.name[1:]))

    for number in range(16):
        bench.journal.behave[f"r{number}", "handle_create"] = late
    engine = start()
    stack = begin(engine, "s", many(bench, 16))
    threading.Timer(0.4, database.end).start()
    assert engine.wait(stack, LONG).state == "CREATE_COMPLETE"
    assert 1 <= database.tries <= 6, "one try per doubled pause, not one per message"


def test_a_statement_that_is_wrong_fails_its_own_unit_only(
    bench: Any, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start()

    def twice(work: Any) -> None:
        work.tx._execute("insert into meta values('key_check', 'x')")

    with pytest.raises(StoreError, match="UNIQUE"):
        engine._step(lambda: single(twice)).result(LONG)
    assert engine.wait(begin(engine, "s", many(bench, 2)), LONG).state == "CREATE_COMPLETE"
    assert "attempt" not in caplog.text


def test_a_unit_that_fails_after_a_refusal_stops_nobody(
    bench: Any, start: Start, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, database = start(), Refusing(store, monkeypatch)

    def wrong(work: Any) -> None:
        raise ValueError("wrong")

    database.begin()
    future = engine._step(lambda: single(wrong))
    while not database.tries:
        time.sleep(0.005)
    database.end()
    with pytest.raises(ValueError, match="wrong"):
        future.result(LONG)
    assert engine._driver.retry_in() is None


def _raised(statement: str, connection: sqlite3.Connection) -> sqlite3.Error:
    with pytest.raises(sqlite3.Error) as caught:
        connection.execute(statement)
    return caught.value


def test_the_trouble_of_the_database_is_told_from_that_of_a_statement(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    connection.execute("create table t (a unique)")
    connection.execute("insert into t values (1)")
    unique = _raised("insert into t values (1)", connection)
    assert type(explain(unique, "x")) is StoreError
    assert type(explain(_raised("select nothing", connection), "x")) is StoreError
    other = sqlite3.connect(tmp_path / "x.db", timeout=0.0, isolation_level=None)
    connection.execute("begin immediate")
    assert type(explain(_raised("begin immediate", other), "x")) is Refused
    connection.execute("rollback")
    connection.execute("pragma query_only=on")
    assert type(explain(_raised("insert into t values (2)", connection), "x")) is Refused
    connection.close()
    other.close()
    assert type(explain(_raised("select 1", other), "x")) is Unusable
    (tmp_path / "y.db").write_bytes(b"no database at all" * 100)
    broken = sqlite3.connect(tmp_path / "y.db")
    assert type(explain(_raised("select * from t", broken), "y")) is Unusable
    broken.close()


# -- the end of the thread ------------------------------------------------------------------------


def test_whoever_waits_learns_that_the_engine_died(
    bench: Any, start: Start, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.engine.driver.PATIENCE", 0.0)
    engine = start()
    load, entered, leave = engine.room.definitions.load, threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        entered.set()
        leave.wait(LONG)
        return load(*given)

    monkeypatch.setattr(engine.room.definitions, "load", slow)
    planned = engine.submit(actions.CreateStack("s", many(bench, 1)))
    assert entered.wait(LONG)
    Refusing(store, monkeypatch).begin()
    engine.sweep_deadlines()
    with pytest.raises(StoreError, match="disk is full"):
        planned.result(LONG)
    assert "disk is full" in str(engine.failure)
    leave.set()
    with pytest.raises(StoreError, match="disk is full"):
        engine._durable(lambda work: None)


def test_a_stopped_engine_refuses(bench: Any, start: Start) -> None:
    engine = start()
    engine.stop(LONG)
    with pytest.raises(StoreError, match="has been stopped"):
        engine.submit(actions.CreateStack("s", many(bench, 1))).result(LONG)
    assert engine.failure is None


def test_a_clock_that_is_gone_does_not_end_the_engine(bench: Any, start: Start) -> None:
    engine = start()
    asked = threading.Event()

    def gone() -> None:
        asked.set()
        raise LookupError("No job by the id of sweep_polls was found")

    engine.on_late = gone
    engine.sweep_polls()
    engine._put(lambda: setattr(engine, "_swept", engine._swept - 100.0))
    assert asked.wait(LONG)
    assert engine.wait(begin(engine, "s", many(bench, 1)), LONG).state == "CREATE_COMPLETE"


class SetBack(SystemClock):
    """A wall clock that can be set back."""

    back = 0.0

    def now(self) -> float:
        return super().now() - self.back


def test_a_wall_clock_that_is_set_back_delays_no_poll(bench: Any, start: Start) -> None:
    clock, polls = SetBack(), 0
    jump = threading.Timer(0.1, lambda: setattr(clock, "back", 3600.0))

    def check(box: Any) -> bool:
        nonlocal polls
        polls += 1
        if polls == 1:  # in the middle of the wait for the next poll
            jump.start()
        return polls > 2

    bench.journal.behave["r0", "check"] = check
    engine = start(clock=clock)
    stack = begin(engine, "s", many(bench, 1, "Slow"))
    assert engine.wait(stack, LONG).state == "CREATE_COMPLETE"
    jump.join(LONG)


# -- the pool -------------------------------------------------------------------------------------


def test_a_job_gets_a_thread_as_long_as_there_are_any() -> None:
    pool, hang, ran = Pool(4, "test-pool"), threading.Event(), threading.Event()
    jobs = pool._jobs

    class Slow:
        """Between taking a job and telling of it there may be any time."""

        def get(self) -> Any:
            job = jobs.get()
            if job is not None:
                time.sleep(0.05)
            return job

        def put(self, job: Any) -> None:
            jobs.put(job)

        def qsize(self) -> int:
            return jobs.qsize()

    pool._jobs = Slow()  # type: ignore[assignment]
    first = threading.Event()
    pool.submit(first.set)
    assert first.wait(LONG)
    time.sleep(0.02)
    pool.submit(lambda: hang.wait(LONG) and None)
    time.sleep(0.02)
    pool.submit(ran.set)
    assert ran.wait(2.0), "the second job waits for the first although three threads may be made"
    hang.set()
    pool.stop()


def test_a_poll_that_hangs_holds_nobody_up(bench: Any, start: Start) -> None:
    """Polls that come back at once share a turn; this one stops to do so."""
    hang, asked = threading.Event(), {}

    def check(box: Any) -> bool:
        asked[box.name] = asked.get(box.name, 0) + 1
        if box.name == "bad" and asked["bad"] > 2:
            hang.wait(LONG)
        return asked[box.name] > 2

    for name in ("bad", *(f"r{number}" for number in range(7))):
        bench.journal.behave[name, "check"] = check
    engine = start()
    bad = begin(engine, "bad", bench.bundle("bad: {type: Test::Slow}"))
    good = begin(engine, "good", many(bench, 7, "Slow"))
    assert engine.wait(good, LONG / 2).state == "CREATE_COMPLETE"
    assert not engine._store.reader().stack(bad).idle
    hang.set()
    assert engine.wait(bad, LONG).state == "CREATE_COMPLETE"
