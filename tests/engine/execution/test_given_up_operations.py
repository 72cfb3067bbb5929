"""Operations that were given up: they are polled for a while, and their successors wait."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.handlers.test_cancel import ONE, reasons, sweep

from zonda.core.engine.actions import CancelStack, CreateStack, DeleteStack
from zonda.core.engine.execution import give_up
from zonda.hooks.errors import NotReady

TOLD = "CREATE, which was given up, has ended: "


@pytest.fixture
def late(bench: Any) -> dict[str, Any]:
    """What ``Test::Stuck`` says of a run that was given up: put ``answer`` in."""
    found: dict[str, Any] = {"asked": [], "answer": NotReady(2.0)}

    class Stuck(bench.types["Test::Slow"]):  # type: ignore[misc]
        def handle_create(self) -> Any:
            super().handle_create()
            return {"run": 1}

        def check_create_complete(self, token: Any) -> bool:
            super().check_create_complete(token)
            raise NotReady(400)

        def handle_create_cancel(self, token: Any) -> None:
            token["cancelled"] = True

        def check_cancel_complete(self, token: Any) -> Any:
            found["asked"].append(token)
            if isinstance(found["answer"], BaseException):
                raise found["answer"]
            return found["answer"]

    bench.types["Test::Stuck"] = Stuck
    bench.restart()
    return found


def given_up(bench: Any, action: Any) -> None:
    """A creation that hangs, and what ends it after the grace."""
    bench.engine.begin(CreateStack("s", bench.bundle(ONE)))
    bench.steps(20)
    bench.engine.begin(action)
    bench.steps(4)
    sweep(bench)


def events(bench: Any) -> list[str]:
    found = bench.engine.reader.events(bench.stack.id)
    return [event.reason for event in found if event.action == give_up.ACTION]


def test_a_late_end_is_an_event_and_changes_nothing(bench: Any, late: dict[str, Any]) -> None:
    given_up(bench, CancelStack("s"))
    bench.steps(4)
    assert late["asked"][0] == {"run": 1, "cancelled": True}
    late["answer"] = "it succeeded"
    bench.engine.settle()
    assert events(bench) == [f"{TOLD}it succeeded"]
    assert bench.resource("a").state == "CREATE_FAILED"
    assert bench.resource("a").status_reason == "CREATE cancelled"


def test_nobody_asks_for_longer_than_the_grace(bench: Any, late: dict[str, Any]) -> None:
    given_up(bench, CancelStack("s"))
    bench.engine.settle()
    assert give_up.GRACE / 2 - 1 <= len(late["asked"]) <= give_up.GRACE / 2 + 1
    assert events(bench) == []


def test_what_is_next_waits_until_the_run_has_ended(bench: Any, late: dict[str, Any]) -> None:
    given_up(bench, DeleteStack("s"))
    bench.steps(6)
    assert "CREATE cancelled" in reasons(bench)
    assert "handle_delete" not in bench.journal.of("a")
    stack_id = bench.stack.id
    late["answer"] = "it failed"
    bench.engine.settle()
    assert "handle_delete" in bench.journal.of("a")
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


def test_what_is_next_does_not_wait_for_ever(bench: Any, late: dict[str, Any]) -> None:
    given_up(bench, DeleteStack("s"))
    stack_id = bench.stack.id
    bench.engine.settle()
    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


@pytest.mark.parametrize("answer", [None, "", ValueError("x")])
def test_who_cannot_say_is_not_asked_again(bench: Any, late: dict[str, Any], answer: Any) -> None:
    late["answer"] = answer
    given_up(bench, CancelStack("s"))
    bench.engine.settle()
    assert len(late["asked"]) == 1
    assert events(bench) == []
    assert bench.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize("delay", [float("nan"), float("inf"), -1, None, "soon"], ids=str)
def test_a_delay_that_is_no_time_ends_the_questions(
    delay: Any, bench: Any, late: dict[str, Any]
) -> None:
    late["answer"] = NotReady(delay)
    given_up(bench, CancelStack("s"))
    bench.engine.settle()
    assert len(late["asked"]) == 1
    assert bench.delete().state == "DELETE_COMPLETE"
