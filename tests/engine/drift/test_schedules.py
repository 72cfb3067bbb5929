"""Drift schedules on the fake clock: they fire once, survive restarts and coalesce."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import KEY, Bench
from tests.engine.drifting import Drifting

from zonda.core.engine.actions import (
    CheckDrift,
    CreateStack,
    DeleteStack,
    SetDrift,
    UpdateStack,
)
from zonda.core.engine.drift import schedule as firing
from zonda.core.engine.drift.interrupting import MOST_INTERRUPTIONS, interrupt_all
from zonda.core.engine.preview.document import list_notes
from zonda.core.engine.preview.preview import build_preview
from zonda.core.store.schema.rows import DriftCheckRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store
from zonda.hooks.errors import NotReady, ResourceFailure, UsageError
from zonda.hooks.resources.resource import Resource

ONE = "a: {type: Test::Thing, properties: {size: 1}}\n"


@pytest.fixture
def drift(bench: Bench) -> Drifting:
    made = Drifting(bench)
    made.create(ONE)
    return made


def scheduled(drift: Drifting, schedule: str | None = "15m", policy: str | None = None) -> float:
    drift.engine.run(SetDrift("s", schedule, policy))
    at = drift.bench.stack.drift_next
    assert at is not None
    return at


def go_to(drift: Drifting, at: float) -> None:
    drift.bench.clock.advance(at - drift.bench.clock.now())


def set_back(drift: Drifting, seconds: float) -> None:
    drift.bench.clock._now -= seconds


def causes(drift: Drifting) -> list[tuple[str, str]]:
    return [(check.cause, check.status) for check in drift.checks()]


def test_a_schedule_fires_at_its_time_and_again(drift: Drifting) -> None:
    first = scheduled(drift)
    assert 0 < first - drift.bench.clock.now() <= 900 + 60
    go_to(drift, first - 1)
    drift.sweep()
    assert causes(drift) == []
    go_to(drift, first)
    drift.sweep()
    drift.sweep()
    assert causes(drift) == [("schedule", "COMPLETE")]
    assert drift.bench.stack.drift_next == first + 900
    go_to(drift, first + 900)
    drift.sweep()
    assert len(causes(drift)) == 2


def test_missed_runs_are_made_up_by_one(drift: Drifting) -> None:
    go_to(drift, scheduled(drift) + 86400 * 3)
    drift.sweep()
    drift.sweep()
    assert len(causes(drift)) == 1
    at = drift.bench.stack.drift_next
    assert at is not None
    assert 0 < at - drift.bench.clock.now() <= 900


def test_a_clock_that_was_set_back_does_not_silence_it(drift: Drifting) -> None:
    first = scheduled(drift)
    drift.sweep()
    set_back(drift, 86400 * 30)
    drift.sweep()
    at = drift.bench.stack.drift_next
    assert at is not None
    assert 0 < at - drift.bench.clock.now() <= 900 + 60
    assert causes(drift) == []
    go_to(drift, at)
    drift.sweep()
    assert len(causes(drift)) == 1
    go_to(drift, first)
    drift.sweep()
    assert len(causes(drift)) == 2, "going forward again makes no burst"


def test_a_sweep_that_is_undone_leaves_the_times_that_it_has_doubted_to_the_next_one(
    drift: Drifting,
) -> None:
    """They were taken for looked at, and lay in the future until a restart."""

    def sweep_undone(work: Any) -> None:
        drift.firing(work)
        raise ZeroDivisionError

    scheduled(drift)
    set_back(drift, 86400 * 30)
    with pytest.raises(ZeroDivisionError):
        drift.engine.driver.run_in_transaction(sweep_undone)
    drift.sweep()
    at = drift.bench.stack.drift_next
    assert at is not None
    assert at - drift.bench.clock.now() <= 900 + 60


def test_a_restart_notices_a_clock_that_was_set_back_meanwhile(drift: Drifting) -> None:
    scheduled(drift)
    set_back(drift, 86400 * 30)
    drift.restart()
    drift.sweep()
    at = drift.bench.stack.drift_next
    assert at is not None
    assert at - drift.bench.clock.now() <= 900 + 60


def test_a_restart_keeps_a_schedule(drift: Drifting) -> None:
    first = scheduled(drift)
    drift.restart()
    drift.sweep()
    assert drift.bench.stack.drift_next == first
    go_to(drift, first)
    drift.sweep()
    assert len(causes(drift)) == 1


def test_a_check_that_died_with_its_process_is_due_at_once(drift: Drifting) -> None:
    go_to(drift, scheduled(drift))
    drift.world.behave["a"] = _raises(NotReady(50.0))
    drift.engine.driver.run_in_transaction(drift.firing)
    drift.bench.steps(4)
    assert causes(drift) == [("schedule", "RUNNING")]
    drift.restart()  # kill -9
    drift.world.behave.clear()
    drift.engine.driver.run_in_transaction(interrupt_all)
    assert causes(drift) == [("schedule", "INTERRUPTED")]
    drift.sweep()
    assert causes(drift) == [("schedule", "COMPLETE"), ("schedule", "INTERRUPTED")]


def test_a_check_that_ends_every_engine_waits_for_its_time_after_the_third_take_over(
    drift: Drifting,
) -> None:
    go_to(drift, scheduled(drift))
    drift.world.behave["a"] = _raises(NotReady(50.0))
    for begun in range(1, MOST_INTERRUPTIONS + 2):
        drift.engine.driver.run_in_transaction(drift.firing)
        drift.bench.steps(4)
        assert causes(drift)[0] == ("schedule", "RUNNING")
        assert len(causes(drift)) == begun
        drift.restart()  # what it looks at has ended the process
        drift.engine.driver.run_in_transaction(interrupt_all)
    drift.world.behave.clear()
    drift.sweep()
    assert causes(drift) == [("schedule", "INTERRUPTED")] * (MOST_INTERRUPTIONS + 1)
    at = drift.bench.stack.drift_next
    assert at is not None
    assert at > drift.bench.clock.now()
    go_to(drift, at)
    drift.sweep()
    assert causes(drift)[0] == ("schedule", "COMPLETE")


def test_a_long_check_never_runs_twice_at_once(drift: Drifting) -> None:
    first = scheduled(drift, "60")
    asked: list[float] = []

    def behave(resource: Resource) -> Any:
        asked.append(resource.context.clock.now())
        resource.context.observation["n"] = n = resource.context.observation.get("n", 0) + 1
        if n < 10:
            drift.engine.driver.start(_sweeping(drift))
            raise NotReady(30.0)
        return {"size": 1}

    drift.world.behave["a"] = behave
    go_to(drift, first)
    drift.sweep()
    assert len(asked) == 10
    assert causes(drift) == [("schedule", "COMPLETE")]


def _sweeping(drift: Drifting) -> Any:
    from zonda.core.engine.model.effects import Tx, make_step

    return make_step(Tx(drift.firing))


def test_several_processes_fire_once(tmp_path: Path) -> None:
    file = tmp_path / "z.db"
    bench = Bench(open_store(file, sealer=Sealer(KEY)))
    drift = Drifting(bench)
    drift.create(ONE)
    go_to(drift, scheduled(drift))
    one, one_firing = drift.engine, drift.firing
    other = drift.restart(open_store(file, sealer=Sealer(KEY)))
    one.driver.run_in_transaction(one_firing)
    other.driver.run_in_transaction(drift.firing)
    one.settle()
    other.settle()
    assert len(drift.checks()) == 1


def test_who_looked_before_another_process_moved_it_fires_nothing(
    drift: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = scheduled(drift)
    go_to(drift, first)
    with drift.bench.store.transaction() as tx:
        seen = tx.drift.due(drift.bench.clock.now())
        monkeypatch.setattr(type(tx.drift), "due", lambda rows, now: seen)
    drift.sweep()
    drift.sweep()
    assert causes(drift) == [("schedule", "COMPLETE")]
    assert drift.bench.stack.drift_next == first + 900


def test_one_that_is_being_worked_on_is_put_off_until_it_is_done(drift: Drifting) -> None:
    go_to(drift, scheduled(drift))
    bench = drift.bench
    bench.engine.begin(UpdateStack("s", bench.bundle(ONE.replace("1", "2"))))
    drift.engine.driver.run_in_transaction(drift.firing)
    assert causes(drift) == []
    drift.engine.settle()
    drift.sweep()
    assert causes(drift) == [("schedule", "COMPLETE")]


def test_one_on_demand_that_runs_counts_for_the_schedule(drift: Drifting) -> None:
    first = scheduled(drift)
    go_to(drift, first)
    drift.world.behave["a"] = _raises(NotReady(50.0))
    drift.engine.begin(CheckDrift("s"))
    drift.engine.driver.run_in_transaction(drift.firing)
    assert causes(drift) == [("command", "RUNNING")]
    assert drift.bench.stack.drift_next == first + 900


def test_report_leaves_it_and_repair_puts_it_right_once_a_firing(drift: Drifting) -> None:
    first = scheduled(drift)
    drift.thing("a")["size"] = 9
    go_to(drift, first)
    drift.sweep()
    assert drift.world.changed() == []
    scheduled(drift, None, "repair")
    go_to(drift, first + 900)
    drift.sweep()
    assert drift.world.changed() == [("a", "update")]
    assert drift.bench.stack.state == "UPDATE_COMPLETE"
    assert drift.checks()[0].verdict == "DRIFTED"


def test_a_repair_that_fails_is_tried_again_at_the_next_firing_only(
    drift: Drifting, bench: Bench
) -> None:
    first = scheduled(drift, "15m", "repair")
    drift.thing("a")["size"] = 9
    tried: list[str] = []

    def fails(self: Any, *given: Any) -> None:
        tried.append(self.name)
        raise ResourceFailure("no")

    bench.types["Test::Thing"].handle_update = fails  # type: ignore[method-assign]
    go_to(drift, first)
    for _ in range(5):
        drift.sweep()
    assert tried == ["a"]
    assert bench.stack.state == "UPDATE_FAILED"


def test_a_deleted_or_suspended_stack_is_not_looked_at(drift: Drifting, bench: Bench) -> None:
    first = scheduled(drift)
    bench.suspend()
    go_to(drift, first)
    drift.sweep()
    assert causes(drift) == []
    assert bench.stack.drift_next == first + 900
    stack = bench.run(DeleteStack("s"))
    go_to(drift, first + 5000)
    drift.sweep()
    assert drift.reader.drift_checks(stack.id) == []


def test_what_a_command_says_of_schedules(drift: Drifting) -> None:
    scheduled(drift, "*/10 * * * *")
    stack = drift.bench.stack
    assert (stack.drift_schedule, stack.drift_policy) == ("*/10 * * * *", "report")
    drift.engine.run(SetDrift("s", "off"))
    stack = drift.bench.stack
    assert (stack.drift_schedule, stack.drift_policy, stack.drift_next) == ("", "OFF", None)
    for given in (("x", None), ("15m", "mend"), (None, "repair")):
        with pytest.raises(UsageError):
            drift.engine.run(SetDrift("s", *given))


def _environment(drift_section: str) -> str:
    return f"zonda: {{drift: {drift_section}}}"


def test_an_environment_sets_it_and_a_command_wins_whatever_it_says_later(
    drift: Drifting, bench: Bench
) -> None:
    said = '{schedule: 15m, policy: repair, ignore: [{resource: a, property: size, reason: "x"}]}'
    bench.update(ONE, environment=_environment(said))
    stack = bench.stack
    assert (stack.drift_schedule, stack.drift_policy) == ("15m", "repair")
    assert stack.drift_next is not None
    (rule,) = drift.reader.drift_ignores(stack.id)
    assert (rule.path, rule.property, rule.by) == ("a", "size", "environment")
    drift.thing("a")["size"] = 9
    assert drift.check().verdict == "IN_SYNC"

    scheduled(drift, "1h", "report")
    bench.update(ONE, environment=_environment(said))
    assert bench.stack.drift_schedule == "1h", "an update without another section"
    bench.update(ONE, environment=_environment("{schedule: 30m}"))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("1h", "report")
    assert drift.reader.drift_ignores(stack.id) == [], "exceptions are told apart"
    bench.update(ONE)
    assert bench.stack.drift_schedule == "1h"


def test_what_a_command_has_switched_off_stays_off_until_one_gives_it_back(
    drift: Drifting, bench: Bench
) -> None:
    bench.update(ONE, environment=_environment("{schedule: 15m, policy: repair}"))
    drift.engine.run(SetDrift("s", "off"))
    bench.update(ONE, environment=_environment("{schedule: 20m, policy: repair}"))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("", "OFF")
    with pytest.raises(UsageError, match="policy"):
        drift.engine.run(SetDrift("s", "environment", "report"))
    assert scheduled(drift, "environment") > drift.bench.clock.now()
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("20m", "repair")
    bench.update(ONE, environment=_environment("{schedule: 25m}"))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("25m", "report")
    bench.update(ONE)
    assert (bench.stack.drift_schedule, bench.stack.drift_next) == ("", None)


def test_an_update_may_give_it_back(drift: Drifting, bench: Bench) -> None:
    scheduled(drift, "1h")
    bundle = bench.bundle(ONE, environment=_environment("{schedule: 15m}"))
    drift.engine.run(UpdateStack("s", bundle, drift_schedule="environment"))
    assert bench.stack.drift_schedule == "15m"
    scheduled(drift, "1h")
    drift.engine.run(UpdateStack("s", bench.bundle(ONE), drift_schedule="environment"))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("", "OFF")


def test_a_plan_tells_that_a_command_wins_over_what_the_environment_says_now(
    drift: Drifting, bench: Bench
) -> None:
    scheduled(drift, "1h")
    bundle = bench.bundle(ONE, environment=_environment("{schedule: 15m}"))
    (note,) = list_notes(build_preview(drift.engine.services, UpdateStack("s", bundle)))
    assert "drift schedule s environment" in note
    again = UpdateStack("s", bundle, drift_schedule="environment")
    assert list_notes(build_preview(drift.engine.services, again)) == []
    bench.update(ONE, environment=_environment("{schedule: 15m}"))
    assert list_notes(build_preview(drift.engine.services, UpdateStack("s", bundle))) == []


def test_an_update_without_a_section_leaves_what_a_command_has_set(
    drift: Drifting, bench: Bench
) -> None:
    scheduled(drift, "1h", "repair")
    bench.update(ONE)
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("1h", "repair")


def test_options_win_over_the_environment(drift: Drifting, bench: Bench) -> None:
    bundle = bench.bundle(ONE, environment=_environment("{schedule: 15m, policy: repair}"))
    drift.engine.run(UpdateStack("s", bundle, drift_schedule="2h"))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("2h", "repair")
    bench.run(DeleteStack("s"))
    drift.create_with(ONE, drift_schedule="20m", drift_policy="repair")
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("20m", "repair")


@pytest.mark.parametrize("policy", ["repair", "report"])
def test_a_policy_of_the_environment_needs_a_schedule(
    drift: Drifting, bench: Bench, policy: str
) -> None:
    bundle = bench.bundle(ONE, environment=_environment(f"{{policy: {policy}}}"))
    with pytest.raises(UsageError, match=f"policy {policy}") as found:
        drift.engine.run(UpdateStack("s", bundle))
    assert "schedule: off" in found.value.hint
    with pytest.raises(UsageError, match="policy"):
        build_preview(drift.engine.services, UpdateStack("s", bundle))
    drift.engine.run(UpdateStack("s", bundle, drift_schedule="2h"))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("2h", policy)
    with pytest.raises(UsageError, match="policy"):
        drift.engine.run(SetDrift("s", "environment"))


@pytest.mark.parametrize("said", ["{schedule: off, policy: repair}", "{policy: off}"])
def test_that_nothing_is_due_may_be_said(drift: Drifting, bench: Bench, said: str) -> None:
    bench.update(ONE, environment=_environment(said))
    assert (bench.stack.drift_schedule, bench.stack.drift_policy) == ("", "OFF")


def test_an_exception_for_a_while_counts_from_the_update_that_says_it_first(
    drift: Drifting, bench: Bench
) -> None:
    def ends() -> list[float]:
        return [each.until for each in drift.reader.drift_ignores(bench.stack.id)]

    def said(span: str) -> str:
        return _environment(f"{{ignore: [{{resource: a, until: {span}, reason: x}}]}}")

    bench.update(ONE, environment=said("30d"))
    [until] = ends()
    assert until == pytest.approx(bench.clock.now() + 30 * 86400, abs=60)
    drift.thing("a")["size"] = 9
    assert drift.check().verdict == "IN_SYNC"
    bench.clock.advance(86400.0)
    bench.update(ONE, environment=said("30d"))
    assert ends() == [until], "an update that says the same does not prolong it"
    bench.update(ONE, environment=said("5d"))
    assert ends() == [pytest.approx(bench.clock.now() + 5 * 86400, abs=60)]
    bench.clock.advance(5 * 86400.0)
    assert drift.check().verdict == "DRIFTED"


def _raises(error: BaseException) -> Any:
    def behave(resource: Resource) -> Any:
        raise error

    return behave


def test_a_plan_tells_that_a_schedule_changes(drift: Drifting, bench: Bench) -> None:
    bundle = bench.bundle(ONE, environment=_environment("{schedule: 15m}"))
    found = build_preview(drift.engine.services, UpdateStack("s", bundle))
    told = {change.path: (change.before, change.after) for change in found.settings}
    assert told == {
        ("drift_schedule",): (None, "15m"),
        ("drift_policy",): (None, "report"),
    }


def test_a_repair_that_nobody_came_to_begin_is_made_up_at_the_next_start(drift: Drifting) -> None:
    at = scheduled(drift, "15m", "repair")
    drift.thing("a")["size"] = 9
    drift.engine.driver.checks.made._repair = lambda check: _nothing()
    go_to(drift, at)
    drift.sweep()
    assert drift.checks()[0].verdict == "DRIFTED"
    assert drift.world.changed() == []
    drift.restart().recover()
    drift.sweep()
    assert drift.world.changed() == [("a", "update")]
    count = len(drift.checks())
    drift.restart().recover()
    drift.sweep()
    assert len(drift.checks()) == count, "what was repaired is not looked at again"


def _nothing() -> Iterator[Any]:
    yield from ()


def test_what_a_clock_that_was_set_back_brought_later_is_newer(drift: Drifting) -> None:
    with drift.bench.store.transaction() as tx:
        for key, verdict in (("z", "DRIFTED"), ("a", "MISSING")):
            row = DriftCheckRow(key, drift.bench.stack.id, status="COMPLETE", verdict=verdict)
            tx.drift.add_check(row)
        before = tx.drift.find_previous_check(DriftCheckRow("other", drift.bench.stack.id))
    assert [check.id for check in drift.checks()] == ["a", "z"]
    assert before is not None
    assert before.id == "a"


def test_a_sweep_begins_so_many_and_the_others_stay_due(
    drift: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firing, "_AT_ONCE", 2)
    for number in range(5):
        drift.engine.run(CreateStack(f"s{number}", drift.bench.bundle(ONE), drift_schedule="15m"))
    drift.bench.clock.advance(86400)

    def begun() -> int:
        drift.sweep()
        stacks = [drift.reader.stack(f"s{number}") for number in range(5)]
        return sum(bool(drift.reader.drift_checks(stack.id)) for stack in stacks)

    assert [begun(), begun(), begun(), begun()] == [2, 4, 5, 5]


def test_schedules_are_set_right_bit_by_bit_after_a_step_back(
    drift: Drifting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firing, "_AT_ONCE", 2)
    for number in range(5):
        drift.engine.run(CreateStack(f"s{number}", drift.bench.bundle(ONE), drift_schedule="15m"))
    drift.sweep()
    set_back(drift, 86400 * 30)
    for _ in range(3):
        drift.sweep()
    now = drift.bench.clock.now()
    for number in range(5):
        assert 0 < drift.reader.stack(f"s{number}").drift_next - now <= 960
