"""Clocks that are set, machines that slept, engines that were away."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import CancelStack, CreateStack, UpdateStack

DAY = 86400.0
JUMPS = pytest.mark.parametrize(
    "jump",
    [
        pytest.param(3600.0 * 2, id="two hours asleep"),
        pytest.param(5 * DAY, id="set forward"),
        pytest.param(-5 * DAY, id="set back"),
        pytest.param(-600.0, id="set back a little"),
    ],
)
SLOW = "a: {type: Test::Idempotent}\nb: {type: Test::Box, depends_on: a}"
NESTED = """
heat_template_version: 2018-08-31
resources: {a: {type: Test::Idempotent}}
"""


def begin(bench: Any, text: str = SLOW, *, minutes: int = 60, **given: Any) -> None:
    """An action whose first operation is polled, and is not complete yet."""
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle(text, **given), timeout_mins=minutes))
    bench.steps(20)
    assert bench.resource("a").state == "CREATE_IN_PROGRESS"


def sweep(bench: Any) -> None:
    bench.engine.sweep_deadlines()


@JUMPS
def test_what_ended_outside_meanwhile_is_complete(bench: Any, jump: float) -> None:
    begin(bench)
    bench.heals("a", "check")
    bench.clock.jump(jump)
    sweep(bench)
    bench.engine.settle()
    assert bench.stack.state == "CREATE_COMPLETE"


@JUMPS
def test_what_goes_on_after_a_jump_has_the_time_that_it_had(bench: Any, jump: float) -> None:
    begin(bench)
    begun = bench.clock.monotonic()
    bench.clock.jump(jump)
    for _ in range(5000):
        sweep(bench)
        if bench.stack.status != "IN_PROGRESS":
            break
        bench.steps(2)
    assert bench.stack.status_reason == "Create timed out"
    assert 3590 < bench.clock.monotonic() - begun < 3700


@JUMPS
def test_the_own_time_of_an_operation_is_no_other_after_a_jump(bench: Any, jump: float) -> None:
    begin(bench, environment="zonda: {timeouts: {a: {create: 1000}}}")
    begun = bench.clock.monotonic()
    bench.clock.advance(500.0)
    bench.clock.jump(jump)
    bench.engine.settle()
    assert bench.resource("a").status_reason.endswith("CREATE timed out after 1000 s")
    assert bench.clock.monotonic() - begun == pytest.approx(1000, abs=10)


@JUMPS
def test_what_plug_ins_were_told_stays_the_same(bench: Any, jump: float) -> None:
    told = []
    bench.journal.behave["a", "check"] = lambda resource: told.append(
        (resource.context.operation.id, resource.context.operation.deadline)
    )
    bench.engine.begin(CreateStack("s", bench.bundle("a: {type: Test::Idempotent}")))
    bench.journal.behave["a", "check"] = lambda resource: (
        told.append((resource.context.operation.id, resource.context.operation.deadline)) or False
    )
    bench.steps(10)
    bench.clock.jump(jump)
    sweep(bench)
    bench.restart().recover()
    bench.steps(10)
    assert len(told) >= 3
    assert len(set(told)) == 1


@JUMPS
def test_an_interrupted_action_is_taken_up_whatever_the_clock_says(bench: Any, jump: float) -> None:
    begin(bench)
    bench.heals("a", "check")
    bench.clock.jump(jump)
    bench.restart().recover()
    sweep(bench)
    bench.engine.settle()
    assert bench.stack.state == "CREATE_COMPLETE"


@pytest.mark.parametrize("state", ["STARTING", "POLLING"])
def test_after_a_night_without_an_engine_everything_is_polled_before_it_fails(
    bench: Any, state: str
) -> None:
    begin(bench)
    bench.clock.advance(10 * 3600.0)
    bench.restart().recover()
    polls = bench.journal.of("a").count("check")
    sweep(bench)
    assert bench.journal.of("a").count("check") > polls
    bench.engine.settle()
    assert bench.stack.status_reason == "Create timed out"


def test_a_clock_that_was_set_back_between_two_engines_gives_no_more_than_the_whole_time(
    bench: Any,
) -> None:
    begin(bench)
    bench.clock.jump(-5 * DAY)
    begun = bench.clock.monotonic()
    bench.restart().recover()
    for _ in range(5000):
        sweep(bench)
        if bench.stack.status != "IN_PROGRESS":
            break
        bench.steps(2)
    assert bench.stack.status_reason == "Create timed out"
    assert bench.clock.monotonic() - begun < 3700


def test_what_nobody_drives_is_left_to_who_takes_it_up(bench: Any) -> None:
    begin(bench)
    bench.restart()
    bench.engine.driver.drives = lambda stack_id: False
    bench.clock.advance(10 * 3600.0)
    sweep(bench)
    assert bench.stack.status == "IN_PROGRESS"


@JUMPS
def test_a_pause_between_two_attempts_is_no_longer_after_a_jump(bench: Any, jump: float) -> None:
    bench.fails("a", "handle_create")
    text = bench.bundle(
        "a: {type: Test::Idempotent}",
        environment="zonda: {retries: {a: {create: {attempts: 2, delay: 60}}}}",
    )
    bench.engine.begin(CreateStack("s", text))
    while not bench.journal.of("a") or bench.resource_rows()[0].retry_at is None:
        bench.steps(1)
    bench.heals("a", "handle_create")
    began = bench.clock.monotonic()
    bench.clock.jump(jump)
    sweep(bench)
    bench.engine.settle()
    assert bench.stack.state == "CREATE_COMPLETE"
    assert bench.clock.monotonic() - began < 80


@JUMPS
def test_a_breakpoint_is_passed_when_its_time_has_passed(bench: Any, jump: float) -> None:
    environment = (
        "zonda: {timeouts: {a: {pre-create: 30m}}}\n"
        "resource_registry: {resources: {a: {hooks: pre-create}}}"
    )
    bench.create("a: {type: Test::Box}", environment=environment)
    bench.clock.jump(jump)
    sweep(bench)
    assert bench.resource("a").hook == "pre-create"
    bench.clock.advance(1801)
    sweep(bench)
    bench.engine.settle()
    assert bench.stack.state == "CREATE_COMPLETE"


@JUMPS
def test_who_is_cancelled_has_its_grace_whatever_the_clock_says(bench: Any, jump: float) -> None:
    begin(bench)
    bench.engine.begin(CancelStack("s"))
    bench.clock.jump(jump)
    sweep(bench)
    assert bench.stack.status == "IN_PROGRESS"
    bench.clock.advance(241.0)
    sweep(bench)
    bench.engine.settle()
    assert bench.stack.state == "CREATE_FAILED"


@JUMPS
def test_what_begins_after_a_jump_has_all_its_time(bench: Any, jump: float) -> None:
    begin(bench)
    bench.heals("a", "check")
    bench.clock.jump(jump)
    bench.engine.settle()
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(
        UpdateStack("s", bench.bundle(SLOW.replace("}", ", properties: {value: x}}", 1)))
    )
    bench.steps(10)
    row = next(row for row in bench.resource_rows() if row.name == "a")
    assert row.deadline - bench.clock.now() == pytest.approx(3600, abs=60)
    assert row.promised_deadline == row.deadline
