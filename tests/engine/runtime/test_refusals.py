"""Databases that refuse for a while: the engine's thread goes on."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.execution.pool import Pool
from zonda.core.engine.model.effects import IN_TURN, LAST, Tx, make_step
from zonda.core.engine.runtime.engine import Engine
from zonda.core.store.database.faults import Refused, Unusable
from zonda.core.store.file.faults import to_store_error
from zonda.core.store.write.database import Store
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import StoreError

LONG = 20.0

Start = Callable[..., Engine]


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
        self.tried = threading.Event()
        monkeypatch.setattr(store, "transaction", self._transaction)

    def _transaction(self) -> Any:
        if self._on:
            self.tries += 1
            self.tried.set()
            raise Refused("The disk is full.", hint="Make room.")
        return self._real()

    def begin(self) -> None:
        self._on = True

    def end(self) -> None:
        self._on = False


class Standing(SystemClock):
    """Its monotonic time can stand still."""

    stands: float | None = None

    def monotonic(self) -> float:
        return super().monotonic() if self.stands is None else self.stands


def test_calls_that_come_back_do_not_use_up_the_patience(
    bench: Any, start: Start, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    database, clock = Refusing(store, monkeypatch), Standing()
    inside = threading.Barrier(17)
    leave = [threading.Event() for _ in range(16)]

    def handled(box: Any) -> None:
        inside.wait(LONG)
        leave[int(box.name[1:])].wait(LONG)

    for number in range(16):
        bench.journal.behave[f"r{number}", "handle_create"] = handled
    engine = start(clock=clock)
    stack = begin(engine, "s", many(bench, 16))
    inside.wait(LONG)
    clock.stands = clock.monotonic()
    database.begin()
    for number, gate in enumerate(leave):
        gate.set()
        while engine._driver.calls > 15 - number:  # until this one has come back
            engine.submit(actions.CheckStack("nobody")).exception(LONG)
    assert database.tried.wait(LONG)
    engine.submit(actions.CheckStack("nobody")).exception(LONG)
    assert database.tries == 1, "it is the time that counts, not the messages"
    database.end()
    clock.stands = None
    assert engine.wait(stack, LONG).state == "CREATE_COMPLETE"


def test_a_statement_that_is_wrong_fails_its_own_unit_only(
    bench: Any, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    engine = start()

    def twice(work: Any) -> None:
        work.tx._execute("insert into meta values('key_check', 'x')")

    with pytest.raises(StoreError, match=r"(?i)unique"):
        engine._submit_step(lambda: make_step(Tx(twice))).result(LONG)
    assert engine.wait(begin(engine, "s", many(bench, 2)), LONG).state == "CREATE_COMPLETE"
    assert "attempt" not in caplog.text


def test_a_unit_that_fails_after_a_refusal_stops_nobody(
    bench: Any, start: Start, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, database = start(), Refusing(store, monkeypatch)

    def wrong(work: Any) -> None:
        raise ValueError("wrong")

    database.begin()
    future = engine._submit_step(lambda: make_step(Tx(wrong)))
    assert database.tried.wait(LONG)
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
    assert type(to_store_error(unique, "x")) is StoreError
    assert type(to_store_error(_raised("select nothing", connection), "x")) is StoreError
    other = sqlite3.connect(tmp_path / "x.db", timeout=0.0, isolation_level=None)
    connection.execute("begin immediate")
    assert type(to_store_error(_raised("begin immediate", other), "x")) is Refused
    connection.execute("rollback")
    connection.execute("pragma query_only=on")
    assert type(to_store_error(_raised("insert into t values (2)", connection), "x")) is Refused
    connection.close()
    other.close()
    assert type(to_store_error(_raised("select 1", other), "x")) is Unusable
    (tmp_path / "y.db").write_bytes(b"no database at all" * 100)
    broken = sqlite3.connect(tmp_path / "y.db")
    assert type(to_store_error(_raised("select * from t", broken), "y")) is Unusable
    broken.close()


# -- the end of the thread ------------------------------------------------------------------------


def test_whoever_waits_learns_that_the_engine_died(
    bench: Any, start: Start, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.engine.runtime.driver.PATIENCE", 0.0)
    engine = start()
    load, entered, leave = engine.services.definitions.load, threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        entered.set()
        leave.wait(LONG)
        return load(*given)

    monkeypatch.setattr(engine.services.definitions, "load", slow)
    planned = engine.submit(actions.CreateStack("s", many(bench, 1)))
    assert entered.wait(LONG)
    Refusing(store, monkeypatch).begin()
    engine.sweep_deadlines()
    with pytest.raises(StoreError, match="disk is full"):
        planned.result(LONG)
    assert "disk is full" in str(engine.failure)
    leave.set()
    with pytest.raises(StoreError, match="disk is full"):
        engine._run_durable(lambda work: None)


def test_a_stopped_engine_refuses(bench: Any, start: Start) -> None:
    engine = start()
    engine.stop(LONG)
    with pytest.raises(StoreError, match="has been stopped"):
        engine.submit(actions.CreateStack("s", many(bench, 1))).result(LONG)
    assert engine.failure is None


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


class SlowToTell:
    """The queue of a pool; between taking a job and doing it there may be any time."""

    def __init__(self, jobs: Any) -> None:
        self._jobs = jobs
        #: Released whenever a thread has come for a job, and when it has taken one.
        self.came, self.took = threading.Semaphore(0), threading.Semaphore(0)
        self.go_on = threading.Event()
        self.go_on.set()

    def get(self) -> Any:
        self.came.release()
        job = self._jobs.get()
        self.took.release()
        assert self.go_on.wait(LONG)
        return job

    def put(self, job: Any) -> None:
        self._jobs.put(job)


def test_a_job_gets_a_thread_as_long_as_there_are_any() -> None:
    pool, hang, ran = Pool(4, "test-pool"), threading.Event(), threading.Event()
    pool._wakes = jobs = SlowToTell(pool._wakes)  # type: ignore[assignment]
    pool.submit(lambda: None)
    for _ in range(2):  # for the first job, and again when that was done
        assert jobs.came.acquire(timeout=LONG)
    assert jobs.took.acquire(timeout=LONG)
    jobs.go_on.clear()
    pool.submit(lambda: hang.wait(LONG) and None)
    assert jobs.took.acquire(timeout=LONG)
    pool.submit(ran.set)
    jobs.go_on.set()
    assert ran.wait(LONG / 10), "it waits for the other one although threads may be made"
    hang.set()
    pool.stop()


def test_threads_take_what_is_under_way_first_and_keep_some_for_it() -> None:
    pool, go_on = Pool(1, "test-pool", spare=1), threading.Event()
    made: list[str] = []
    ended = threading.Semaphore(0)

    def note(name: str) -> None:
        made.append(name)
        ended.release()

    pool.submit(lambda: go_on.wait(LONG) and None, LAST)
    pool.submit(partial(note, "new"), LAST)
    pool.submit(partial(note, "in turn"), IN_TURN)
    assert pool.load == 3
    pool.submit(partial(note, "under way"))
    assert ended.acquire(timeout=LONG)
    assert made == ["under way"], "a thread of its own"
    go_on.set()
    for _ in range(2):
        assert ended.acquire(timeout=LONG)
    assert made == ["under way", "in turn", "new"]
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
