"""Answers to a start request, and the runner's decision for each."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
import requests
import responses

from zonda.hooks.errors import ResourceFailure
from zonda.hooks.http import TransportError
from zonda.hooks.runners import Failed, Finished, Retry, Started, StartRequest, Succeeded
from zonda.hooks.runners.waking import Waker, keep_waker
from zonda.workflows.client import webhook_signature
from zonda.workflows.client.circuit_breaker import RetryLater
from zonda.workflows.http_runner.runner import HttpRunner

HOOK = "https://flows.example/hook"
KEY = "6f0cb1aa-0000-5000-8000-000000000001"
NOW = 1_790_000_000.0
LONG_SECRET = "refused: " + 1000 * "SECRET"

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock() as mock:
        yield mock


def text_of(content: Any) -> str | bytes:
    return content if isinstance(content, (str, bytes)) else json.dumps(content)


def start(
    http: responses.RequestsMock,
    runner: HttpRunner,
    request: StartRequest,
    status: int,
    body: Any = "",
    headers: dict[str, str] | None = None,
    content_type: str = "application/json",
) -> Any:
    http.post(HOOK, body=text_of(body), status=status, headers=headers, content_type=content_type)
    return runner.start(request)


@pytest.mark.parametrize(
    ("status", "body", "output", "resource_id"),
    [
        pytest.param(200, {"a": 1}, {"a": 1}, None, id="naive-body-is-the-output"),
        pytest.param(201, {"a": 1}, {"a": 1}, None, id="201"),
        pytest.param(204, "", {}, None, id="204-no-output"),
        pytest.param(200, "", {}, None, id="empty-body"),
        pytest.param(200, {"resource_id": 42}, {"resource_id": 42}, "42", id="id-in-output"),
        pytest.param(200, {"state": "succeeded"}, {}, None, id="state-without-output"),
        pytest.param(
            200, {"state": "succeeded", "output": {"b": 2}}, {"b": 2}, None, id="state-and-output"
        ),
        pytest.param(
            200, {"state": "succeeded", "output": [1]}, {"result": [1]}, None, id="output-no-map"
        ),
        pytest.param(
            200, {"state": "succeeded", "resource_id": "x"}, {}, "x", id="id-beside-output"
        ),
        pytest.param(202, {"state": "succeeded", "output": {}}, {}, None, id="202-but-done"),
        pytest.param(
            409, {"state": "succeeded", "output": {"c": 3}}, {"c": 3}, None, id="409-with-outcome"
        ),
    ],
)
def test_success(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    status: int,
    body: Any,
    output: dict[str, Any],
    resource_id: str | None,
) -> None:
    answer = start(http, make_runner(), request_for(), status, body)
    assert answer == Finished(Succeeded(output, resource_id), KEY)


@pytest.mark.parametrize(
    ("body", "reason", "output", "resource_id", "retryable"),
    [
        pytest.param({"state": "failed", "reason": "no"}, "no", None, None, False, id="reason"),
        pytest.param(
            {"state": "failed", "reason": "no", "output": {"resource_id": "d1"}},
            "no",
            {"resource_id": "d1"},
            "d1",
            False,
            id="failed-but-owns-something",
        ),
        pytest.param(
            {"state": "failed", "retryable": True},
            "The workflow failed and gave no reason.",
            None,
            None,
            True,
            id="no-reason",
        ),
        pytest.param(
            {"state": "cancelled"},
            "The workflow was cancelled and gave no reason.",
            None,
            None,
            False,
            id="cancelled",
        ),
    ],
)
def test_a_failed_workflow(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    body: Any,
    reason: str,
    output: Any,
    resource_id: str | None,
    retryable: bool,
) -> None:
    answer = start(http, make_runner(), request_for(), 200, body)
    assert answer == Finished(Failed(reason, output, resource_id, retryable), KEY)


@pytest.mark.parametrize(
    ("status", "body", "headers", "url", "delay"),
    [
        pytest.param(202, "", {"Location": "/runs/7"}, "/runs/7", 0.5, id="location"),
        pytest.param(
            202, {"status_url": "runs/7"}, {"Location": "/other"}, "/runs/7", 0.5, id="status-url"
        ),
        pytest.param(
            202,
            {"state": "running", "retry_after": 5},
            {"Location": "/r", "Retry-After": "9"},
            "/r",
            5,
            id="retry-after-in-the-body-wins",
        ),
        pytest.param(202, "", {"Location": "/r", "Retry-After": "9"}, "/r", 9, id="header"),
        pytest.param(
            200, {"state": "running", "status_url": "/r"}, {}, "/r", 0.5, id="200-running"
        ),
        pytest.param(200, {"state": "odd", "status_url": "/r"}, {}, "/r", 0.5, id="unknown-state"),
        pytest.param(409, {"status_url": "/r"}, {}, "/r", 0.5, id="409-already-started"),
        pytest.param(
            202, "", {"Location": "https://flows.example:443/r"}, ":443/r", 0.5, id="same-origin"
        ),
    ],
)
def test_started(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    status: int,
    body: Any,
    headers: dict[str, str],
    url: str,
    delay: float,
) -> None:
    answer = start(http, make_runner(), request_for(), status, body, headers)
    token = {"url": f"https://flows.example{url}", "key": KEY, "at": int(NOW)}
    assert answer == Started(token, delay, KEY)


@pytest.mark.parametrize(
    ("status", "body", "content_type", "part"),
    [
        pytest.param(400, {"reason": "bad size"}, "", "HTTP 400: bad size", id="reason"),
        pytest.param(401, {"detail": "who"}, "", "HTTP 401: who", id="detail"),
        pytest.param(403, {"title": "no"}, "", "HTTP 403: no", id="title"),
        pytest.param(404, {"message": "none"}, "", "HTTP 404: none", id="message"),
        pytest.param(405, {"error": "no POST"}, "", "HTTP 405: no POST", id="error"),
        pytest.param(409, {"reason": "other body"}, "", "HTTP 409: other body", id="key-reused"),
        pytest.param(413, "too big", "text/plain", "HTTP 413: too big", id="plain-text"),
        pytest.param(415, "", "", "HTTP 415", id="empty"),
        pytest.param(422, {"error": {"message": "deep"}}, "", "HTTP 422: deep", id="nested-error"),
        pytest.param(404, "<html>x</html>", "text/html", "HTTP 404 (text/html)", id="html"),
        pytest.param(
            200, "<html>x</html>", "text/html", "not JSON (text/html)", id="html-with-200"
        ),
        pytest.param(200, "[1]", "application/json", "a list, where a JSON object", id="list"),
        pytest.param(200, "nope", "text/plain", "not JSON (text/plain)", id="text"),
        pytest.param(200, '{"a": NaN}', "application/json", "not JSON", id="nan"),
        pytest.param(200, '{"a": 1e999}', "application/json", "not JSON", id="infinity"),
        pytest.param(200, {"state": 1}, "", "the state in the answer is not a text", id="state"),
        pytest.param(200, {"state": "on"}, "", "the state 'on'", id="unknown-state-no-url"),
        pytest.param(206, "{}", "", "HTTP 206", id="partial"),
        pytest.param(
            202, {"status_url": "https://evil.example/"}, "", "another origin", id="origin"
        ),
        pytest.param(
            202, {"status_url": "http://flows.example/"}, "", "another origin", id="scheme"
        ),
        pytest.param(
            202,
            {"status_url": "https://flows.example:444/"},
            "",
            "another origin",
            id="port",
        ),
        pytest.param(202, {"status_url": "/" + "x" * 900}, "", "longer than", id="long-url"),
    ],
)
def test_permanent_failures(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    status: int,
    body: Any,
    content_type: str,
    part: str,
) -> None:
    kind = content_type or "application/json"
    answer = start(http, make_runner(), request_for(), status, body, content_type=kind)
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert part in answer.result.reason


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, status: int
) -> None:
    headers = {"Location": "https://flows.example/else"}
    answer = start(http, make_runner(), request_for(), status, headers=headers)
    assert "redirect of a POST is not followed" in answer.result.reason
    assert len(http.calls) == 1


def test_half_of_a_surrogate_pair_in_a_reason_is_replaced(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    answer = start(http, make_runner(), request_for(), 400, {"reason": "x\ud800y"})
    assert answer.result.reason.endswith(": x?y")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(400, {"reason": LONG_SECRET}, id="refusal"),
        pytest.param(400, LONG_SECRET, id="text"),
        pytest.param(200, {"state": "failed", "reason": LONG_SECRET}, id="failure"),
        pytest.param(503, {"reason": LONG_SECRET}, id="again"),
    ],
)
def test_a_reason_is_not_cut_before_secrets_are_taken_out(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, status: int, body: Any
) -> None:
    answer = start(http, make_runner(), request_for(), status, body)
    said = answer.message if isinstance(answer, Retry) else answer.result.reason
    assert LONG_SECRET in said


@pytest.mark.parametrize(
    ("action", "status", "body", "gone"),
    [
        pytest.param("DELETE", 410, "", True, id="410"),
        pytest.param("DELETE", 404, {"contract": 1}, True, id="404-that-speaks-the-contract"),
        pytest.param("DELETE", 404, {}, False, id="404-of-a-mistyped-url"),
        pytest.param("DELETE", 404, "<html>", False, id="404-html"),
        pytest.param("CREATE", 410, "", False, id="410-of-a-create"),
        pytest.param("CREATE", 404, {"contract": 1}, False, id="404-of-a-create"),
    ],
)
def test_what_counts_as_deleted(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    action: str,
    status: int,
    body: Any,
    gone: bool,
) -> None:
    answer = start(http, make_runner(), request_for(action=action), status, body)
    assert isinstance(answer.result, Succeeded if gone else Failed)


@pytest.mark.parametrize("status", [408, 425, 429, 502, 503, 504])
@pytest.mark.parametrize(
    ("failures", "delay"),
    [pytest.param(n, d, id=f"after-{n}") for n, d in ((0, 1), (1, 2), (2, 4), (5, 30), (99, 30))],
)
def test_busy_answers_are_retried_until_the_deadline(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    status: int,
    failures: int,
    delay: float,
) -> None:
    request = request_for(memory={"failures": failures}, attempt=failures + 1)
    answer = start(http, make_runner(), request, status)
    assert isinstance(answer, Retry)
    assert (answer.delay, answer.answered) == (delay, True)
    assert answer.memory["failures"] == failures + 1


@pytest.mark.parametrize(
    ("header", "delay"),
    [
        pytest.param("7", 7, id="seconds"),
        pytest.param("0", 0.1, id="zero"),
        pytest.param("99999", 300, id="capped-at-5-minutes"),
        pytest.param("Mon, 21 Sep 2026 14:13:50 GMT", 30, id="date"),
        pytest.param("Mon, 21 Sep 2020 14:13:50 GMT", 0.1, id="date-in-the-past"),
        pytest.param("soon", 1, id="nonsense-is-ignored"),
        pytest.param("-5", 1, id="negative-is-ignored"),
    ],
)
def test_retry_after_wins(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, header: str, delay: float
) -> None:
    answer = start(http, make_runner(), request_for(), 503, headers={"Retry-After": header})
    assert answer.delay == pytest.approx(delay, abs=0.01)


@pytest.mark.parametrize(
    ("date", "delay"),
    [
        pytest.param("Mon, 21 Sep 2026 13:13:50 GMT", 30, id="an hour behind"),
        pytest.param("Mon, 21 Sep 2026 13:14:50 GMT", 0.1, id="over there"),
        pytest.param("today", 0.1, id="no date: our clock"),
    ],
)
def test_a_date_is_counted_from_the_clock_of_the_sender(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, date: str, delay: float
) -> None:
    headers = {"Retry-After": "Mon, 21 Sep 2026 13:14:20 GMT", "Date": date}
    answer = start(http, make_runner(), request_for(), 503, headers=headers)
    assert answer.delay == pytest.approx(delay, abs=0.01)


@pytest.mark.parametrize("status", [500, 501, 505, 599])
def test_errors_of_the_endpoint_are_retried_three_times(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, status: int
) -> None:
    runner, memory = make_runner(), {}
    for number in (1, 2, 3):
        answer = start(http, runner, request_for(memory=memory), status, {"reason": "boom"})
        assert isinstance(answer, Retry)
        memory = dict(answer.memory)
        assert memory["errors"] == number
    last = start(http, runner, request_for(memory=memory), status, {"reason": "boom"})
    assert last.result.reason == f"{HOOK}: HTTP {status}: boom"


def test_busy_answers_do_not_use_up_the_retries_of_errors(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner, memory = make_runner(), {"errors": 2, "failures": 50}
    answer = start(http, runner, request_for(memory=memory, attempt=53), 500)
    assert isinstance(answer, Retry)


def test_nothing_is_retried_after_the_deadline(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    answer = start(http, make_runner(), request_for(deadline=NOW), 503)
    assert answer.result.reason == (
        f"CREATE took longer than its timeout: {HOOK}: HTTP 503 (application/json)"
    )


def test_the_last_retry_comes_at_the_deadline_at_the_latest(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    headers = {"Retry-After": "200"}
    answer = start(http, make_runner(), request_for(deadline=NOW + 50), 503, headers=headers)
    assert answer.delay == 50


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(requests.ConnectionError("refused"), id="refused"),
        pytest.param(requests.ConnectTimeout("slow"), id="connect-timeout"),
        pytest.param(requests.ReadTimeout("slow"), id="read-timeout"),
        pytest.param(requests.exceptions.ChunkedEncodingError("torn"), id="torn"),
    ],
)
def test_an_endpoint_that_never_answered_is_given_up(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    clock: Any,
    error: Exception,
) -> None:
    http.post(HOOK, body=error)
    runner = make_runner(connect_give_up=120)
    first = runner.start(request_for())
    assert isinstance(first, Retry)
    assert not first.answered
    assert "(given up in 120 s)" in first.message

    clock.seconds += 100
    second = runner.start(request_for(memory=first.memory, attempt=2))
    assert "(given up in 20 s)" in second.message

    clock.seconds += 20
    last = runner.start(request_for(memory=second.memory, attempt=3))
    assert "given up after 120 s without any answer" in last.result.reason


def test_an_endpoint_that_answered_once_is_tried_until_the_deadline(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    http.post(HOOK, body=requests.ConnectionError("refused"))
    clock.seconds += 3000
    answer = make_runner().start(request_for(answered=True, memory={"since": NOW}))
    assert isinstance(answer, Retry)


def test_a_202_without_a_place_to_poll_is_asked_again_with_the_same_request(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    runner = make_runner()
    first = start(http, runner, request_for(), 202, {"message": "1 of 2"})
    assert first == Retry(0.55, "1 of 2", True, {"accepted": NOW}, accepted=True)
    clock.seconds += 4
    second = start(http, runner, request_for(memory=first.memory, attempt=2), 202)
    assert second.delay == pytest.approx((0.5 + 4 / 4) * 1.1)
    for _ in range(9):
        assert start(http, runner, request_for(memory=first.memory), 500).accepted


def test_the_request(http: Any, make_runner: MakeRunner, request_for: MakeRequest) -> None:
    request = request_for(
        action="UPDATE",
        inputs={"b": 1, "a": "é"},
        old_inputs={"a": 0},
        data={"ip": "1"},
        params={"env": {"heat_extresource_data": {"ip": "1"}}},
        description="Heat managed",
        attempt=3,
    )
    start(http, make_runner(), request, 204)
    sent = http.calls[0].request
    assert json.loads(sent.body) == {
        "contract": 1,
        "action": "UPDATE",
        "request_id": KEY,
        "deadline": "2026-09-21T15:13:20Z",
        "stack": {"id": "s-1", "name": "prod", "project": "demo"},
        "resource": {
            "id": "r-1",
            "name": "disk",
            "type": "OS::Mistral::ExternalResource",
            "physical_id": None,
        },
        "inputs": {"b": 1, "a": "é"},
        "old_inputs": {"a": 0},
        "params": {"env": {"heat_extresource_data": {"ip": "1"}}},
        "description": "Heat managed",
        "data": {"ip": "1"},
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Idempotency-Key": KEY,
        "Prefer": "respond-async, wait=30",
        "Zonda-Contract": "1",
        "Zonda-Attempt": "3",
    }
    assert {name: sent.headers[name] for name in headers} == headers
    assert "webhook-signature" not in sent.headers


def test_the_body_is_the_same_on_every_send(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, clock: Any
) -> None:
    runner = make_runner()
    start(http, runner, request_for(inputs={"b": {"y": 1, "x": 2}, "a": 1}), 503)
    clock.seconds += 77
    shuffled = {"a": 1, "b": {"x": 2, "y": 1}}
    start(http, runner, request_for(inputs=shuffled, attempt=2, answered=True), 503)
    first, second = (call.request.body for call in http.calls)
    assert first == second


def test_a_create_has_no_data_and_no_old_inputs(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    start(http, make_runner(), request_for(), 204)
    assert not {"data", "old_inputs"} & json.loads(http.calls[0].request.body).keys()


def test_a_delete_names_the_create_it_may_have_to_clean_up(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    start(http, make_runner(), request_for(action="DELETE", create_key="k-0"), 204)
    assert json.loads(http.calls[0].request.body)["create_request_id"] == "k-0"


def test_input_that_json_cannot_write_fails_before_anything_is_sent(
    make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    answer = make_runner().start(request_for(inputs={"x": float("nan")}))
    assert isinstance(answer, Finished)
    assert "JSON has no word for" in answer.result.reason  # type: ignore[union-attr]


def test_keys_that_are_numbers_are_sent_as_texts(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    start(http, make_runner(), request_for(inputs={1: "a", "b": 2}), 204)
    assert json.loads(http.calls[0].request.body)["inputs"] == {"1": "a", "b": 2}


@pytest.mark.parametrize(
    ("workflow", "url"),
    [
        pytest.param("mk", "https://e.example/base/workflows/mk", id="name"),
        pytest.param("a/b c", "https://e.example/base/workflows/a%2Fb%20c", id="quoted"),
        pytest.param("https://flows.example/hook", HOOK, id="url"),
    ],
)
def test_where_a_workflow_is(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, workflow: str, url: str
) -> None:
    http.post(url, status=204)
    make_runner(endpoint="https://e.example/base/").start(request_for(workflow))
    assert http.calls[0].request.url == url


def test_a_name_without_endpoint_fails_with_a_hint(
    make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner()
    answer = runner.start(request_for("mk"))
    assert isinstance(answer, Finished)
    assert "Set endpoint" in answer.result.reason  # type: ignore[union-attr]
    with pytest.raises(ResourceFailure):
        runner.check("mk")


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        pytest.param({"token": "t0ken"}, ("Authorization", "Bearer t0ken"), id="bearer"),
        pytest.param(
            {"username": "u", "password": "p"}, ("Authorization", "Basic dTpw"), id="basic"
        ),
        pytest.param({"headers": {"X-Key": "abc"}}, ("X-Key", "abc"), id="static"),
    ],
)
def test_credentials_go_to_the_endpoint_only(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    settings: dict[str, Any],
    header: tuple[str, str],
) -> None:
    name, value = header
    http.post("https://e.example/workflows/mk", status=204)
    http.post(HOOK, status=204)
    runner = make_runner(endpoint="https://e.example", **settings)
    runner.start(request_for("mk"))
    runner.start(request_for(HOOK))
    assert http.calls[0].request.headers[name] == value
    assert name not in http.calls[1].request.headers


def test_credentials_are_never_shown(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(
        endpoint="https://flows.example",
        token="s3cret-token",
        headers={"X-Key": "s3cret-header"},
        signing_keys=["s3cret-signing"],
    )
    echo = {"reason": "got s3cret-token, s3cret-header and s3cret-signing"}
    url = "https://flows.example/hook?code=s3cret"
    http.post(url, json=echo, status=400)
    answer = runner.start(request_for(url))
    shown = f"{answer!r} {runner!r} {vars(runner)!r}"
    assert "s3cret" not in shown
    assert "got (hidden), (hidden) and (hidden)" in shown


def test_requests_are_signed_with_every_key(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(endpoint="https://flows.example", signing_keys=["old", "whsec_bmV3"])
    start(http, runner, request_for(), 204)
    sent = http.calls[0].request
    assert sent.headers["webhook-id"] == KEY
    assert sent.headers["webhook-timestamp"] == str(int(NOW))
    assert len(sent.headers["webhook-signature"].split()) == 2
    for key in (b"old", b"new"):
        assert webhook_signature.verify([key], sent.headers, NOW, sent.body) is None
    assert webhook_signature.verify([b"other"], sent.headers, NOW, sent.body) is not None


@pytest.mark.parametrize(
    ("settings", "wait"),
    [
        pytest.param({}, "30", id="as set"),
        pytest.param({"answer_timeout": 3}, "2", id="less than the answer is waited for"),
        pytest.param({"answer_timeout": 0.5}, "0", id="at once"),
    ],
)
def test_no_endpoint_is_asked_to_answer_later_than_is_waited_for(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    settings: dict[str, Any],
    wait: str,
) -> None:
    start(http, make_runner(**settings), request_for(), 200, {})
    assert http.calls[0].request.headers["Prefer"] == f"respond-async, wait={wait}"


@pytest.mark.parametrize(
    ("places", "taken", "load", "wait"),
    [
        pytest.param(16, 1, 0.1, "30", id="places are many"),
        pytest.param(16, 2, 0.1, "2", id="an eighth of them is taken"),
        pytest.param(16, 17, 0.1, "0", id="somebody waits for one"),
        pytest.param(1, 0, 0.1, "2", id="the only place"),
        pytest.param(512, 70, 0.2, "2", id="an eighth of the threads is taken"),
        pytest.param(512, 70, 1.1, "0", id="somebody waits for a thread"),
    ],
)
def test_an_answer_that_comes_late_holds_nothing_that_others_need(
    make_runner: MakeRunner, places: int, taken: int, load: float, wait: str
) -> None:
    runner, waker = make_runner(max_in_flight=places), Waker(lambda: None, lambda: load)
    with contextlib.ExitStack() as held, keep_waker(waker):
        for _ in range(taken):
            with contextlib.suppress(RetryLater):
                held.enter_context(
                    runner._caller._gates.request_permit("https://flows.example:443")
                )
        assert runner._caller._compute_wait("https://flows.example:443") == float(wait)


@pytest.mark.parametrize(
    ("given", "left"),
    [
        pytest.param({}, 10.0, id="first attempt"),
        pytest.param({"memory": {"since": NOW - 7, "failures": 3}}, 3.0, id="what is left"),
        pytest.param({"memory": {"since": NOW - 10, "failures": 4}}, 0.1, id="the last one"),
        pytest.param({"memory": {"since": NOW - 12, "unsent": 3}}, 10.0, id="put off until now"),
        pytest.param({"answered": True}, 60.0, id="it answers"),
    ],
)
def test_an_attempt_does_not_outlast_the_time_to_give_up(
    make_runner: MakeRunner,
    request_for: MakeRequest,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, Any],
    left: float,
) -> None:
    runner, seen = make_runner(connect_give_up=10), []

    def send(*args: Any, seconds: float | None = None, **more: Any) -> Any:
        seen.append(seconds)
        raise TransportError("nobody there")

    monkeypatch.setattr(runner._caller._transport, "send", send)
    runner.start(request_for(**given))
    assert seen == [left]
