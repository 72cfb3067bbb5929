"""Values and exceptions of plug-ins in any call: one located error each."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.engine.conftest import showing

from zonda.hooks import attributes
from zonda.hooks.errors import NotReady, ResourceFailure
from zonda.hooks.text.borders import interruptible


class Own(BaseException):
    """A plug-in's own."""


class Mute(Exception):
    """Has no text."""

    def __str__(self) -> str:
        raise KeyboardInterrupt

    __repr__ = __str__


class Untold(ResourceFailure):
    """Breaks whoever looks at it."""

    @property
    def heat_type(self) -> str:  # type: ignore[override]
        raise SystemExit(5)


class Weird:
    """Breaks whoever compares, shows, counts or asks it."""

    def __eq__(self, other: object) -> bool:
        raise SystemExit(4)

    def __hash__(self) -> int:
        raise SystemExit(4)

    def __bool__(self) -> bool:
        raise SystemExit(4)

    def __repr__(self) -> str:
        raise SystemExit(4)

    __str__ = __repr__


class OddMap(dict[str, Any]):
    """A map that breaks whoever looks inside."""

    def items(self) -> Any:
        raise SystemExit(7)

    __iter__ = keys = values = items


class OddText(str):
    """A text that breaks whoever compares it."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise SystemExit(6)

    def __hash__(self) -> int:
        raise SystemExit(6)


def _deep(levels: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


def _ring() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


ERRORS = {
    "exit": SystemExit(3),
    "interrupt": KeyboardInterrupt(),
    "generator exit": GeneratorExit(),
    "own": Own("hush-hush"),
    "value": ValueError("hush-hush"),
    "failure": ResourceFailure("hush-hush"),
    "stop": StopIteration("x"),
    "mute": Mute(),
    "untold": Untold("x"),
    "long": ValueError("x" * 1_000_000),
    "not ready": NotReady(math.nan),
}
VALUES = {
    "tuple keys": {(1, 2): 3},
    "tuple keys inside": [{"a": {(1, 2): 3}}],
    "object": object(),
    "weird": Weird(),
    "ring": _ring(),
    "deep": _deep(100_000),
    "rather deep": _deep(600),
    "huge number": 10**5000,
    "odd map": OddMap(a=1),
    "generator": (each for each in [1]),
}
DELAYS = {
    "huge": 10**400,
    "large": 1e308,
    "true": True,
    "huge below zero": -(10**400),
    "below zero": -1,
    "nan": math.nan,
    "infinite": math.inf,
    "none": None,
    "text": "soon",
    "complex": 1j,
    "list": [1],
    "weird": Weird(),
}
#: What has a form in JSON is what it looks like.
PLAIN = {"odd text": (OddText("x"), "x"), "keys": ({1: 2}, {1: 2}), "tuple": ((1, 2), (1, 2))}
BAD = "a: {type: Test::Bad, properties: {secret: hush-hush}}\n"
READER = BAD + "b: {type: Test::Box, properties: {value: {get_attr: [a, late]}}}\n"
OUTPUT = "outputs: {o: {value: {get_attr: [a, late]}}}\n"


@pytest.fixture(autouse=True)
def told_from_ctrl_c() -> Iterator[None]:
    """As under the command line, a plug-in's KeyboardInterrupt is not the user's."""
    with interruptible(signal.SIGINT):
        yield


@pytest.fixture
def bad(bench: Any) -> Callable[[Callable[[], Any]], None]:
    """Decides what ``late``, an attribute of ``Test::Bad``, does."""
    box = bench.types["Test::Box"]
    schema = {**box.attributes_schema, "late": attributes.Schema()}
    made: Any = type("Bad", (box,), {"attributes_schema": schema})
    bench.types["Test::Bad"] = made
    bench.restart()

    def does(run: Callable[[], Any]) -> None:
        made._resolve_attribute = lambda self, name: run()

    return does


def _raising(error: BaseException) -> Callable[[], Any]:
    def run() -> Any:
        raise error

    return run


@pytest.mark.parametrize("error", ERRORS)
def test_an_attribute_that_raises_fails_who_reads_it_and_shows_no_secret(
    error: str, bench: Any, bad: Any
) -> None:
    bad(_raising(ERRORS[error]))
    stack = bench.create(READER, rest=OUTPUT)
    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "CREATE_FAILED"}
    (output,) = showing(bench.engine).outputs(bench.stack.id)
    for told in (stack.status_reason, output.error):
        assert "The attribute late of a cannot be read: " in told
        assert "hush-hush" not in told
        assert len(told) < 5000
    assert bench.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize("value", VALUES)
def test_an_attribute_that_no_json_has_fails_who_reads_it(value: str, bench: Any, bad: Any) -> None:
    bad(lambda: VALUES[value])
    stack = bench.create(READER, rest=OUTPUT)
    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "CREATE_FAILED"}
    (output,) = showing(bench.engine).outputs(bench.stack.id, refresh=True)
    assert output.value is None
    for told in (stack.status_reason, output.error):
        assert "The attribute late of a cannot be read: " in told


@pytest.mark.parametrize("value", PLAIN)
def test_an_attribute_is_what_it_looks_like_whatever_its_class(
    value: str, bench: Any, bad: Any
) -> None:
    given, wanted = PLAIN[value]
    bad(lambda: given)
    bench.create(BAD, rest=OUTPUT)
    for refresh in (False, True):
        (output,) = showing(bench.engine).outputs(bench.stack.id, refresh=refresh)
        assert output.value == wanted
        assert type(output.value) is type(wanted)


@pytest.mark.parametrize("error", [name for name in ERRORS if name != "not ready"])
@pytest.mark.parametrize("call", ["handle_create", "check", "get_reference_id"])
def test_a_call_that_raises_anything_fails_its_resource_and_no_other(
    call: str, error: str, bench: Any
) -> None:
    kind: Any = type("Bad", (bench.types["Test::Slow"],), {})
    bench.types["Test::Bad"] = kind
    bench.restart()
    fails = _raising(ERRORS[error])
    bench.journal.behave["a", call] = lambda resource: fails()
    if call == "get_reference_id":
        kind.get_reference_id = lambda self: fails()
    stack = bench.create(f"{BAD}b: {{type: Test::Box}}")
    assert bench.states() == {"a": "CREATE_FAILED", "b": "CREATE_COMPLETE"}
    assert "hush-hush" not in stack.status_reason
    assert "resources.a: " in stack.status_reason
    bench.journal.behave.clear()
    assert bench.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("call", ["handle_create", "check"])
def test_a_delay_that_is_no_time_fails_its_operation_and_stops_nobody(
    call: str, delay: str, bench: Any
) -> None:
    raised: list[int] = []

    def behave(resource: Any) -> bool:
        raised.append(1)
        if len(raised) == 1:
            raise NotReady(DELAYS[delay])
        return True

    bench.journal.behave["a", call] = behave
    bench.create("a: {type: Test::Slow}\nb: {type: Test::Box}")
    assert bench.stack.idle
    assert bench.states()["b"] == "CREATE_COMPLETE"
    assert ("no time" in bench.stack.status_reason) == (delay not in ("huge", "large", "true"))
