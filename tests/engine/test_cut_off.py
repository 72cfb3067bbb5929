"""A call that ends the engine is not made for ever: after three take-overs in a row it fails."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack
from zonda.core.engine.cut_off import MOST_TAKE_OVERS
from zonda.hooks.borders import Interruption
from zonda.hooks.errors import NotReady

ONE = "a: {type: Test::KIND}"


class Died(Interruption):
    """The process."""


def die(resource: Any) -> None:
    raise Died


def lives(bench: Any) -> int:
    """Start engine after engine until one does not die; how many have died."""
    for died in range(20):
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
def test_a_call_that_ends_every_engine_fails_after_the_third_take_over(
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
