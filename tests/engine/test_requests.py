"""Requests of other processes: carried out once, and only while somebody waits for the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.engine import Engine
from zonda.core.engine.requests import STALE, single
from zonda.core.store.store import Store, open_store
from zonda.hooks.errors import Conflict

LONG = 20.0


@pytest.fixture
def engine(start: Callable[[str], Engine]) -> Engine:
    return start("all")


Ask = Callable[..., None]


@pytest.fixture
def ask(engine: Engine, store: Store) -> Ask:
    """Leaves a request as another process does, some seconds ago."""

    def leave(
        key: str, action: actions.Action, ago: float = 0.0, kept: float | None = None
    ) -> None:
        with open_store(store.path, sealer=store.sealer).transaction() as tx:
            tx.add_request(
                key, store.sealer.seal(actions.to_json(action)), engine.clock.now() - ago
            )
            if kept is not None:
                tx.keep_request(key, engine.clock.now() - kept)

    return leave


def commit(engine: Engine, run: Callable[[Any], Any]) -> Any:
    return engine._step(lambda: single(run)).result(LONG)


def answer(engine: Engine, store: Store, key: str) -> actions.Accepted:
    reader = store.reader()
    engine.sweep_requests()
    for _ in range(2000):
        found = reader.request(key).answer
        if found is not None:
            return actions.answered(found)
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


def test_what_nobody_waits_for_is_not_carried_out(
    bench: Any, engine: Engine, store: Store, ask: Ask
) -> None:
    ask("made", actions.CreateStack("prod", box(bench)))
    made = answer(engine, store, "made")
    engine.wait(made.stack_id, LONG)
    ask("old", actions.DeleteStack("prod"), ago=STALE + 5)
    with pytest.raises(Exception, match="ended long ago") as caught:
        answer(engine, store, "old")
    assert type(caught.value) is Conflict
    assert engine.wait(made.stack_id, LONG).state == "CREATE_COMPLETE"


def test_who_says_that_it_waits_is_served_however_late(
    bench: Any, engine: Engine, store: Store, ask: Ask
) -> None:
    ask("q", actions.CreateStack("s", box(bench)), ago=7 * 86400.0, kept=3.0)
    assert answer(engine, store, "q").name == "s"


def test_what_is_withdrawn_while_it_is_worked_out_is_undone(
    bench: Any, engine: Engine, store: Store, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = engine.room.definitions.load

    def withdrawn(*given: Any) -> Any:
        engine._durable(lambda work: work.tx.withdraw_request("q"))
        return load(*given)

    monkeypatch.setattr(engine.room.definitions, "load", withdrawn)
    ask("q", actions.CreateStack("s", box(bench)))
    engine.sweep_requests()
    while store.reader()._all("select id from request"):
        commit(engine, lambda work: None)
    for _ in range(20):
        commit(engine, lambda work: None)
    engine.stop(LONG)
    assert store.reader().stacks() == []
