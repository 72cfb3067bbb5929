"""Requests of other processes: carried out once, and only while their caller waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.model.effects import Tx, make_step
from zonda.core.engine.runtime.engine import Engine
from zonda.core.store.file.lock import RequestLock
from zonda.core.store.write.database import Store, open_store
from zonda.hooks.errors import Conflict

pytestmark = pytest.mark.sqlite  # who waits holds the lock of a file

LONG = 20.0


@pytest.fixture
def engine(start: Callable[[str], Engine]) -> Engine:
    return start("all")


Ask = Callable[..., None]


@pytest.fixture
def ask(engine: Engine, store: Store) -> Iterator[Ask]:
    """Leaves a request as another process does, and waits for the answer unless that has died."""
    with ExitStack() as waiting:

        def leave(
            key: str, action: actions.Action, ago: float = 0.0, *, is_dead: bool = False
        ) -> None:
            lock = RequestLock(store.database.url, key)
            if is_dead:
                lock.path.touch()
            else:
                waiting.enter_context(lock)
            with open_store(store.database.url, sealer=store.sealer).transaction() as tx:
                sealed = store.sealer.seal(actions.to_json(action))
                tx.add_request(key, sealed, engine.clock.now() - ago)

        yield leave


def commit(engine: Engine, run: Callable[[Any], Any]) -> Any:
    return engine._submit_step(lambda: make_step(Tx(run))).result(LONG)


def answer(engine: Engine, store: Store, key: str) -> actions.Accepted:
    reader = store.reader()
    engine.sweep_requests()
    for _ in range(2000):
        found = reader.request(key).answer
        if found is not None:
            return actions.parse_answer(found)
        commit(engine, lambda work: None)
    raise AssertionError("no answer")


def box(bench: Any) -> Any:
    return bench.bundle("a: {type: Test::Box}")


def test_plan_and_answer_are_one_commit(
    bench: Any, engine: Engine, store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    both: list[tuple[int, int]] = []
    transaction, reader = store.transaction, store.reader()

    def watched() -> Any:
        answered = int(reader.request("q").answer is not None)
        both.append((len(reader.stacks()), answered))
        return transaction()

    ask("q", actions.CreateStack("s", box(bench)))
    monkeypatch.setattr(store, "transaction", watched)
    assert answer(engine, store, "q").name == "s"
    commit(engine, lambda work: None)
    assert set(both) == {(0, 0), (1, 1)}, "a kill in between would have it carried out again"


def test_a_stack_that_has_come_to_rest_is_in_nobodys_hand(
    bench: Any, engine: Engine, store: Store, ask: Ask
) -> None:
    for name in ("one", "two"):
        ask(name, actions.CreateStack(name, box(bench)))
        engine.wait(answer(engine, store, name).stack_id, LONG)
    for _ in range(2):  # the engine's thread has gone round
        commit(engine, lambda work: None)
    assert engine._requests.stacks == set()


def test_the_engine_log_names_the_request_that_has_caused_a_call(
    bench: Any, engine: Engine, store: Store, ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "zonda.calls")
    ask("asked-for", actions.CreateStack("s", box(bench)))
    engine.wait(answer(engine, store, "asked-for").stack_id, LONG)
    for _ in range(2):  # the engine's thread has gone round
        commit(engine, lambda work: None)
    own = engine.submit(actions.CheckStack("s")).result(LONG)
    engine.wait(own.stack_id, LONG)
    calls = [
        (record.fields["action"], record.fields.get("request"))  # type: ignore[attr-defined]
        for record in caplog.records
        if record.name == "zonda.calls"
    ]
    assert calls == [("CREATE", "asked-for"), ("CHECK", None)]
    assert engine.services.instances.lending.tracing.requests == {}


#: Seconds by which the clock has been set since a request was left.
JUMPS = [
    pytest.param(0.0, id="not"),
    pytest.param(7 * 86400.0, id="ahead"),
    pytest.param(-7 * 86400.0, id="back"),
]


@pytest.mark.parametrize("ago", JUMPS)
def test_what_nobody_waits_for_is_not_carried_out(
    bench: Any, engine: Engine, store: Store, ask: Ask, ago: float
) -> None:
    ask("made", actions.CreateStack("prod", box(bench)))
    made = answer(engine, store, "made")
    engine.wait(made.stack_id, LONG)
    ask("old", actions.DeleteStack("prod"), ago, is_dead=True)
    with pytest.raises(Exception, match="has ended") as caught:
        answer(engine, store, "old")
    assert type(caught.value) is Conflict
    assert engine.wait(made.stack_id, LONG).state == "CREATE_COMPLETE"
    assert not RequestLock(store.database.url, "old").path.exists()


@pytest.mark.parametrize("ago", JUMPS)
def test_who_waits_is_served_however_the_clock_is_set(
    bench: Any, engine: Engine, store: Store, ask: Ask, ago: float
) -> None:
    ask("q", actions.CreateStack("s", box(bench)), ago)
    assert answer(engine, store, "q").name == "s"


def test_requests_are_taken_up_in_their_order_however_the_clock_is_set(
    bench: Any, engine: Engine, store: Store, ask: Ask
) -> None:
    ask("b", actions.CreateStack("s", box(bench)))
    ask("a", actions.CreateStack("t", box(bench)), 86400.0)
    with store.transaction() as tx:
        assert [row[0] for row in tx.open_requests()] == ["b", "a"]


def test_whose_waiting_process_dies_while_it_is_worked_out_is_undone(
    bench: Any, engine: Engine, store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = engine.services.definitions.load

    def killed(*given: Any) -> Any:
        monkeypatch.setattr(engine._requests, "_waits", lambda key: False)
        return load(*given)

    monkeypatch.setattr(engine.services.definitions, "load", killed)
    ask("q", actions.CreateStack("s", box(bench)))
    with pytest.raises(Exception, match="failed"):
        answer(engine, store, "q")
    assert store.reader().stacks() == []


def test_nothing_is_left_of_a_wait(tmp_path: Path) -> None:
    lock, other = RequestLock(tmp_path / "z.db", "q"), RequestLock(tmp_path / "z.db", "q")
    with lock:
        assert other.is_taken()
        other.release()  # not its own
        assert lock.path.exists()
    assert not lock.path.exists()
    assert not other.is_taken()


def test_what_is_withdrawn_while_it_is_worked_out_is_undone(
    bench: Any, engine: Engine, store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = engine.services.definitions.load

    def withdrawn(*given: Any) -> Any:
        engine._run_durable(lambda work: work.tx.withdraw_request("q"))
        return load(*given)

    monkeypatch.setattr(engine.services.definitions, "load", withdrawn)
    ask("q", actions.CreateStack("s", box(bench)))
    engine.sweep_requests()
    while store.reader()._all("select id from request"):
        commit(engine, lambda work: None)
    for _ in range(20):
        commit(engine, lambda work: None)
    engine.stop(LONG)
    assert store.reader().stacks() == []
