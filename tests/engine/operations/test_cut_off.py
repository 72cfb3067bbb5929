"""Calls that end the engine are not repeated for ever."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, DeleteStack
from zonda.core.engine.execution.loop import Task
from zonda.core.engine.model.effects import Call, Tx, make_step
from zonda.core.engine.operations.cut_off import MOST_TAKE_OVERS
from zonda.core.engine.runtime.light_calls import Job
from zonda.core.engine.runtime.pool_driver import ALONE
from zonda.hooks.errors import NotReady
from zonda.hooks.text.borders import Interruption

ONE = "a: {type: Test::KIND}"


class Died(Interruption):
    """The process."""


def die(resource: Any) -> None:
    raise Died


def lives(bench: Any) -> int:
    """Start engine after engine until one does not die; how many have died."""
    for died in range(5 * MOST_TAKE_OVERS):
        bench.restart()
        try:
            bench.engine.recover()
            bench.engine.settle()
        except Died:
            continue
        return died
    raise AssertionError("every engine has died")


def begin(bench: Any, kind: str) -> None:
    with pytest.raises(Died):
        bench.run(CreateStack("s", bench.bundle(ONE.replace("KIND", kind))))


@pytest.mark.parametrize(
    ("kind", "call", "said"),
    [
        pytest.param("Idempotent", "handle_create", "handle_create", id="handler"),
        pytest.param("Idempotent", "check", "check_create_complete", id="check"),
        pytest.param("Finder", "handle_find", "handle_create", id="find"),
    ],
)
def test_a_call_that_ends_every_engine_fails_after_some_take_overs(
    kind: str, call: str, said: str, bench: Any
) -> None:
    bench.journal.behave["a", call] = die
    if call == "handle_find":
        bench.journal.behave["a", "handle_create"] = die
    begin(bench, kind)
    assert lives(bench) == MOST_TAKE_OVERS
    assert bench.states() == {"a": "CREATE_FAILED"}
    assert bench.resource("a").status_reason == (
        f"ResourceFailure: resources.a: CREATE was cut off {MOST_TAKE_OVERS + 1} times in a row"
        f" in {said}: it is not called again"
    )
    bench.journal.behave.clear()
    assert bench.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize("what", ["the check", "the handler", "find"])
def test_a_call_that_comes_back_in_between_begins_the_count_anew(what: str, bench: Any) -> None:
    calls: list[int] = []

    def behave(resource: Any) -> bool:
        calls.append(1)
        if len(calls) > 4 * MOST_TAKE_OVERS:
            return True
        if len(calls) % 2:
            raise Died
        raise NotReady(1)

    call = {"the check": "check", "the handler": "handle_create", "find": "handle_find"}[what]
    bench.journal.behave["a", call] = behave
    if what == "find":
        bench.journal.behave["a", "handle_create"] = die
    begin(bench, "Finder" if what == "find" else "Idempotent")
    assert lives(bench) > MOST_TAKE_OVERS
    assert bench.states() == {"a": "CREATE_COMPLETE"}


@pytest.fixture
def reading(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types tell when their properties are read."""

    def translation_rules(self: Any, props: Any) -> list[Any]:
        self.journal.note(self, "read")
        return []

    for cls in bench.types.values():
        monkeypatch.setattr(cls, "translation_rules", translation_rules, raising=False)


def begin_to_die(bench: Any, template: str, calls: dict[tuple[str, str], Any]) -> None:
    """Plan a stack; its calls end the process."""
    bench.engine.begin(CreateStack("s", bench.bundle(template)))
    bench.journal.behave.update(calls)
    with pytest.raises(Died):
        bench.engine.settle()


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("kind", "call"), [("Box", "read"), ("Inward", "read"), ("Inward", "handle_create")]
)
def test_what_ends_every_engine_before_it_has_begun_fails_after_some_take_overs(
    kind: str, call: str, bench: Any
) -> None:
    begin_to_die(bench, f"a: {{type: Test::{kind}}}", {("a", call): die})
    assert lives(bench) == MOST_TAKE_OVERS
    assert bench.states() == {"a": "CREATE_FAILED"}
    assert bench.resource("a").status_reason == (
        f"ResourceFailure: resources.a: CREATE was cut off {MOST_TAKE_OVERS + 1} times in a row"
        " in the reading of its properties or handle_create: it is not called again"
    )
    assert bench.stack.state == "CREATE_FAILED"
    bench.journal.behave.clear()
    assert bench.delete().state == "DELETE_COMPLETE"


