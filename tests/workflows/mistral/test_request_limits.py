"""Limits of requests to a Mistral and its Keystone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from zonda.hooks.errors import NotFound, NotReady
from zonda.hooks.http import Reply, TransportError
from zonda.hooks.runners import Cancelled, Failed, Finished, Retry, Running, Started
from zonda.workflows.mistral.resource_base import RequestDeferred, Unanswered
from zonda.workflows.mistral.runner import MistralRunner

ENDPOINT = "http://flows.example:8989/v2"
NOW = 1_790_000_000.0
KEY = "6f0cb1aa-0000-5000-8000-000000000001"
TOKEN = {"id": KEY, "at": int(NOW)}
PASSWORD: dict[str, Any] = {
    "auth_url": "http://keys.example:5000",
    "username": "u",
    "password": "pa55word",
    "project_name": "p",
}
RUNNING = (
    b'{"id": "%s", "workflow_name": "make", "state": "RUNNING", "input": "{\\"size\\": 1}"}'
    % KEY.encode()
)
GONE = b'{"faultstring": "DBEntityNotFoundError: 404: not found"}'
LOGGED_IN = Reply(201, {"X-Subject-Token": "tok3n"}, b"{}")
EXECUTION = Reply(200, {}, RUNNING)


class Wire:
    """Stands in for what sends: at Mistral and at Keystone. Counts what is sent where."""

    def __init__(self) -> None:
        self.mistral: Callable[[], Reply] = lambda: EXECUTION
        self.keystone: Callable[[], Reply] = lambda: LOGGED_IN
        self.sent = {"mistral": 0, "keystone": 0}
        self.seconds: list[float | None] = []
        self.fresh: list[bool] = []

    def send(
        self,
        method: str,
        url: str,
        headers: Any,
        body: Any,
        seconds: float | None,
        auth: Any,
        fresh: bool,
    ) -> Reply:
        if auth is not None:
            auth(requests.Request(method, url).prepare())
        self.seconds.append(seconds)
        self.fresh.append(fresh)
        name = "mistral" if url.startswith(ENDPOINT) else "keystone"
        self.sent[name] += 1
        answer: Callable[[], Reply] = getattr(self, name)
        return answer()


def away() -> Reply:
    raise TransportError("no whole answer")


def busy() -> Reply:
    return Reply(503, {}, b"{}")


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    made = Wire()
    monkeypatch.setattr("zonda.hooks.http.Transport._send", lambda _, *how: made.send(*how))
    return made


@pytest.fixture
def make(clock: Any, most_random: Any, wire: Wire) -> Iterator[Callable[..., MistralRunner]]:
    made: list[MistralRunner] = []

    def runner(**settings: Any) -> MistralRunner:
        given = {"clock": clock, "random": most_random, "endpoint": ENDPOINT, **settings}
        made.append(MistralRunner(given))
        return made[-1]

    yield runner
    for one in made:
        one.close()


@pytest.fixture
def ask(request_for: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **fields: request_for(**{"workflow": "make", **fields})


# -- Keystone -----------------------------------------------------------------------------------


class Silent:
    """One who is asked and does not answer before he is let go."""

    def __init__(self, answer: Callable[[], Reply]) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self._answer = answer

    def __call__(self) -> Reply:
        self.begun.set()
        assert self.go_on.wait(10)
        return self._answer()


def test_one_logs_in_and_the_others_come_back(make: Any, ask: Any, wire: Wire) -> None:
    """A Keystone that is silent has one thread, and not one after the other."""
    wire.keystone = silent = Silent(lambda: LOGGED_IN)
    runner, answers = make(**PASSWORD), []
    thread = threading.Thread(target=lambda: answers.append(runner.start(ask())))
    thread.start()
    assert silent.begun.wait(10)
    poll, start = runner.poll(TOKEN), runner.start(ask(key="another"))
    silent.go_on.set()
    thread.join()
    assert isinstance(poll, Running)
    assert isinstance(start, Retry)
    assert poll.message == start.message == "a token of Keystone is being fetched"
    assert start.queued
    assert isinstance(answers[0], Started)
    assert isinstance(runner.poll(TOKEN), Running)
    assert wire.sent == {"mistral": 2, "keystone": 1}


def test_a_keystone_that_fails_gets_a_rest(make: Any, wire: Wire, clock: Any) -> None:
    wire.keystone = away
    runner = make(**PASSWORD)
    messages = [runner.poll(TOKEN).message for _ in range(5)]
    assert wire.sent == {"mistral": 0, "keystone": 1}
    assert messages[0].endswith(
        "Keystone at http://keys.example:5000/v3/auth/tokens: no whole answer"
    )
    assert messages[1] == (
        "http://keys.example:5000 failed 1 times in a row: it gets a rest of 5 s"
    )
    wire.keystone = lambda: LOGGED_IN
    clock.seconds += 5
    assert runner.poll(TOKEN).message == ""


def test_a_keystone_that_is_away_gives_mistral_no_rest(make: Any, wire: Wire, clock: Any) -> None:
    wire.keystone = away
    runner = make(**PASSWORD, breaker_failures=1)
    runner.poll(TOKEN)
    wire.keystone = lambda: LOGGED_IN
    clock.seconds += 5
    assert runner.poll(TOKEN).message == ""


def test_one_whose_time_is_over_takes_what_another_was_told_of_keystone(
    make: Any, ask: Any, wire: Wire, clock: Any
) -> None:
    wire.keystone = away
    runner = make(**PASSWORD, connect_give_up=30, breaker_pause=60)
    runner.poll(TOKEN)
    first = runner.start(ask())
    assert isinstance(first, Retry)
    assert not first.answered
    clock.seconds += 30
    answer = runner.start(ask(memory=first.memory))
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert "given up after 30 s without any answer" in answer.result.reason
    assert wire.sent["keystone"] == 1


def test_a_wrong_password_is_told_to_everybody(make: Any, ask: Any, wire: Wire) -> None:
    wire.keystone = lambda: Reply(401, {}, b"{}")
    runner = make(**PASSWORD)
    for _ in range(3):
        assert "Keystone does not accept" in runner.start(ask()).result.reason


def test_a_login_takes_no_longer_than_what_it_is_for(make: Any, ask: Any, wire: Wire) -> None:
    runner = make(**PASSWORD)
    runner.check("make")
    assert wire.seconds == [5.0, 5.0]
    make(**PASSWORD).poll(TOKEN)
    assert wire.seconds[2:] == [30.0, None]


def test_former_tokens_are_told_to_nobody(make: Any, wire: Wire) -> None:
    runner = make(**PASSWORD)
    runner.poll(TOKEN)
    wire.keystone = lambda: Reply(201, {"X-Subject-Token": "newer"}, b"{}")
    wire.mistral = lambda: Reply(401, {}, b'{"faultstring": "neither tok3n nor newer"}')
    assert runner.poll(TOKEN).message.endswith("neither (hidden) nor (hidden)")


# -- Mistral ------------------------------------------------------------------------------------


def test_what_must_not_be_repeated_has_a_connection_of_its_own(make: Any, wire: Wire) -> None:
    mistral = make().mistral
    mistral.ask("POST", "executions", content={}, fresh=True)
    mistral.ask("GET", "executions")
    assert wire.fresh == [True, False]


@pytest.mark.parametrize("answer", [away, busy])
def test_a_mistral_that_fails_gets_a_rest(
    make: Any, ask: Any, wire: Wire, answer: Callable[[], Reply]
) -> None:
    wire.mistral = answer
    runner = make(breaker_failures=2)
    runner.poll(TOKEN)
    runner.start(ask())
    told = runner.poll(TOKEN), runner.start(ask())
    assert wire.sent["mistral"] == 2
    rest = "http://flows.example:8989 failed 2 times in a row: it gets a rest of 5 s"
    assert {one.message for one in told} == {rest}
    assert (told[0].poll_after, told[1].delay) == (6.0, 6.0)


def test_what_is_not_there_is_an_answer(make: Any, wire: Wire) -> None:
    """Mistral tells it by 500 as well."""
    wire.mistral = lambda: Reply(500, {}, GONE)
    runner = make(breaker_failures=1)
    first = runner.poll(TOKEN)
    assert runner.poll(TOKEN) == first
    assert wire.sent["mistral"] == 2


def test_so_many_and_no_more_at_a_time(make: Any, ask: Any, wire: Wire) -> None:
    runner, told = make(max_in_flight=1), []

    def under_way() -> Reply:
        wire.mistral = lambda: EXECUTION
        told.extend([runner.poll(TOKEN), runner.start(ask(key="another"))])
        return EXECUTION

    wire.mistral = under_way
    assert isinstance(runner.start(ask()), Started)
    assert [type(one) for one in told] == [Running, Retry]
    assert all("has 1 requests of ours to answer" in one.message for one in told)


def test_an_action_whose_time_is_over_is_sent_in_spite_of_a_rest(
    make: Any, ask: Any, wire: Wire
) -> None:
    wire.mistral = away
    runner = make(breaker_failures=1)
    runner.poll(TOKEN)
    wire.mistral = lambda: EXECUTION
    assert isinstance(runner.start(ask(deadline=NOW + 0.5)), Started)


def test_a_request_to_cancel_is_not_put_off(make: Any, wire: Wire) -> None:
    wire.mistral = away
    runner = make(breaker_failures=1)
    runner.poll(TOKEN)
    wire.mistral = lambda: EXECUTION
    assert runner.cancel(TOKEN, "") is Cancelled.DONE


def test_what_need_not_be_known_is_not_asked_during_a_rest(make: Any, wire: Wire) -> None:
    wire.mistral = away
    runner = make(breaker_failures=1, forget=True)
    runner.poll(TOKEN)
    runner.check("make")
    runner.forget(TOKEN)
    assert wire.sent["mistral"] == 1


# -- resource types -----------------------------------------------------------------------------


def test_types_are_put_off_too(make: Any, wire: Wire) -> None:
    wire.mistral = away
    api = make(breaker_failures=1).mistral
    with pytest.raises(Unanswered):
        api.ask("GET", "workflows", "make")
    with pytest.raises(RequestDeferred, match="it gets a rest of 5 s") as caught:
        api.ask("GET", "workflows", "make")
    assert isinstance(caught.value, NotReady)
    assert caught.value.delay == 6.0
    with pytest.raises(Unanswered, match="a moment ago"):
        api.ask("GET", "workflows", "make", question=True)
    wire.mistral = lambda: Reply(404, {}, GONE)
    with pytest.raises(NotFound):
        api.ask("GET", "workflows", "make", last=True)
