"""Plug-ins that hang, raise after they have acted, or change their answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.loading import make_loading

from zonda.core.engine import actions
from zonda.core.engine.runtime.engine import Engine
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import Store, open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids
from zonda.hooks.errors import ResourceFailure, UpdateReplace
from zonda.hooks.resources.resource import Resource

A = "a: {type: Test::Box, properties: {value: one}}\n"
LONG = 20.0
RETRIES = "zonda: {retries: {a: {create: {attempts: 3, delay: 0.01}}}}"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "z.db", sealer=Sealer(make_key()))
    yield opened
    opened.close()


@pytest.fixture
def engine(bench: Any, store: Store) -> Iterator[Engine]:
    """A real engine, with threads and the true clock."""
    clock = SystemClock()
    made = Engine(
        store,
        bench.plugins,
        clock=clock,
        scheduler=Scheduler(clock),
        ids=Ids(clock),
        random=bench._random,
        lender=bench.lender,
        load=make_loading(bench.plugins, clock, bench.lender),
    )
    made.start("all")
    yield made
    made.stop(LONG)


def until(condition: Callable[[], Any], sweep: Callable[[], Any] = lambda: None) -> None:
    """Wait for a condition, sweeping as the clock would."""
    pause = threading.Event()
    for _ in range(int(LONG / 0.01)):
        sweep()
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("that never came true")


def hanging(bench: Any, name: str, call: str) -> threading.Event:
    """Let a call hang until the event is set."""
    free = threading.Event()
    bench.journal.behave[name, call] = lambda resource: free.wait(LONG) and None
    return free


def test_a_handler_that_hangs_is_given_up_at_its_own_deadline(bench: Any, engine: Engine) -> None:
    free = hanging(bench, "a", "handle_create")
    environment = "zonda: {timeouts: {a: 0.2}, retries: {a: 3}}"
    action = actions.CreateStack("s", bench.bundle(A, environment=environment))
    accepted = engine.submit(action).result(LONG)

    reader = engine._reader
    until(lambda: reader.stack(accepted.stack_id).idle, engine.sweep_deadlines)

    assert reader.stack(accepted.stack_id).state == "CREATE_FAILED"
    reason = reader.resource(accepted.stack_id, "a").status_reason
    assert reason == "ResourceFailure: resources.a: CREATE timed out after 0.2 s"
    assert bench.journal.of("a") == ["handle_create"]
    free.set()
    until(lambda: "handle_create_cancel" in bench.journal.of("a"))
    assert bench.journal.of("a").count("handle_create") == 1


def test_what_a_late_handler_stores_is_no_more_than_its_id(bench: Any, engine: Engine) -> None:
    free = hanging(bench, "a", "handle_create")
    action = actions.CreateStack("s", bench.bundle(A, environment="zonda: {timeouts: {a: 0.2}}"))
    accepted = engine.submit(action).result(LONG)
    until(lambda: engine._reader.stack(accepted.stack_id).idle, engine.sweep_deadlines)
    before = engine._reader.resource(accepted.stack_id, "a")

    free.set()
    until(lambda: "handle_create_cancel" in bench.journal.of("a"))

    assert engine._reader.resource(accepted.stack_id, "a") == before
    assert before.physical_id is not None


def test_what_a_late_handler_stores_is_not_put_over_what_came_after_it(
    bench: Any, engine: Engine
) -> None:
    free, stored = threading.Event(), threading.Event()

    def late(resource: Any) -> None:
        free.wait(LONG)
        resource.resource_id_set("stale")
        resource.data_set("key", "stale")
        stored.set()

    bundle = bench.bundle(A, environment="zonda: {timeouts: {a: {check: 0.2}}}")
    accepted = engine.submit(actions.CreateStack("s", bundle)).result(LONG)
    reader = engine._reader
    until(lambda: reader.stack(accepted.stack_id).idle)
    bench.journal.behave["a", "handle_check"] = late
    engine.submit(actions.CheckStack("s")).result(LONG)
    until(lambda: reader.stack(accepted.stack_id).idle, engine.sweep_deadlines)
    bench.journal.behave["a", "handle_check"] = lambda resource: None
    engine.submit(actions.CheckStack("s")).result(LONG)
    until(lambda: reader.stack(accepted.stack_id).state == "CHECK_COMPLETE")
    before = reader.resource(accepted.stack_id, "a")
    data = reader.read_sealed_data(before.id)

    free.set()
    assert stored.wait(LONG)

    assert reader.resource(accepted.stack_id, "a") == before
    assert reader.read_sealed_data(before.id) == data


def test_a_deadline_holds_across_a_newer_update(bench: Any, engine: Engine) -> None:
    free = hanging(bench, "a", "handle_create")
    environment = "zonda: {timeouts: {a: {create: 0.3}}}"
    bundle = bench.bundle(A, environment=environment)
    accepted = engine.submit(actions.CreateStack("s", bundle)).result(LONG)
    until(lambda: bench.journal.of("a"))

    bench.journal.behave["a", "handle_create"] = lambda resource: None
    newer = bench.bundle(A.replace("one", "two"))
    engine.submit(actions.UpdateStack("s", newer)).result(LONG)
    reader = engine._reader
    until(lambda: reader.stack(accepted.stack_id).idle or free.is_set(), engine.sweep_deadlines)
    free.set()
    until(lambda: reader.stack(accepted.stack_id).idle, engine.sweep_deadlines)

    assert reader.stack(accepted.stack_id).state == "UPDATE_COMPLETE"
    events = [event.reason for event in reader.events(accepted.stack_id)]
    assert "ResourceFailure: resources.a: CREATE timed out after 0.3 s" in events
    assert reader.resource(accepted.stack_id, "a").properties["value"] == "two"


def test_a_handler_that_raises_after_its_side_effect_leaves_nothing(bench: Any) -> None:
    world: list[str] = []

    def make(resource: Resource) -> None:
        made = f"thing-{len(bench.journal.of('a'))}"
        world.append(made)
        resource.resource_id_set(made)
        if len(bench.journal.of("a")) < 4:
            raise ResourceFailure("the network is gone")

    bench.journal.behave["a", "handle_create"] = make
    bench.journal.behave["a", "handle_delete"] = lambda resource: world.remove(resource.resource_id)

    view = bench.create(A, environment=RETRIES)

    assert view.state == "CREATE_COMPLETE"
    assert world == [bench.resource("a").physical_id]


@pytest.mark.parametrize(
    ("rule", "changed", "reason", "calls"),
    [
        pytest.param("update", "{value: two}", "update is restricted", [], id="update"),
        pytest.param("replace", "{fixed: x}", "replace is restricted", [], id="replace"),
        pytest.param(
            "replace", "{value: two}", "replace is restricted", ["handle_update"], id="plug-in-asks"
        ),
    ],
)
def test_restricted_actions(
    bench: Any, rule: str, changed: str, reason: str, calls: list[str]
) -> None:
    bench.create(A)
    bench.journal.calls.clear()
    bench.fails("a", "handle_update", UpdateReplace("a"))
    environment = f"resource_registry: {{resources: {{'*': {{restricted_actions: {rule}}}}}}}"

    view = bench.update(A.replace("{value: one}", changed), environment=environment)

    assert view.state == "UPDATE_FAILED"
    assert f"ResourceActionRestricted: resources.a: {reason}" in view.status_reason
    assert bench.journal.of("a") == calls
    assert len(bench.resource_rows()) == 1


@pytest.mark.parametrize(
    ("needed", "calls"),
    [
        pytest.param(True, ["handle_create", "handle_delete"], id="replaced"),
        pytest.param(False, ["handle_update"], id="updated"),
    ],
)
def test_a_type_says_whether_a_failed_update_needs_a_replacement(
    bench: Any, needed: bool, calls: list[str]
) -> None:
    bench.types["Test::Box"].needs_replace_failed = lambda self: needed  # type: ignore[method-assign]
    bench.create(A)
    bench.fails("a", "handle_update")
    bench.update(A.replace("one", "two"))
    bench.heals("a", "handle_update")
    bench.journal.calls.clear()

    assert bench.update(A.replace("one", "three")).state == "UPDATE_COMPLETE"

    assert bench.journal.of("a") == calls


@pytest.mark.parametrize(
    ("changed", "calls", "state"),
    [
        pytest.param("{value: two}", ["handle_update"], "UPDATE_COMPLETE", id="update-allowed"),
        pytest.param(
            "{value: one, fixed: x}",
            ["handle_create", "handle_delete"],
            "UPDATE_COMPLETE",
            id="not-allowed",
        ),
        pytest.param("{value: one, frozen: x}", [], "UPDATE_FAILED", id="immutable"),
        pytest.param("{value: two, frozen: x}", [], "UPDATE_FAILED", id="immutable-wins"),
    ],
)
def test_what_a_change_of_a_property_means(
    bench: Any, changed: str, calls: list[str], state: str
) -> None:
    bench.create(A)
    bench.journal.calls.clear()

    assert bench.update(A.replace("{value: one}", changed)).state == state

    assert bench.journal.of("a") == calls
