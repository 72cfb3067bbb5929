"""The embedded engine: threads, shared commits, a database that refuses, processes that die."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.core.engine.model.effects import Tx, make_step
from zonda.core.engine.model.unit_of_work import UnitOfWork
from zonda.core.engine.runtime.engine import Engine, Notice
from zonda.core.engine.runtime.pool_driver import NO_WORKER
from zonda.core.store.database.faults import Refused
from zonda.core.store.read.views import StackView
from zonda.core.store.values.sealing import make_key
from zonda.core.store.write.database import Store, open_store
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import NotReady, StoreError, TemplateError
from zonda.hooks.runners import Waker, get_waker
from zonda.hooks.testing.fakes import FakeClock

KEY = make_key()
LONG = 20.0


def run(engine: Engine, action: actions.Action) -> StackView:
    accepted = engine.submit(action).result(LONG)
    engine.drive(accepted.stack_id)
    return engine.wait(accepted.stack_id, LONG)


def many(bench: Any, count: int, kind: str = "Box") -> Any:
    return bench.bundle("\n".join(f"r{n}: {{type: Test::{kind}}}" for n in range(count)))


def test_a_stack_lives_and_dies_in_threads(bench: Any, start: Any) -> None:
    engine = start("own")
    text = "a: {type: Test::Slow}\nb: {type: Test::Box, depends_on: a}"
    assert run(engine, actions.CreateStack("s", bench.bundle(text))).state == "CREATE_COMPLETE"
    assert run(engine, actions.DeleteStack("s")).state == "DELETE_COMPLETE"


def test_what_is_ready_together_shares_its_commits(
    bench: Any, start: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 0
    transaction = store.transaction

    def counted() -> Any:
        nonlocal count
        count += 1
        return transaction()

    monkeypatch.setattr(store, "transaction", counted)
    engine = start("own")
    run(engine, actions.CreateStack("s", many(bench, 200)))
    # Each resource takes three transactions (begin, its id, finish).
    assert count < 400


def test_bad_input_is_the_callers_alone(bench: Any, start: Any) -> None:
    engine = start("own")
    bad = engine.submit(actions.CreateStack("bad", bench.bundle("a: {type: No::Such}")))
    good = engine.submit(actions.CreateStack("good", bench.bundle("a: {type: Test::Box}")))
    with pytest.raises(TemplateError):
        bad.result(LONG)
    engine.drive(good.result().stack_id)
    assert engine.wait(good.result().stack_id, LONG).state == "CREATE_COMPLETE"


def test_an_embedded_engine_drives_only_what_it_is_told(bench: Any, start: Any) -> None:
    engine = start("own")
    accepted = engine.submit(actions.CreateStack("s", many(bench, 1))).result(LONG)
    assert not engine.wait(accepted.stack_id, 0.05).idle
    assert bench.journal.calls == []
    engine.drive(accepted.stack_id)
    assert engine.wait(accepted.stack_id, LONG).state == "CREATE_COMPLETE"


def test_an_engine_for_all_takes_up_what_is_unfinished(bench: Any, start: Any) -> None:
    planner = start("own")
    accepted = planner.submit(actions.CreateStack("s", many(bench, 3))).result(LONG)
    planner.stop(LONG)
    assert start("all").wait(accepted.stack_id, LONG).state == "CREATE_COMPLETE"


def test_listeners_hear_committed_events_and_progress(bench: Any, start: Any) -> None:
    heard: list[Notice] = []
    bench.journal.behave["a", "handle_create"] = lambda box: box.context.progress("wait for it")
    engine = start("own")
    end = engine.subscribe(heard.extend)
    stack = run(engine, actions.CreateStack("s", bench.bundle("a: {type: Test::Box}")))
    end()
    states = [notice.event.state for notice in heard if notice.event is not None]
    assert states.count("CREATE_IN_PROGRESS") == 2
    assert states[-1] == "CREATE_COMPLETE"
    assert [notice.message for notice in heard if notice.event is None] == ["wait for it"]
    assert {notice.stack_id for notice in heard} == {stack.id}


def test_who_waits_for_a_worker_says_so_until_it_has_one(bench: Any, start: Any) -> None:
    heard: list[Notice] = []
    has_heard, engine = threading.Event(), start("own")

    def hear(notices: Any) -> None:
        heard.extend(each for each in notices if each.event is None)
        if heard:
            has_heard.set()

    engine.subscribe(hear)
    count = engine.settings.workers + 1
    for number in range(count):
        bench.journal.behave[f"r{number}", "handle_create"] = lambda box: has_heard.wait(LONG)
    assert run(engine, actions.CreateStack("s", many(bench, count))).state == "CREATE_COMPLETE"
    by_name: dict[str, list[str]] = {}
    for notice in heard:
        by_name.setdefault(notice.resource, []).append(notice.message)
    assert by_name
    assert all(told == [NO_WORKER, "running"] for told in by_name.values())


def test_a_listener_is_called_once_for_all_events_of_a_commit(bench: Any, start: Any) -> None:
    calls: list[list[str]] = []
    engine = start("own")
    engine.subscribe(lambda notices: calls.append([each.event.state for each in notices]))
    accepted = engine.submit(actions.CreateStack("s", bench.bundle("{}"))).result(LONG)
    engine.drive(accepted.stack_id)
    engine.wait(accepted.stack_id, LONG)
    assert calls[0] == ["CREATE_IN_PROGRESS", "CREATE_COMPLETE"]


def test_a_call_that_hangs_does_not_stop_the_others_nor_the_end(bench: Any, start: Any) -> None:
    release = threading.Event()
    bench.journal.behave["a", "handle_create"] = lambda box: release.wait(LONG)
    engine = start("own")
    slow = engine.submit(actions.CreateStack("slow", bench.bundle("a: {type: Test::Box}")))
    engine.drive(slow.result(LONG).stack_id)
    other = actions.CreateStack("quick", bench.bundle("b: {type: Test::Box}"))
    assert run(engine, other).state == "CREATE_COMPLETE"
    engine.stop(0.05)
    release.set()


def test_a_waker_is_over_when_its_operation_has_ended(bench: Any, start: Any) -> None:
    """A place that is kept for it is free then."""
    wakers: list[Any] = []
    bench.journal.behave["a", "handle_create"] = lambda box: wakers.append(get_waker())
    bench.journal.behave["b", "handle_create"] = lambda box: wakers.append(get_waker()) or 1 / 0
    text = "a: {type: Test::Box}\nb: {type: Test::Box}"
    assert run(start("own"), actions.CreateStack("s", bench.bundle(text))).state == "CREATE_FAILED"
    assert [waker.is_over for waker in wakers] == [True, True]


def hold_all_threads(bench: Any, engine: Engine, release: threading.Event) -> None:
    """Begin a stack with more slow calls than the engine has threads; more of them wait for one."""
    count = 2 * engine.settings.workers
    for number in range(count):
        bench.journal.behave[f"r{number}", "handle_create"] = lambda box: release.wait(LONG)
    slow = engine.submit(actions.CreateStack("slow", many(bench, count))).result(LONG)
    engine.drive(slow.stack_id)
    while not engine._driver._pool.is_full:
        engine.submit(actions.CheckStack("nobody")).exception(LONG)


def test_a_plan_has_a_thread_while_slow_calls_hold_all_others(bench: Any, start: Any) -> None:
    release, engine = threading.Event(), start("own")
    hold_all_threads(bench, engine, release)
    other = actions.CreateStack("other", bench.bundle("a: {type: Test::Box}"))
    assert engine.submit(other).result(LONG / 4).generation == 1
    assert engine.submit(actions.DeleteStack("other")).result(LONG / 4).generation == 2
    release.set()


def test_a_poll_has_a_thread_while_slow_calls_hold_all_others(bench: Any, start: Any) -> None:
    """A run that has begun ends, although new calls came first and wait for threads."""
    release, engine, polled = threading.Event(), start("own"), threading.Event()
    bench.journal.behave["a", "check"] = lambda slow: polled.is_set()
    early = engine.submit(actions.CreateStack("early", bench.bundle("a: {type: Test::Slow}")))
    engine.drive(early.result(LONG).stack_id)
    hold_all_threads(bench, engine, release)
    polled.set()
    assert engine.wait(early.result().stack_id, LONG / 2).state == "CREATE_COMPLETE"
    release.set()


def begin_hanging(bench: Any, engine: Engine, release: threading.Event) -> str:
    """Begin a stack that fills the engine with calls that only compute, and hang."""
    count = 2 * engine.settings.workers + 8
    for number in range(count):
        bench.journal.behave[f"r{number}", "handle_create"] = lambda box: release.wait(LONG)
    action = actions.CreateStack("hanging", many(bench, count, "Inward"))
    stack_id = engine.submit(action).result(LONG).stack_id
    engine.drive(stack_id)
    while engine._driver.has_room:
        engine.submit(actions.CheckStack("nobody")).exception(LONG)
    return stack_id


def test_what_hangs_without_side_effects_is_given_up_with_its_stack(bench: Any, start: Any) -> None:
    release, engine = threading.Event(), start("own")
    hanging = begin_hanging(bench, engine, release)

    def end_now(work: UnitOfWork) -> None:
        stack = work.tx.stack(hanging)
        assert stack is not None
        stack.deadline = work.now - 1

    engine._run_durable(end_now)
    engine.sweep_deadlines()
    assert engine.wait(hanging, LONG / 2).state == "CREATE_FAILED"
    other = actions.CreateStack("other", bench.bundle("a: {type: Test::Inward}"))
    assert run(engine, other).state == "CREATE_COMPLETE"
    release.set()


def test_what_hangs_without_side_effects_is_given_up_for_a_newer_plan(
    bench: Any, start: Any
) -> None:
    release, engine = threading.Event(), start("own")
    begin_hanging(bench, engine, release)
    assert run(engine, actions.DeleteStack("hanging")).state == "DELETE_COMPLETE"
    other = actions.CreateStack("other", bench.bundle("a: {type: Test::Inward}"))
    assert run(engine, other).state == "CREATE_COMPLETE"
    release.set()


def test_commands_of_other_processes_are_carried_out_and_answered(
    bench: Any, start: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = start("all")
    wanted = {
        "good": actions.CreateStack("s", bench.bundle("a: {type: Test::Box}"), tags=("t",)),
        "bad": actions.CreateStack("t", bench.bundle("a: {type: No::Such}")),
        "gone": actions.DeleteStack("nobody"),
    }
    other = open_store(store.database.url, sealer=store.sealer)
    with other.transaction() as tx:
        for key, action in wanted.items():
            tx.add_request(key, store.sealer.seal(actions.to_json(action)), engine.clock.now())
    monkeypatch.setattr(engine._requests, "_waits", lambda key: True)
    engine.sweep_requests()
    reader = other.reader()
    answers: dict[str, str] = {}
    while len(answers) < len(wanted):
        engine.submit(actions.CheckStack("nobody")).exception(LONG)
        found = {key: reader.request(key).answer for key in wanted}
        answers = {key: answer for key, answer in found.items() if answer is not None}
    accepted = actions.parse_answer(answers["good"])
    assert accepted.warnings == ()  # looked for, so that the command need not load the template
    assert engine.wait(accepted.stack_id, LONG).tags == ("t",)
    with pytest.raises(TemplateError) as caught:
        actions.parse_answer(answers["bad"])
    assert caught.value.errors[0].message == "The Resource Type (No::Such) could not be found."  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="nobody"):
        actions.parse_answer(answers["gone"])
    other.close()


class ByHand:
    """A scheduler that wakes nobody; tells when it is asked to."""

    def __init__(self) -> None:
        self.times: SimpleQueue[float] = SimpleQueue()

    def start(self, engine: Engine, *, stays: bool) -> None:
        """Never call it."""

    def wake_at(self, due: float) -> None:
        """Keep the time."""
        self.times.put(due)

    def stop(self) -> None:
        """Nothing runs."""


def test_only_the_scheduler_wakes_the_thread_for_a_poll(bench: Any, start: Any) -> None:
    polls: list[float] = []
    bench.journal.behave["a", "check"] = lambda box: polls.append(0.0) or len(polls) > 1
    clock, scheduler = Ahead(), ByHand()
    engine = start(clock=clock, scheduler=scheduler)
    accepted = engine.submit(actions.CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    engine.drive(accepted.result(LONG).stack_id)
    while engine._driver.next_due() is None:  # it is asked, and has not answered yet
        scheduler.times.get(timeout=LONG)
    clock.ahead = 60.0
    assert not engine.wait(accepted.result().stack_id, 0.2).idle
    assert len(polls) == 1
    engine.wake()
    assert engine.wait(accepted.result().stack_id, LONG).state == "CREATE_COMPLETE"


def test_polls_that_come_soon_wait_for_the_scheduler_too(bench: Any, start: Any) -> None:
    polls: SimpleQueue[None] = SimpleQueue()

    def ask(box: Any) -> bool:
        polls.put(None)
        raise NotReady(0.02)

    bench.journal.behave["a", "check"] = ask
    engine = start(clock=FakeClock(), scheduler=ByHand())

    def due(work: UnitOfWork) -> float | None:
        next_due: float | None = engine._driver.next_due()
        return next_due

    accepted = engine.submit(actions.CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    engine.drive(accepted.result(LONG).stack_id)
    polls.get(timeout=LONG)
    for _ in range(3):
        while engine._submit_step(lambda: make_step(Tx(due))).result(LONG) is None:
            assert polls.empty()
        engine.wake()
        polls.get(timeout=LONG)
    engine.stop()
    assert polls.empty()


def test_an_operation_that_waits_goes_on_when_it_is_rung(bench: Any, start: Any) -> None:
    kept: list[Waker | None] = []

    def ask(box: Any) -> bool:
        kept.append(get_waker())
        if len(kept) == 1:
            raise NotReady(3600.0)
        return True

    bench.journal.behave["a", "check"] = ask
    engine = start(clock=FakeClock(), scheduler=ByHand())
    accepted = engine.submit(actions.CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    engine.drive(accepted.result(LONG).stack_id)
    while engine._driver.next_due() is None:
        assert len(kept) < 2
    assert kept[0] is not None
    kept[0].ring()
    assert engine.wait(accepted.result().stack_id, LONG).state == "CREATE_COMPLETE"
    assert kept[1] is kept[0]


def test_what_acts_outside_never_shares_the_threads_of_what_computes(
    bench: Any, start: Any
) -> None:
    engine, light = start("own"), []
    put = engine._driver._light.put
    engine._driver._light.put = lambda job: light.append(job.call.run) or put(job)
    polls: list[None] = []
    bench.journal.behave["a", "check"] = lambda box: polls.append(None) or len(polls) > 3
    run(engine, actions.CreateStack("s", bench.bundle("a: {type: Test::Slow}")))
    assert len(polls) == 4
    assert len(light) == 1  # its definition was prepared


class Ahead(SystemClock):
    """Its monotonic time can go on at once."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


