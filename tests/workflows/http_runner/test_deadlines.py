"""An attempt ends with the time of its action, and the failure says so."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.http import Reply, TransportError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    Running,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
    get_deadline,
)
from zonda.hooks.testing import FakeClock, FakeContext, Lifecycle
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.resources.zonda_external_resource import ZondaExternalResource

BASE = "https://flows.example"
NOW = 1_790_000_000.0
MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]


class Endpoint:
    """One that takes all the time that it gets, or ``late`` seconds; ``sent`` is what came."""

    def __init__(self, runner: HttpRunner, clock: Any, late: float = 1000.0) -> None:
        self.sent: list[dict[str, Any]] = []
        self._clock, self._late = clock, late
        runner._caller._transport.send = self._send  # type: ignore[method-assign]

    def _send(self, method: str, url: str, headers: Any, *args: Any, **more: Any) -> Reply:
        seconds = more["seconds"]
        self.sent.append({"seconds": seconds, "prefer": headers.get("Prefer", "")})
        self._clock.advance(min(seconds, self._late))
        if seconds < self._late:
            raise TransportError(f"no whole answer within {seconds:g} s")
        return Reply(200, {}, b"{}")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.mark.parametrize(
    ("given", "seconds", "wait"),
    [
        pytest.param({"deadline": NOW + 3}, 3.0, "2", id="first attempt"),
        pytest.param({"deadline": NOW + 3, "answered": True}, 3.0, "2", id="it has answered"),
        pytest.param({"deadline": NOW + 900, "answered": True}, 60.0, "30", id="far away"),
        pytest.param({"deadline": NOW}, 0.1, "0", id="over"),
    ],
)
def test_an_attempt_ends_at_the_deadline_and_an_answer_is_asked_for_before(
    make_runner: MakeRunner,
    request_for: MakeRequest,
    clock: FakeClock,
    given: dict[str, Any],
    seconds: float,
    wait: str,
) -> None:
    runner = make_runner()
    endpoint = Endpoint(runner, clock)
    runner.start(request_for(**given))
    assert endpoint.sent == [{"seconds": seconds, "prefer": f"respond-async, wait={wait}"}]


def test_an_answer_within_the_attempt_counts_though_the_time_is_over(
    make_runner: MakeRunner, request_for: MakeRequest, clock: FakeClock
) -> None:
    runner = make_runner()
    Endpoint(runner, clock, late=3.0)
    answer = runner.start(request_for(deadline=NOW + 3))
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Succeeded)


def test_a_request_that_is_not_repeated_tells_the_timeout(
    make_runner: MakeRunner, request_for: MakeRequest, clock: FakeClock
) -> None:
    runner = make_runner(endpoint=BASE, actions={"CREATE": {"url": "/d", "body": "inputs"}})
    Endpoint(runner, clock)
    answer = runner.start(request_for("flow", deadline=NOW + 3))
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert answer.result.reason.startswith(
        f"CREATE took longer than its timeout: {BASE}/d: no whole answer within 3 s (whether it"
    )


@pytest.mark.parametrize("retries", [{}, {"CREATE": 2}], ids=["one run", "more runs"])
def test_an_action_that_takes_longer_than_its_timeout_is_sent_once(
    make_runner: MakeRunner, clock: FakeClock, retries: dict[str, int]
) -> None:
    runner = make_runner()
    endpoint = Endpoint(runner, clock)
    context = FakeContext(clock=clock, runners={"http": runner})
    given = {
        "actions": {"CREATE": {"workflow": f"{BASE}/hook"}},
        "timeouts": {"CREATE": 3},
        "retries": retries,
    }
    with pytest.raises(ResourceFailure, match=r"took longer than its timeout: .*within 3 s$"):
        Lifecycle(ZondaExternalResource, given, context=context).create()
    assert len(endpoint.sent) == 1
    assert clock.now() - NOW < 5


class DeadlineRecorder(WorkflowRunner):
    """A runner whose runs never end; ``left`` is the time that each call has until its deadline."""

    def __init__(self, clock: FakeClock) -> None:
        self.left: dict[str, float] = {}
        self._clock = clock

    def start(self, request: StartRequest) -> Started:
        self._record("start")
        return Started({}, 1.0)

    def poll(self, token: Any) -> Running:
        self._record("poll")
        return Running(1.0)

    def cancel(self, token: Any, reason: str) -> Cancelled:
        self._record("cancel")
        return Cancelled.UNSUPPORTED

    def _record(self, name: str) -> None:
        self.left.setdefault(name, round(get_deadline() - self._clock.now()))


def test_every_call_of_a_runner_knows_the_deadline(clock: FakeClock) -> None:
    runner = DeadlineRecorder(clock)
    context = FakeContext(clock=clock, runners={"own": runner})
    actions = {"CREATE": {"workflow": "own:flow"}}
    given = {"actions": actions, "timeouts": {"CREATE": 9}, "on_timeout": "cancel"}
    with pytest.raises(ResourceFailure, match="took longer than its timeout"):
        Lifecycle(ZondaExternalResource, given, context=context).create()
    assert runner.left["start"] == 9
    assert 0 < runner.left["poll"] < 9
    assert runner.left["cancel"] <= 0
    assert get_deadline() == inf
