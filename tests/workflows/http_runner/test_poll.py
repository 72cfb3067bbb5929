"""Polls and requests to cancel."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import requests
import responses

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.runners import Cancelled, Failed, Lost, Running, Succeeded
from zonda.workflows.client.backoff import compute_poll_interval
from zonda.workflows.http_runner.runner import ASKED_AGAIN, HttpRunner

URL = "https://flows.example/runs/7"
NOW = 1_790_000_000
TOKEN = {"url": URL, "key": "k", "at": NOW}

MakeRunner = Callable[..., HttpRunner]


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def poll(http: Any, runner: HttpRunner, status: int, body: Any = "", **more: Any) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    http.get(URL, body=text, status=status, content_type="application/json", **more)
    return runner.poll(TOKEN)


@pytest.mark.parametrize(
    ("status", "body", "wanted"),
    [
        pytest.param(200, {"state": "succeeded", "output": {"a": 1}}, Succeeded({"a": 1}), id="ok"),
        pytest.param(
            202, {"state": "succeeded", "resource_id": "r"}, Succeeded({}, "r"), id="202-ok"
        ),
        pytest.param(200, {"a": 1}, Succeeded({"a": 1}), id="naive"),
        pytest.param(204, "", Succeeded({}), id="204"),
        pytest.param(200, {"state": "failed", "reason": "no"}, Failed("no"), id="failed"),
        pytest.param(200, {"state": "cancelled", "reason": "bye"}, Failed("bye"), id="cancelled"),
        pytest.param(202, "", Running(0.55), id="202-running"),
        pytest.param(
            200,
            {"state": "running", "message": "2 of 3", "progress": 0.66, "retry_after": 4},
            Running(4, "2 of 3", 0.66),
            id="running-with-news",
        ),
        pytest.param(200, {"state": "running", "progress": 7}, Running(0.55), id="odd-progress"),
    ],
)
def test_answers(
    http: Any, make_runner: MakeRunner, status: int, body: Any, wanted: object
) -> None:
    assert poll(http, make_runner(), status, body) == wanted


@pytest.mark.parametrize("status", [404, 410])
def test_an_unknown_execution_is_lost(http: Any, make_runner: MakeRunner, status: int) -> None:
    assert isinstance(poll(http, make_runner(), status), Lost)


@pytest.mark.parametrize("status", [401, 403, 408, 425, 429, 500, 501, 502, 503, 504, 599])
def test_trouble_does_not_end_the_execution(
    http: Any, make_runner: MakeRunner, status: int
) -> None:
    answer = poll(http, make_runner(), status, {"reason": "later"})
    assert isinstance(answer, Running)
    assert f"HTTP {status}: later" in answer.message


@pytest.mark.parametrize("error", [requests.ConnectionError("x"), requests.ReadTimeout("x")])
def test_a_broken_network_does_not_end_the_execution(
    http: Any, make_runner: MakeRunner, error: Exception
) -> None:
    http.get(URL, body=error)
    assert isinstance(make_runner().poll(TOKEN), Running)


def test_an_unknown_state_is_running_with_a_warning(http: Any, make_runner: MakeRunner) -> None:
    answer = poll(http, make_runner(), 200, {"state": "pondering"})
    assert isinstance(answer, Running)
    assert "'pondering'" in answer.message


@pytest.mark.parametrize(
    ("status", "body", "part"),
    [
        pytest.param(200, "<html>", "not JSON", id="html"),
        pytest.param(200, "[1]", "a list", id="list"),
        pytest.param(400, {"reason": "what"}, "HTTP 400: what", id="400"),
        pytest.param(405, "", "HTTP 405", id="405"),
    ],
)
def test_wrong_answers_fail(
    http: Any, make_runner: MakeRunner, status: int, body: Any, part: str
) -> None:
    answer = poll(http, make_runner(), status, body)
    assert isinstance(answer, Failed)
    assert part in answer.reason


def test_see_other_leads_to_the_result(http: Any, make_runner: MakeRunner) -> None:
    http.get("https://flows.example/results/7", json={"a": 1})
    answer = poll(http, make_runner(), 303, headers={"Location": "/results/7"})
    assert answer == Succeeded({"a": 1})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_origin_fails(
    http: Any, make_runner: MakeRunner, status: int
) -> None:
    headers = {"Location": "http://169.254.169.254/latest"}
    answer = poll(http, make_runner(), status, headers=headers)
    reason = "https://flows.example/runs/7 redirects to another origin"
    assert answer == Failed(reason, by_runner=True)


def test_a_listed_origin_may_be_polled(http: Any, make_runner: MakeRunner) -> None:
    http.get("https://results.example/7", json={"a": 1})
    runner = make_runner(poll_origins=["https://results.example"])
    headers = {"Location": "https://results.example/7"}
    assert poll(http, runner, 303, headers=headers) == Succeeded({"a": 1})


def test_redirects_in_a_circle_fail(http: Any, make_runner: MakeRunner) -> None:
    answer = poll(http, make_runner(), 302, headers={"Location": URL})
    assert isinstance(answer, Failed)
    assert "too many redirects" in answer.reason


@pytest.mark.parametrize(
    ("age", "delay"),
    [
        pytest.param(0, 0.5, id="first"),
        pytest.param(0.5, 0.625, id="second"),
        pytest.param(10, 3.0, id="a quarter of its age"),
        pytest.param(3600, 15, id="longest"),
        pytest.param(-50, 0.5, id="clock-went-back"),
    ],
)
def test_polls_become_rarer(
    http: Any, make_runner: MakeRunner, clock: Any, age: float, delay: float
) -> None:
    clock.seconds = NOW + age
    answer = poll(http, make_runner(), 202)
    assert answer.poll_after == pytest.approx(delay * 1.1)
    assert answer.token is None


@pytest.mark.parametrize(
    ("spent", "delay"),
    [
        pytest.param(0.25, 2.125, id="counted from the begin"),
        pytest.param(5.0, 10.0, id="a third of the time"),
    ],
)
def test_the_time_of_a_poll_is_part_of_the_interval(spent: float, delay: float) -> None:
    chance = random.Random()
    chance.uniform = lambda low, high: 1.0  # type: ignore[method-assign]
    assert compute_poll_interval(7.5, chance, spent) == delay


@pytest.mark.parametrize("length", [1, 2, 5, 10, 30, 60, 300, 3600])
def test_few_polls_see_an_end_soon(length: float) -> None:
    chance = random.Random()
    chance.uniform = lambda low, high: 1.0  # type: ignore[method-assign]
    age, polls = compute_poll_interval(0.0, chance), 1
    while age < length:
        age, polls = age + compute_poll_interval(age, chance), polls + 1
    assert age - length <= min(15.0, 0.5 + length / 4)
    assert polls <= 9 + length / 5


@pytest.mark.parametrize(
    ("answer", "cancel"),
    [
        pytest.param({"cancel_url": "/stop/7"}, "https://flows.example/stop/7", id="cancel-url"),
        pytest.param({"cancellable": True}, URL, id="cancellable"),
        pytest.param({"cancellable": False}, None, id="not-cancellable"),
        pytest.param({"cancel_url": "https://evil.example/"}, None, id="other-origin"),
        pytest.param({}, None, id="nothing-said"),
    ],
)
def test_what_the_token_says_about_cancelling(
    http: Any,
    make_runner: MakeRunner,
    request_for: Callable[..., Any],
    answer: dict[str, Any],
    cancel: str | None,
) -> None:
    hook = "https://flows.example/hook"
    http.post(hook, json={"state": "running", "status_url": URL, **answer}, status=202)
    started = make_runner().start(request_for(hook))
    assert started.token.get("cancel") == cancel  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        pytest.param(200, Cancelled.ACCEPTED, id="200"),
        pytest.param(202, Cancelled.ACCEPTED, id="202"),
        pytest.param(204, Cancelled.ACCEPTED, id="204"),
        pytest.param(404, Cancelled.DONE, id="404"),
        pytest.param(410, Cancelled.DONE, id="410"),
        pytest.param(405, Cancelled.UNSUPPORTED, id="405"),
        pytest.param(500, Cancelled.UNSUPPORTED, id="500"),
    ],
)
def test_cancel(http: Any, make_runner: MakeRunner, status: int, outcome: Cancelled) -> None:
    http.delete(URL, status=status)
    assert make_runner().cancel({**TOKEN, "cancel": URL}, "why") is outcome


def test_cancel_without_an_offer_sends_nothing(make_runner: MakeRunner) -> None:
    assert make_runner().cancel(TOKEN, "why") is Cancelled.UNSUPPORTED


def test_cancel_when_the_network_is_broken(http: Any, make_runner: MakeRunner) -> None:
    http.delete(URL, body=requests.ConnectionError("x"))
    assert make_runner().cancel({**TOKEN, "cancel": URL}, "why") is Cancelled.UNSUPPORTED


def test_polls_are_signed_and_carry_credentials(http: Any, make_runner: MakeRunner) -> None:
    runner = make_runner(endpoint="https://flows.example", token="t", signing_keys=["k"])
    poll(http, runner, 202)
    sent = http.calls[0].request
    assert sent.headers["Authorization"] == "Bearer t"
    assert sent.headers["webhook-signature"].startswith("v1,")


def test_an_endpoint_may_move_while_an_execution_runs(
    http: Any, make_runner: MakeRunner, request_for: Callable[..., Any]
) -> None:
    answer = {"state": "running", "status_url": "/runs/7?x=1", "cancellable": True}
    http.post("http://127.0.0.1:1000/workflows/mk", json=answer, status=202)
    started = make_runner(endpoint="http://127.0.0.1:1000").start(request_for("mk"))
    assert (started.token["url"], started.token["cancel"]) == ("/runs/7?x=1", "/runs/7?x=1")  # type: ignore[union-attr]

    moved = make_runner(endpoint="http://127.0.0.1:2000")
    http.get("http://127.0.0.1:2000/runs/7?x=1", json={"a": 1})
    http.delete("http://127.0.0.1:2000/runs/7?x=1", status=202)
    assert moved.poll(started.token) == Succeeded({"a": 1})  # type: ignore[union-attr]
    assert moved.cancel(started.token, "why") is Cancelled.ACCEPTED  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("status", "body", "fails"),
    [
        pytest.param(200, {"workflow": "mk"}, False, id="known"),
        pytest.param(404, {"unknown_workflow": "mk", "reason": "none"}, True, id="denied"),
        pytest.param(404, {"reason": "no route"}, False, id="some-404"),
        pytest.param(404, "<html>", False, id="html"),
        pytest.param(405, "", False, id="never-heard-of-the-question"),
        pytest.param(503, "", False, id="busy"),
    ],
)
def test_whether_a_workflow_is_known(
    http: Any, make_runner: MakeRunner, status: int, body: Any, fails: bool
) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    http.get("https://e.example/workflows/mk", body=text, status=status)
    runner = make_runner(endpoint="https://e.example")
    if fails:
        with pytest.raises(ResourceFailure, match="HTTP 404: none"):
            runner.check("mk")
    else:
        runner.check("mk")
        runner.check("mk")
    assert len(http.calls) == 1


def test_an_endpoint_that_cannot_be_reached_may_know_the_workflow(
    http: Any, make_runner: MakeRunner
) -> None:
    http.get("https://e.example/workflows/mk", body=requests.ConnectionError("x"))
    runner = make_runner(endpoint="https://e.example")
    runner.check("mk")
    runner.check("mk")
    assert len(http.calls) == 1


def test_an_endpoint_that_had_no_word_for_a_workflow_is_asked_again_later(
    http: Any, make_runner: MakeRunner, clock: Any
) -> None:
    http.get("https://e.example/workflows/mk", status=405)
    runner = make_runner(endpoint="https://e.example")
    runner.check("mk")
    clock.seconds += ASKED_AGAIN
    runner.check("mk")
    assert len(http.calls) == 2


def test_a_url_is_not_asked_about(make_runner: MakeRunner) -> None:
    make_runner().check(URL)


@pytest.mark.parametrize(
    "given",
    [
        "https://flows.example//evil.example/x",
        "//flows.example//evil.example/x",
    ],
)
def test_a_path_that_looks_like_a_host_stays_a_path(
    http: Any, make_runner: MakeRunner, request_for: Any, given: str
) -> None:
    http.post("https://flows.example/workflows/f", status=202, json={"status_url": given})
    http.get("https://flows.example//evil.example/x", status=202)
    runner = make_runner(endpoint="https://flows.example")
    started = runner.start(request_for("f"))
    assert isinstance(runner.poll(started.token), Running)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "given",
    [
        "https://evil.example\\@flows.example/x",
        "https://flows.example\\@evil.example/x",
        "https://flows.example@evil.example/x",
        "https://[flows.example/x",
        "https://flows.example:99999/x",
        "\thttps://evil.example/x",
        "\\\\evil.example/x",
    ],
)
@pytest.mark.parametrize("name", ["status_url", "cancel_url"])
def test_urls_that_lead_elsewhere_in_some_way(
    http: Any, make_runner: MakeRunner, request_for: Any, name: str, given: str
) -> None:
    body = {"status_url": "/runs/7", name: given}
    http.post("https://flows.example/workflows/f", status=202, json=body)
    runner = make_runner(endpoint="https://flows.example", token="t0ken")
    answer = runner.start(request_for("f"))
    if name == "cancel_url":
        assert "cancel" not in answer.token  # type: ignore[union-attr]
    else:
        assert "of another origin" in answer.result.reason  # type: ignore[union-attr]