# -- a database that refuses ------------------------------------------------------------------


def _page_limit(store: Store, pages: int) -> None:
    store._connection.execute(f"PRAGMA max_page_count={pages}")


@pytest.mark.sqlite
def test_a_full_disk_loses_nothing_if_there_is_room_again(
    bench: Any, start: Any, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def fill(box: Any) -> None:
        (pages,) = store.reader()._connection.execute("PRAGMA page_count").fetchone()
        _page_limit(store, pages)
        threading.Timer(0.15, _page_limit, (store, 1_000_000)).start()

    bench.journal.behave["r0", "handle_create"] = fill
    engine = start("own")
    stack = run(engine, actions.CreateStack("s", many(bench, 150)))
    assert stack.state == "CREATE_COMPLETE"
    assert len(bench.journal.calls) == 150
    assert "disk is full" in caplog.text


def test_an_engine_whose_database_is_gone_says_so(
    bench: Any, start: Any, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.engine.runtime.driver.PATIENCE", 0.1)
    engine = start("own")

    def refuse() -> Any:
        raise Refused("The disk is full.", hint="Make room.")

    monkeypatch.setattr(store, "transaction", refuse)
    with pytest.raises(StoreError, match="disk is full"):
        engine.submit(actions.CreateStack("s", many(bench, 1))).result(LONG)
    with pytest.raises(StoreError, match="disk is full"):
        engine.submit(actions.DeleteStack("s")).result(LONG)


# -- kill -9 ----------------------------------------------------------------------------------

PROCESS = """
import random, sys, time
from pathlib import Path
from types import SimpleNamespace
from zonda.core.system.clock import SystemClock
from zonda.core.engine import actions
from zonda.core.engine.runtime.engine import Engine
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.functions.versions import build_function_table
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.system.ids import Ids
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store
from zonda.core.template.source.bundle import Bundle, Limits
from zonda.core.plugins.manager import Plugins
from zonda.hooks.resources.resource import Resource

home, key, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])


class Made(Resource):
    start_policy = "idempotent"

    def handle_create(self):
        made = home / "made" / self.context.operation.id
        with made.open("a") as file:
            file.write("once\\n")
        self.resource_id_set(made.name)
        return {"until": time.time() + 0.05}

    def check_create_complete(self, token):
        return time.time() > token["until"]


plugins = Plugins(resource_types={"Test::Made": Made})
store = open_store(home / "z.db", sealer=Sealer(key))
clock = SystemClock()
lender = SimpleNamespace(setup="", is_shared=False)
engine = Engine(store, plugins, clock=clock, scheduler=Scheduler(clock), ids=Ids(clock),
                random=random.SystemRandom(), lender=lender,
                load=TemplateLoading(
                    plugins, lambda version: build_function_table(version, plugins), Limits(),
                    lender, clock, random.Random(0)))
engine.start("all")
if not store.reader().stacks():
    lines = [f"  r{n}: {{type: Test::Made" + (f", depends_on: r{n - 9}" if n > 8 else "") + "}"
             for n in range(count)]
    text = "heat_template_version: 2018-08-31\\nresources:\\n" + "\\n".join(lines)
    engine.submit(actions.CreateStack("s", Bundle(text))).result()
print("begun", flush=True)
view = engine.wait(store.reader().stacks()[0].id, 60)
print(view.state, flush=True)
"""


@pytest.mark.sqlite
def test_what_kill_9_interrupts_is_finished_and_made_once(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    script = tmp_path / "engine.py"
    script.write_text(textwrap.dedent(PROCESS))
    count = 80
    command = [sys.executable, str(script), str(tmp_path), KEY, str(count)]
    kills = 0
    for wanted in (5, 30, 60):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            while len(list((tmp_path / "made").iterdir())) < wanted and process.poll() is None:
                pass
            process.send_signal(signal.SIGKILL)
            kills += process.wait() == -signal.SIGKILL
    assert kills == 3
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "CREATE_COMPLETE", done.stderr
    made = list((tmp_path / "made").iterdir())
    connection = sqlite3.connect(tmp_path / "z.db")
    stored = {name for (name,) in connection.execute("SELECT physical_id FROM resource")}
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert {file.name for file in made} == stored
    assert len(stored) == count


def test_an_engine_forgets_the_stacks_whose_actions_have_ended(bench: Any, start: Any) -> None:
    engine = start()
    ids = []
    for number in range(5):
        action = actions.CreateStack(f"s{number}", bench.bundle("a: {type: Test::Inward}"))
        ids.append(engine.submit(action).result(LONG).stack_id)
        engine.drive(ids[-1])
        assert engine.wait(ids[-1], LONG).state == "CREATE_COMPLETE"
    assert engine._driver.driven <= {ids[-2], ids[-1]}
    assert not engine._driver._planned
    engine.submit(actions.DeleteStack("s0")).result(LONG)
    engine.drive(ids[0])
    assert engine.wait(ids[0], LONG).state == "DELETE_COMPLETE"


def test_a_working_engine_goes_round_and_says_whether_it_is_refused(start: Any) -> None:
    engine = start("own")
    engine.keep(lambda tx: None)
    assert engine.seconds_since_turn < LONG
    assert not engine.is_refused
