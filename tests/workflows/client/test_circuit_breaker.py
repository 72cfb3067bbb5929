"""Limits of requests per endpoint, and pauses after failures."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
import responses

from zonda.hooks.http import Reply, TransportError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    Retry,
    Running,
    StartRequest,
    Succeeded,
)
from zonda.hooks.runners.waking import Waker, keep_waker
from zonda.workflows.client.circuit_breaker import CircuitBreakers, Limits, RetryLater
from zonda.workflows.http_runner.runner import HttpRunner

ORIGIN, OTHER = "https://flows.example:443", "https://other.example:443"
HOOK = "https://flows.example/hook"
NOW = 1_790_000_000.0
TOKEN = {"url": "https://flows.example/runs/7", "key": "k", "at": NOW}

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]


class Upper(random.Random):
    def uniform(self, a: float, b: float) -> float:
        return b


@pytest.fixture
def make_gates(clock: Any) -> Callable[..., CircuitBreakers]:
    def make(**limits: Any) -> CircuitBreakers:
        return CircuitBreakers(clock, Upper(), Limits(**limits))

    return make


def send(gates: CircuitBreakers, answered: bool | None, origin: str = ORIGIN, **how: bool) -> None:
    with gates.request_permit(origin, **how) as leave:
        leave.answered = answered


def fail(gates: CircuitBreakers, times: int) -> None:
    for _ in range(times):
        send(gates, answered=False)


# -- how many at a time -------------------------------------------------------------------------


def test_so_many_and_no_more_at_a_time(make_gates: Any) -> None:
    gates = make_gates(in_flight=2)
    with gates.request_permit(ORIGIN), gates.request_permit(ORIGIN):
        with pytest.raises(RetryLater, match="has 2 requests of ours to answer") as caught:
            send(gates, answered=True)
        send(gates, True, OTHER)
    send(gates, answered=True)
    assert not caught.value.paused
    assert 0 < caught.value.delay <= 10


class Rings:
    """Wakers by name, and the names of those that were rung, in order."""

    def __init__(self, *names: str) -> None:
        self.rung: list[str] = []
        self.wakers = {name: Waker(lambda name=name: self.rung.append(name)) for name in names}

    def send(self, gates: CircuitBreakers, name: str) -> bool:
        """Whether the request of ``name`` was sent."""
        with keep_waker(self.wakers[name]):
            try:
                send(gates, answered=True)
            except RetryLater:
                return False
        return True


def test_a_place_goes_to_those_who_wait_in_order(make_gates: Any) -> None:
    gates, rings = make_gates(in_flight=1), Rings("first", "second", "new")
    with gates.request_permit(ORIGIN):
        assert not rings.send(gates, "first")
        assert not rings.send(gates, "second")
        assert not rings.send(gates, "first")  # to look again costs no turn
        assert rings.rung == []
    assert rings.rung == ["first"]
    assert not rings.send(gates, "second")
    assert not rings.send(gates, "new")
    assert rings.send(gates, "first")
    assert rings.rung == ["first", "second"]
    assert rings.send(gates, "second")
    assert rings.send(gates, "new")


def test_who_waits_looks_again_at_last(make_gates: Any) -> None:
    gates, rings = make_gates(in_flight=1), Rings("one")
    with (
        gates.request_permit(ORIGIN),
        keep_waker(rings.wakers["one"]),
        pytest.raises(RetryLater) as caught,
    ):
        send(gates, answered=True)
    assert caught.value.delay == 10.0


def test_the_place_of_one_that_does_not_come_goes_on(make_gates: Any, clock: Any) -> None:
    gates, rings = make_gates(in_flight=1), Rings("gone", "there", "new")
    with gates.request_permit(ORIGIN):
        assert not rings.send(gates, "gone")
        assert not rings.send(gates, "there")
    assert rings.rung == ["gone"]
    clock.seconds += 9.0
    assert not rings.send(gates, "there")
    clock.seconds += 1.0
    assert not rings.send(gates, "new")
    assert rings.rung == ["gone", "there"]
    assert rings.send(gates, "there")


def test_who_has_long_not_looked_is_not_woken(make_gates: Any, clock: Any) -> None:
    gates, rings = make_gates(in_flight=1), Rings("gone", "there")
    with gates.request_permit(ORIGIN):
        assert not rings.send(gates, "gone")
        clock.seconds += 20.0
        assert not rings.send(gates, "there")
    assert rings.rung == ["there"]


def test_who_was_given_up_is_not_woken_and_keeps_no_place(make_gates: Any) -> None:
    gates, rings = make_gates(in_flight=1), Rings("woken", "gone", "there")
    with gates.request_permit(ORIGIN):
        for name in ("woken", "gone", "there"):
            assert not rings.send(gates, name)
    rings.wakers["gone"].is_over = rings.wakers["woken"].is_over = True
    assert rings.send(gates, "there")
    assert rings.rung == ["woken", "there"]


def test_who_cannot_be_woken_goes_before_the_one_woken_last(make_gates: Any) -> None:
    gates, rings = make_gates(in_flight=1), Rings("woken")
    with gates.request_permit(ORIGIN):
        assert not rings.send(gates, "woken")
        with pytest.raises(RetryLater) as caught:
            send(gates, answered=True)
        assert caught.value.delay == 0.5
    send(gates, answered=True)
    assert rings.rung == ["woken", "woken"]
    assert rings.send(gates, "woken")


def test_those_who_wait_are_woken_after_a_rest(make_gates: Any, clock: Any) -> None:
    gates, rings = make_gates(in_flight=2, failures=1), Rings("one", "two")
    with gates.request_permit(ORIGIN) as leave, gates.request_permit(ORIGIN):
        assert not rings.send(gates, "one")
        assert not rings.send(gates, "two")
        leave.answered = False
    clock.seconds += 5.0
    with gates.request_permit(ORIGIN, last=True) as leave:
        leave.answered = True
    assert rings.send(gates, "one")
    assert rings.send(gates, "two")


def test_places_are_few_for_late_answers_before_they_are_taken(make_gates: Any) -> None:
    gates = make_gates(in_flight=16)
    with gates.request_permit(ORIGIN):
        assert not gates.has_few_places()
        with gates.request_permit(OTHER):
            assert gates.has_few_places()
    assert not gates.has_few_places()


@pytest.mark.parametrize("how", [{"urgent": True}])
def test_what_is_urgent_has_no_limit(make_gates: Any, how: dict[str, bool]) -> None:
    gates = make_gates(in_flight=1)
    with gates.request_permit(ORIGIN):
        send(gates, True, **how)


def test_a_place_is_free_again_whatever_happened(make_gates: Any) -> None:
    gates = make_gates(in_flight=1)
    with contextlib.suppress(KeyError), gates.request_permit(ORIGIN):
        raise KeyError
    send(gates, answered=True)


def test_no_limit(make_gates: Any) -> None:
    gates = make_gates(in_flight=0)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(gates.request_permit(ORIGIN))


def test_threads_never_exceed_the_limit(make_gates: Any) -> None:
    gates = make_gates(in_flight=3)
    together, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal together, most
        for _ in range(200):
            with contextlib.suppress(RetryLater), gates.request_permit(ORIGIN) as leave:
                with lock:
                    together += 1
                    most = max(most, together)
                with lock:
                    together -= 1
                leave.answered = True

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most <= 3
    with gates.request_permit(ORIGIN), gates.request_permit(ORIGIN), gates.request_permit(ORIGIN):
        pass


# -- a rest -------------------------------------------------------------------------------------


def test_failures_in_a_row_make_a_rest(make_gates: Any) -> None:
    gates = make_gates(failures=3, pause=5.0)
    fail(gates, 3)
    with pytest.raises(
        RetryLater, match=r"failed 3 times in a row: it gets a rest of 5 s"
    ) as caught:
        send(gates, answered=True)
    assert caught.value.paused
    assert 5.0 <= caught.value.delay <= 6.0
    send(gates, True, OTHER)


@pytest.mark.parametrize("between", [True])
def test_an_answer_between_failures_starts_the_count_anew(make_gates: Any, between: bool) -> None:
    gates = make_gates(failures=3)
    fail(gates, 2)
    send(gates, between)
    fail(gates, 2)
    send(gates, answered=True)


def test_what_says_nothing_of_the_endpoint_does_not_count(make_gates: Any) -> None:
    gates = make_gates(failures=3)
    fail(gates, 2)
    send(gates, None)
    fail(gates, 1)
    assert gates.is_paused(ORIGIN)


def test_after_the_rest_one_request_tries(make_gates: Any, clock: Any) -> None:
    gates = make_gates(failures=1, pause=5.0)
    fail(gates, 1)
    clock.seconds += 5.0
    with gates.request_permit(ORIGIN) as leave:
        with pytest.raises(RetryLater, match="one request tries it"):
            send(gates, answered=True)
        leave.answered = True
    send(gates, answered=True)
    assert not gates.is_paused(ORIGIN)


def test_a_try_that_fails_doubles_the_rest_to_a_minute(make_gates: Any, clock: Any) -> None:
    gates, rests = make_gates(failures=1, pause=5.0), []
    for _ in range(7):
        fail(gates, 1)
        with pytest.raises(RetryLater) as caught:
            send(gates, answered=True)
        rests.append(caught.value.delay - 1.0)
        clock.seconds += rests[-1]
    assert rests == [5, 10, 20, 40, 60, 60, 60]
    send(gates, answered=True)
    fail(gates, 1)
    with pytest.raises(RetryLater, match="a rest of 5 s"):
        send(gates, answered=True)


def test_a_try_of_which_nothing_is_learned_lets_another_try(make_gates: Any, clock: Any) -> None:
    gates = make_gates(failures=1)
    fail(gates, 1)
    clock.seconds += 5
    send(gates, None)
    send(gates, answered=True)
    send(gates, answered=True)


def test_many_failures_under_way_make_one_rest(make_gates: Any) -> None:
    gates = make_gates(failures=2, pause=5.0, in_flight=0)
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(gates.request_permit(ORIGIN)).answered = False
    with pytest.raises(RetryLater, match="a rest of 5 s"):
        send(gates, answered=True)


@pytest.mark.parametrize("how", [{"urgent": True}, {"last": True}])
def test_what_cannot_wait_is_sent_in_spite_of_a_rest(make_gates: Any, how: dict[str, bool]) -> None:
    gates = make_gates(failures=1)
    fail(gates, 1)
    send(gates, True, **how)
    send(gates, answered=True)


def test_never_a_rest(make_gates: Any) -> None:
    gates = make_gates(failures=0)
    fail(gates, 100)
    send(gates, answered=True)


# -- the runner ---------------------------------------------------------------------------------


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def broken(runner: HttpRunner, request: StartRequest, times: int) -> None:
    for _ in range(times):
        runner.start(request)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_errors_of_an_endpoint_give_it_a_rest_and_fail_nothing(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, status: int
) -> None:
    http.post(HOOK, status=status)
    runner = make_runner(breaker_failures=3)
    broken(runner, request_for(), 3)
    answer = runner.start(request_for(attempt=4, answered=True, memory={"errors": 3}))
    assert isinstance(answer, Retry)
    assert "it gets a rest of 5 s" in answer.message
    assert answer.answered
    assert answer.memory == {"errors": 3, "unsent": 1}
    assert len(http.calls) == 3


@pytest.mark.parametrize("status", [400, 404, 408, 409, 425, 429])
def test_other_answers_give_no_rest(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, status: int
) -> None:
    http.post(HOOK, status=status)
    broken(make_runner(breaker_failures=1), request_for(), 3)
    assert len(http.calls) == 3


def test_what_was_put_off_is_no_attempt(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    http.post(HOOK, status=503)
    runner = make_runner(breaker_failures=1)
    runner.start(request_for())
    put_off = runner.start(request_for())
    assert isinstance(put_off, Retry)
    clock.seconds += 100
    runner.start(request_for(attempt=2, memory=put_off.memory))
    assert http.calls[1].request.headers["Zonda-Attempt"] == "1"


def test_polls_are_put_off(http: Any, make_runner: MakeRunner) -> None:
    http.get(TOKEN["url"], status=503)
    runner = make_runner(breaker_failures=1)
    runner.poll(TOKEN)
    answer = runner.poll(TOKEN)
    assert isinstance(answer, Running)
    assert answer.message == (
        "https://flows.example:443 failed 1 times in a row: it gets a rest of 5 s"
    )
    assert answer.poll_after == 6.0
    assert len(http.calls) == 1


def test_a_request_to_cancel_is_not_put_off(http: Any, make_runner: MakeRunner) -> None:
    http.get(TOKEN["url"], status=503)
    http.delete(TOKEN["url"], status=202)
    runner = make_runner(breaker_failures=1, max_in_flight=1)
    runner.poll(TOKEN)
    assert runner.cancel({**TOKEN, "cancel": TOKEN["url"]}, "") is Cancelled.ACCEPTED


def test_an_action_whose_time_is_over_has_its_last_attempt_in_spite_of_a_rest(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    runner = make_runner(breaker_failures=1, breaker_pause=60.0, connect_give_up=30)
    runner._caller._transport.send = gone  # type: ignore[method-assign]
    runner.start(request_for(key="another"))
    first = runner.start(request_for())
    assert isinstance(first, Retry)
    assert not first.answered
    assert "it gets a rest" in first.message
    clock.seconds += 30
    seen: list[Any] = []

    def there(*args: Any, seconds: float | None = None, **more: Any) -> Reply:
        seen.append(seconds)
        return Reply(200, {}, b"{}")

    runner._caller._transport.send = there  # type: ignore[method-assign]
    answer = runner.start(request_for(attempt=2, memory=first.memory))
    assert answer == Finished(Succeeded({}), request_for().key)
    assert seen == [30.0]  # all the time that a first attempt has


def test_the_last_attempt_that_fails_ends_the_action(
    make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    runner = make_runner(breaker_failures=1, breaker_pause=60.0, connect_give_up=30)
    runner._caller._transport.send = gone  # type: ignore[method-assign]
    runner.start(request_for(key="another"))
    first = runner.start(request_for())
    clock.seconds += 31
    answer = runner.start(request_for(attempt=2, memory=first.memory))  # type: ignore[union-attr]
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert "given up after 30 s without any answer" in answer.result.reason


def test_at_its_deadline_an_action_is_sent_in_spite_of_a_rest(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    http.post(HOOK, status=503)
    runner = make_runner(breaker_failures=1)
    runner.start(request_for())
    runner.start(request_for(deadline=NOW + 0.5, answered=True))
    assert len(http.calls) == 2


def test_full_is_told_as_progress(make_runner: MakeRunner, request_for: MakeRequest) -> None:
    runner, answers = make_runner(max_in_flight=1), []

    def busy(*args: Any, **more: Any) -> Reply:
        answers.append(runner.start(request_for(key="another")))
        return Reply(200, {}, b"{}")

    runner._caller._transport.send = busy  # type: ignore[method-assign]
    assert isinstance(runner.start(request_for()), Finished)
    [answer] = answers
    assert isinstance(answer, Retry)
    assert "has 1 requests of ours to answer (max_in_flight)" in answer.message
    assert (answer.queued, answer.memory) == (True, {})


def test_a_rest_is_kept_and_no_turn_in_a_queue(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    http.post(HOOK, status=503)
    runner = make_runner(breaker_failures=1)
    runner.start(request_for())
    answer = runner.start(request_for())
    assert isinstance(answer, Retry)
    assert (answer.queued, answer.memory["unsent"]) == (False, 1)


def test_who_still_waits_for_a_turn_at_the_deadline_has_failed(
    make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(max_in_flight=1)
    with runner._caller._gates.request_permit("https://flows.example:443"):
        answer = runner.start(request_for(deadline=NOW))
    assert isinstance(answer, Finished)
    assert "took longer than its timeout" in answer.result.reason  # type: ignore[union-attr]


def gone(*args: Any, **more: Any) -> Reply:
    raise TransportError("connection refused", may_have_arrived=False)
