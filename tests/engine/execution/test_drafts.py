"""Operations without side effects: one transaction each, also in a long chain."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.store.write.database import Store, open_store
from zonda.hooks.errors import ResourceFailure

LONG = 20.0


def chain(kind: str, count: int, **more: str) -> str:
    """Each requires the one before."""
    lines = [f"r0: {{type: Test::{kind}}}"]
    for number in range(1, count):
        name = f"r{number}"
        rest = more.get(name, "")
        lines.append(f"{name}: {{type: Test::{kind}, depends_on: r{number - 1}{rest}}}")
    return "\n".join(lines)


def counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One entry for every transaction from now on."""
    found: list[None] = []
    transaction = store.transaction

    def counting() -> Any:
        found.append(None)
        return transaction()

    monkeypatch.setattr(store, "transaction", counting)
    return found


def test_begin_and_end_of_what_does_nothing_outside_are_one_transaction(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = counted(bench.store, monkeypatch)
    assert bench.create(chain("Inward", 30)).state == "CREATE_COMPLETE"
    assert len(commits) < 30 + 10
    bench.journal.calls.clear()
    assert bench.delete().state == "DELETE_COMPLETE"
    assert [name for name, call in bench.journal.calls if call == "handle_delete"] == [
        f"r{number}" for number in reversed(range(30))
    ]


def test_events_of_a_chain_stand_in_order(bench: Any) -> None:
    stack = bench.create(chain("Inward", 3))
    events = bench.engine.reader.events(stack.id)
    told = [(event.resource_name, event.status) for event in events if event.resource_name]
    both = ("IN_PROGRESS", "COMPLETE")
    assert told == [(name, status) for name in ("r0", "r1", "r2") for status in both]


def test_what_fails_ends_the_chain(bench: Any) -> None:
    bench.fails("r1", "handle_create")
    stack = bench.create(chain("Inward", 3))
    assert stack.state == "CREATE_FAILED"
    assert bench.states() == {
        "r0": "CREATE_COMPLETE",
        "r1": "CREATE_FAILED",
        "r2": "INIT_COMPLETE",
    }
    assert bench.journal.of("r2") == []


def test_what_waits_is_begun_and_its_token_is_stored(bench: Any) -> None:
    answers = iter([False, False, True])
    bench.journal.behave["r1", "check"] = lambda box: next(answers)
    assert bench.create(chain("Inward", 3)).state == "CREATE_COMPLETE"
    assert bench.journal.of("r2") == ["handle_create", "check"]


def test_what_is_retained_is_left_alone_by_those_before_it(bench: Any) -> None:
    bench.create(chain("Inward", 3, r1=", deletion_policy: Retain"))
    bench.journal.calls.clear()
    assert bench.delete().state == "DELETE_COMPLETE"
    called = {name for name, call in bench.journal.calls if call == "handle_delete"}
    assert called == {"r0", "r2"}


def test_an_intent_is_stored_before_its_handler_is_called(bench: Any) -> None:
    seen: list[tuple[str, str]] = []

    def look(box: Any) -> None:
        row = next(row for row in bench.resource_rows() if row.name == box.name)
        seen.append((row.op, row.op_state))

    for number in range(3):
        bench.journal.behave[f"r{number}", "handle_create"] = look
    bench.create(chain("Box", 3))
    assert seen == [("CREATE", "STARTING")] * 3


def test_a_long_chain_holds_nobody_up(
    bench: Any, start: Callable[..., Any], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, other_is_done = threading.Event(), threading.Event()

    def wait_for_the_other(box: Any) -> None:
        inside.set()
        assert other_is_done.wait(LONG), "the other stack waits for this one"

    bench.journal.behave["r40", "handle_create"] = wait_for_the_other
    engine = start()
    long = engine.submit(actions.CreateStack("long", bench.bundle(chain("Inward", 120))))
    engine.drive(long.result(LONG).stack_id)
    assert inside.wait(LONG)
    asked = store.sealer.seal(actions.to_json(actions.CheckStack("long")))
    other = open_store(store.database.url, sealer=store.sealer)
    with other.transaction() as tx:
        tx.add_request("asked", asked, 1e12)
    other.close()
    monkeypatch.setattr(engine._requests, "_waits", lambda key: True)
    engine.sweep_requests()
    quick = engine.submit(actions.CreateStack("quick", bench.bundle("q: {type: Test::Box}")))
    engine.drive(quick.result(LONG).stack_id)
    assert engine.wait(quick.result().stack_id, LONG).state == "CREATE_COMPLETE"
    assert not store.reader().stack(long.result().stack_id).idle
    assert store.reader().request("asked").answer is not None, "sweeps come in between"
    other_is_done.set()
    assert engine.wait(long.result().stack_id, LONG).state == "CREATE_COMPLETE"


def test_secrets_of_what_was_stored_a_moment_ago_are_kept(bench: Any) -> None:
    bench.fails("b", "handle_create", ResourceFailure("it said hush-hush"))
    stack = bench.create(
        """
        a: {type: Test::Inward}
        b:
          type: Test::Inward
          properties: {value: {list_join: ["-", [x, {get_attr: [a, token]}]]}}
        """
    )
    assert stack.state == "CREATE_FAILED"
    assert bench.resource("a").state == "CREATE_COMPLETE"
    reason = bench.resource("b").status_reason
    assert "it said" in reason
    assert "hush" not in reason


def test_what_was_stored_a_moment_ago_can_be_asked(bench: Any) -> None:
    found: list[Any] = []

    def ask(box: Any) -> None:
        (other,) = box.context.required_resources().values()
        found.append((other.resource_id, other.FnGetAtt("value"), other.data()))

    bench.journal.behave["a", "handle_create"] = lambda box: box.data_set("signal", "told")
    bench.journal.behave["b", "handle_create"] = ask
    bench.create("a: {type: Test::Inward}\nb: {type: Test::Inward, depends_on: a}")
    assert found == [(bench.resource("a").physical_id, "told", {"signal": "told"})]
