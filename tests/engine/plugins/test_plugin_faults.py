"""Exceptions, texts and stored values of plug-ins: each fault fails its resource only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.engine.conftest import showing
from tests.engine.loading import make_loading

from zonda.core.engine import actions
from zonda.core.engine.plugins.operation import PluginOperation
from zonda.core.engine.runtime.engine import Engine
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids
from zonda.hooks.errors import NotReady, ResourceFailure

LONG = 20.0
TWO = "a: {type: Test::Slow}\nb: {type: Test::Box}"


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Odd(BaseException):
    pass


def raises(error: BaseException) -> Callable[[Any], Any]:
    def behave(resource: Any) -> Any:
        raise error

    return behave


@pytest.fixture
def engine(bench: Any, tmp_path: Path) -> Iterator[Engine]:
    store = open_store(tmp_path / "z.db", sealer=Sealer(make_key()))
    clock = SystemClock()
    made = Engine(
        store,
        bench.plugins,
        clock=clock,
        scheduler=Scheduler(clock),
        ids=Ids(clock),
        random=Random(0),
        lender=bench.lender,
        load=make_loading(bench.plugins, clock, bench.lender),
    )
    made.start("own")
    yield made
    made.stop(LONG)
    store.close()


@pytest.mark.parametrize("call", ["handle_create", "check"])
@pytest.mark.parametrize(
    ("error", "why"),
    [
        pytest.param(SystemExit(3), "SystemExit: resources.a: 3", id="exit"),
        pytest.param(KeyboardInterrupt(), "KeyboardInterrupt: resources.a: ", id="interrupt"),
        pytest.param(Odd("x"), "Odd: resources.a: x", id="odd"),
        pytest.param(ValueError("x\ud800y"), "ValueError: resources.a: x\\ud800y", id="surrogate"),
        pytest.param(
            Mute(),
            "Mute: resources.a: <Mute whose text cannot be made: RuntimeError>",
            id="str raises",
        ),
    ],
)
def test_what_a_plugin_raises_in_a_thread_fails_its_resource(
    error: BaseException, why: str, call: str, bench: Any, engine: Engine
) -> None:
    bench.journal.behave["a", call] = raises(error)
    create = actions.CreateStack("s", bench.bundle(TWO))
    accepted = engine.submit(create).result(LONG)
    engine.drive(accepted.stack_id)
    stack = engine.wait(accepted.stack_id, LONG)
    assert (stack.state, stack.status_reason) == ("CREATE_FAILED", f"Resource CREATE failed: {why}")
    # The engine lives on.
    del bench.journal.behave["a", call]
    engine.submit(actions.DeleteStack("s")).result(LONG)
    assert engine.wait(accepted.stack_id, LONG).state == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("does", "why"),
    [
        pytest.param(
            lambda r: r.resource_id_set("\ud800"),
            "resource_id is not text: it holds half of a surrogate pair",
            id="id",
        ),
        pytest.param(
            lambda r: r.data_set("k", "\ud800"),
            "data k is not text: it holds half of a surrogate pair",
            id="data",
        ),
        pytest.param(
            lambda r: r.metadata_set({"k": object()}),
            "metadata cannot be stored as JSON: Object of type object is not JSON serializable",
            id="metadata",
        ),
        pytest.param(
            raises(NotReady("soon")),  # type: ignore[arg-type]
            "NotReady was raised with a delay that is no time: soon",
            id="delay",
        ),
        pytest.param(
            raises(NotReady(float("nan"))),
            "NotReady was raised with a delay that is no time: nan",
            id="delay that is no number",
        ),
    ],
)
def test_what_a_plugin_stores_must_be_storable(does: Any, why: str, bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = does
    stack = bench.create(TWO)
    assert stack.status_reason == f"Resource CREATE failed: resources.a: {why}"
    assert bench.states()["b"] == "CREATE_COMPLETE"


def test_a_reason_is_no_longer_than_anybody_reads(bench: Any) -> None:
    said = "first" + "x" * 1_000_000 + "last"
    bench.journal.behave["a", "handle_create"] = raises(ValueError(said))
    reason = bench.create(TWO).status_reason
    assert len(reason) < 4200
    assert "resources.a: firstx" in reason
    assert "x [... 996,009 characters left out ...] x" in reason
    assert reason.endswith("xlast")


def test_progress_may_be_any_text(bench: Any) -> None:
    said: list[str] = []
    bench.engine.driver.listeners.subscribe(
        lambda notices: said.extend(notice.message for notice in notices)
    )
    bench.journal.behave["a", "check"] = lambda r: r.context.progress("x\ud800") or True
    assert bench.create(TWO).state == "CREATE_COMPLETE"
    assert "x\\ud800" in said


def test_progress_is_no_longer_than_anybody_reads(bench: Any) -> None:
    said: list[str] = []
    bench.engine.driver.listeners.subscribe(
        lambda notices: said.extend(notice.message for notice in notices)
    )
    bench.journal.behave["a", "check"] = lambda r: r.context.progress("y" * 1_000_000) or True
    assert bench.create(TWO).state == "CREATE_COMPLETE"
    assert 4000 < max(map(len, said)) < 4200


def test_an_attribute_that_is_no_text_fails_its_resource(bench: Any) -> None:
    def bad(resource: Any, name: str) -> str:
        return "\ud800"

    bench.types["Test::Box"]._resolve_attribute = bad
    stack = bench.create("""
        a: {type: Test::Box}
        b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
    """)
    assert stack.status_reason == (
        "Resource CREATE failed: resources.a: the attribute value is not text: "
        "it holds half of a surrogate pair"
    )


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(object(), "Object of type object is not JSON serializable", id="object"),
        pytest.param("\ud800", "holds half of a surrogate pair", id="surrogate"),
    ],
)
def test_an_output_that_cannot_be_shown_says_why(value: Any, why: str, bench: Any) -> None:
    outputs = "outputs: {o: {value: {get_attr: [a, late]}}}\n"
    kind = bench.types["Test::Plain"]
    schema = {"late": bench.types["Test::Box"].attributes_schema["value"]}
    late: Any = type("Late", (kind,), {"attributes_schema": schema})
    bench.types["Test::Late"] = late
    late._resolve_attribute = lambda self, name: None
    bench.create("a: {type: Test::Late}", rest=outputs)
    late._resolve_attribute = lambda self, name: value
    (output,) = showing(bench.engine).outputs(bench.stack.id, refresh=True)
    assert (output.value, why in output.error) == (None, True)


def test_a_step_that_dies_fails_its_row(
    bench: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(operation: PluginOperation) -> Any:
        raise RuntimeError("a bug with a hush-hush value")

    monkeypatch.setattr(PluginOperation, "handle", broken)
    with caplog.at_level(logging.ERROR):
        stack = bench.create(TWO)
    assert stack.status_reason == (
        "Resource CREATE failed: ResourceFailure: resources.a: "
        "CREATE was broken off by a fault (RuntimeError); the log tells more"
    )
    assert bench.states() == {"a": "CREATE_FAILED", "b": "CREATE_FAILED"}
    assert "Traceback" in caplog.text
    monkeypatch.undo()
    assert bench.delete().state == "DELETE_COMPLETE"


def test_an_exit_inline_fails_the_resource_too(bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = raises(SystemExit(3))
    assert bench.create(TWO).state == "CREATE_FAILED"
    bench.journal.behave["b", "handle_delete"] = raises(ResourceFailure("no"))
    assert bench.delete().state == "DELETE_FAILED"