def test_a_deletion_that_ends_every_engine_before_it_has_begun_fails(bench: Any) -> None:
    bench.create("a: {type: Test::Inward}")
    bench.engine.begin(DeleteStack("s"))
    bench.journal.behave["a", "handle_delete"] = die
    with pytest.raises(Died):
        bench.engine.settle()
    assert lives(bench) == MOST_TAKE_OVERS
    assert bench.stack.state == "DELETE_FAILED"
    assert "DELETE was cut off" in bench.stack.status_reason
    bench.journal.behave.clear()
    assert bench.delete().state == "DELETE_COMPLETE"


def test_the_removal_of_a_failed_attempt_that_ends_every_engine_fails(bench: Any) -> None:
    bench.fails("a", "handle_create")
    bench.journal.behave["a", "handle_delete"] = die
    retries = "zonda: {retries: {a: {attempts: 3, delay: 1}}}"
    bundle = bench.bundle("a: {type: Test::Box}", environment=retries)
    with pytest.raises(Died):
        bench.run(CreateStack("s", bundle))
    assert lives(bench) == MOST_TAKE_OVERS
    assert bench.states() == {"a": "CREATE_FAILED"}
    assert bench.resource("a").status_reason == (
        f"ResourceFailure: resources.a: CREATE was cut off {MOST_TAKE_OVERS + 1} times in a row"
        " in handle_delete, which removes a failed attempt: it is not called again"
    )


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("call", ["handle_create", "read"])
@pytest.mark.parametrize("kind", ["Idempotent", "Inward"])
def test_what_ran_beside_a_call_that_ends_every_engine_is_made_all_the_same(
    kind: str, call: str, bench: Any
) -> None:
    names = [f"n{number}" for number in range(6)]
    template = "\n".join(f"{name}: {{type: Test::{kind}}}" for name in (*names, "z"))
    calls = {("z", call): die}
    begin_to_die(bench, template, calls)
    lives(bench)
    assert bench.states() == {**dict.fromkeys(names, "CREATE_COMPLETE"), "z": "CREATE_FAILED"}


def test_innocents_whose_calls_are_cut_off_with_the_guilty_one_are_not_failed(bench: Any) -> None:
    """All are in a call when the process ends, as in an engine with threads."""
    bench.engine.begin(
        CreateStack("s", bench.bundle("a: {type: Test::Idempotent}\nb: {type: Test::Idempotent}"))
    )
    turns: list[str] = []

    def end_if_beside(resource: Any) -> None:
        turns.append(resource.name)
        beside = len(bench.engine._calls) > 0
        if resource.name == "b" or beside:
            raise Died

    bench.journal.behave["a", "handle_create"] = end_if_beside
    bench.journal.behave["b", "handle_create"] = end_if_beside
    with pytest.raises(Died):
        bench.engine.settle()
    assert lives(bench) <= MOST_TAKE_OVERS + 1
    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "CREATE_FAILED"}


def test_a_call_that_is_made_alone_holds_up_others_for_some_seconds_only(start: Any) -> None:
    engine = start()
    driver = engine._driver

    def overdue(work: Any) -> list[bool]:
        states = []
        for seconds in (ALONE - 1, ALONE + 1):
            task = Task(iter(()))  # type: ignore[arg-type]
            driver.alone.begin(task)
            job = Job(task, Call(lambda: None), began=engine.clock.monotonic() - seconds)
            driver._job_of[task] = job
            driver.give_up_overlong()
            states.append(driver.has_room)
            del driver._job_of[task]
            driver.alone.end(task)
        return states

    assert engine._submit_step(lambda: make_step(Tx(overdue))).result(20) == [False, True]
