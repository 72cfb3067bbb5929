"""Access tokens: fetched once, cached, renewed, sent to the endpoint only."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests
import responses

from zonda.hooks.errors import UsageError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    Retry,
    Running,
    StartRequest,
    Succeeded,
)
from zonda.workflows.http_runner.runner import HttpRunner

TOKENS = "https://login.example/oauth/token"
ENDPOINT = "https://flows.example"
START = f"{ENDPOINT}/workflows/make"
RUN = f"{ENDPOINT}/runs/7"
SECRET = "s3cr&t pass/word"
OAUTH = {"token_url": TOKENS, "client_id": "zonda", "client_secret": SECRET}

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def runner(make_runner: MakeRunner) -> HttpRunner:
    return make_runner(endpoint=ENDPOINT, oauth2=OAUTH)


def give(http: Any, *tokens: str, **more: Any) -> None:
    for token in tokens:
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": 3600, **more}
        http.post(TOKENS, json=answer)


def sent(http: Any, url: str) -> list[Any]:
    return [call.request for call in http.calls if call.request.url == url]


def test_a_token_is_fetched_and_kept(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    give(http, "t0ken")
    http.post(START, json={})
    for _ in range(3):
        assert runner.start(request_for("make")).result == Succeeded({})  # type: ignore[union-attr]
    [fetch] = sent(http, TOKENS)
    assert parse_qs(fetch.body.decode()) == {"grant_type": ["client_credentials"]}
    pair = base64.b64decode(fetch.headers["Authorization"].removeprefix("Basic "))
    assert pair == b"zonda:s3cr%26t+pass%2Fword"
    assert {one.headers["Authorization"] for one in sent(http, START)} == {"Bearer t0ken"}


def test_the_secret_in_the_body(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    give(http, "t0ken")
    http.post(START, json={})
    more = {"send": "body", "scope": "a b", "audience": "https://flows"}
    make_runner(endpoint=ENDPOINT, oauth2={**OAUTH, **more}).start(request_for("make"))
    [fetch] = sent(http, TOKENS)
    assert "Authorization" not in fetch.headers
    assert parse_qs(fetch.body.decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["a b"],
        "audience": ["https://flows"],
        "client_id": ["zonda"],
        "client_secret": [SECRET],
    }


@pytest.mark.parametrize(
    ("expires", "still", "over"),
    [
        pytest.param(3600, 3569, 3571, id="half-a-minute-before"),
        pytest.param("100", 89, 91, id="a-tenth-before"),
        pytest.param(None, 269, 271, id="unsaid"),
        pytest.param(-5, 269, 271, id="nonsense"),
        pytest.param(10**9, 86369, 86371, id="for-ever"),
        pytest.param(10**400, 269, 271, id="no-number"),
    ],
)
def test_a_token_is_renewed_before_it_expires(
    http: Any,
    runner: HttpRunner,
    request_for: MakeRequest,
    clock: Any,
    expires: Any,
    still: float,
    over: float,
) -> None:
    http.post(TOKENS, body=json.dumps({"access_token": "one", "expires_in": expires}))
    give(http, "two")
    http.post(START, json={})
    for after in (0.0, still, over):
        clock.seconds = 1_790_000_000 + after
        runner.start(request_for("make", deadline=2e9))
    used = [one.headers["Authorization"] for one in sent(http, START)]
    assert used == ["Bearer one", "Bearer one", "Bearer two"]


def test_a_refused_token_is_replaced_once(
    http: Any, runner: HttpRunner, request_for: MakeRequest, clock: Any
) -> None:
    give(http, "old", "new")
    http.post(START, json={})
    http.post(START, status=401)
    http.post(START, json={"a": 1})
    runner.start(request_for("make"))
    clock.seconds += 60
    assert runner.start(request_for("make")).result == Succeeded({"a": 1})  # type: ignore[union-attr]
    used = [one.headers["Authorization"] for one in sent(http, START)]
    assert used == ["Bearer old", "Bearer old", "Bearer new"]


def test_a_token_that_was_never_any_good_is_not_replaced(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    give(http, "t0ken")
    http.post(START, status=401, json={"reason": "Bearer t0ken is not welcome"})
    answer = runner.start(request_for("make"))
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert answer.result.reason.endswith("HTTP 401: Bearer (hidden) is not welcome")
    assert len(sent(http, START)) == 1


def test_a_second_refusal_counts(
    http: Any, runner: HttpRunner, request_for: MakeRequest, clock: Any
) -> None:
    give(http, "old", "new")
    http.post(START, json={})
    http.post(START, status=401)
    runner.start(request_for("make"))
    clock.seconds += 60
    answer = runner.start(request_for("make"))
    assert "HTTP 401" in answer.result.reason  # type: ignore[union-attr]
    assert len(sent(http, START)) == 3


def test_a_refused_poll_goes_on(http: Any, runner: HttpRunner) -> None:
    give(http, "t0ken")
    http.get(RUN, status=401)
    assert isinstance(runner.poll({"url": "/runs/7", "key": "k"}), Running)


def test_polls_and_cancels_carry_the_token(http: Any, runner: HttpRunner) -> None:
    give(http, "t0ken")
    http.get(RUN, status=202)
    http.delete(RUN, status=204)
    runner.poll({"url": "/runs/7", "key": "k"})
    cancelled = runner.cancel({"cancel": "/runs/7", "key": "k"}, "")
    assert cancelled is Cancelled.ACCEPTED
    assert {one.headers["Authorization"] for one in sent(http, RUN)} == {"Bearer t0ken"}


@pytest.mark.parametrize("url", ["https://other.example/x", "http://flows.example/x"])
def test_another_origin_gets_no_token(
    http: Any, runner: HttpRunner, request_for: MakeRequest, url: str
) -> None:
    http.post(url, json={})
    runner.start(request_for(url))
    assert "Authorization" not in sent(http, url)[0].headers
    assert sent(http, TOKENS) == []


@pytest.mark.parametrize(
    ("body", "status", "part"),
    [
        pytest.param({"error": "invalid_client"}, 401, "HTTP 401 (invalid_client)", id="refused"),
        pytest.param(
            {"error": f"no {SECRET}", "error_description": SECRET}, 400, "HTTP 400", id="echo"
        ),
        pytest.param({"access_token": "a b"}, 200, "no token that can be used", id="blank"),
        pytest.param({"access_token": "a\r\nX: y"}, 200, "no token that can be used", id="lines"),
        pytest.param({"access_token": ""}, 200, "no token that can be used", id="empty"),
        pytest.param({"access_token": "t", "token_type": "MAC"}, 200, "another kind", id="kind"),
        pytest.param([1], 200, "no token that can be used", id="list"),
        pytest.param({}, 302, "HTTP 302", id="redirect"),
    ],
)
def test_who_gets_no_token_fails_and_says_why(
    http: Any, runner: HttpRunner, request_for: MakeRequest, body: Any, status: int, part: str
) -> None:
    http.post(TOKENS, json=body, status=status, headers={"Location": "https://evil.example/"})
    answer = runner.start(request_for("make"))
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert f"the token endpoint {TOKENS}" in answer.result.reason
    assert part in answer.result.reason
    assert "s3cr" not in answer.result.reason
    assert isinstance(runner.poll({"url": "/runs/7", "key": "k"}), Running)
    assert {call.request.url for call in http.calls} == {TOKENS}


@pytest.mark.parametrize("answer", [{"status": 503}, {"body": requests.ConnectionError("x")}])
def test_a_token_endpoint_that_is_away_is_waited_for(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, answer: dict[str, Any]
) -> None:
    http.post(TOKENS, **answer)
    runner = make_runner(endpoint=ENDPOINT, oauth2=OAUTH, breaker_failures=1)
    for _ in range(3):
        found = runner.start(request_for("make"))
        assert isinstance(found, Retry)
        assert f"the token endpoint {TOKENS}" in found.message
        assert "rest" not in found.message  # the endpoint itself has done nothing wrong


def test_one_thread_fetches_and_the_others_come_back(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    begun, go_on, answers = threading.Event(), threading.Event(), []

    def give_slowly(request: Any) -> tuple[int, dict[str, str], str]:
        begun.set()
        assert go_on.wait(10)
        return 200, {}, '{"access_token": "t0ken"}'

    http.add_callback("POST", TOKENS, give_slowly)
    http.post(START, json={})
    thread = threading.Thread(target=lambda: answers.append(runner.start(request_for("make"))))
    thread.start()
    assert begun.wait(10)
    other = runner.start(request_for("make", key="another"))
    go_on.set()
    thread.join()
    assert isinstance(other, Retry)
    assert other.message == "an access token is being fetched"
    assert isinstance(answers[0], Finished)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        pytest.param({"oauth2": "x"}, "must be a table", id="text"),
        pytest.param(
            {"oauth2": {**OAUTH, "secret": "x"}}, "oauth2.secret is no setting", id="unknown"
        ),
        pytest.param(
            {"oauth2": {"token_url": TOKENS}}, "oauth2.client_id is missing", id="missing"
        ),
        pytest.param({"oauth2": {**OAUTH, "token_url": "x"}}, "token_url must be a URL", id="url"),
        pytest.param(
            {"oauth2": {**OAUTH, "token_url": "https://a:b@x/"}},
            "token_url must hold no credentials",
            id="userinfo",
        ),
        pytest.param({"oauth2": {**OAUTH, "send": "x"}}, "must be one of basic, body", id="send"),
        pytest.param({"oauth2": {**OAUTH, "scope": 1}}, "oauth2.scope must be text", id="kind"),
        pytest.param(
            {"oauth2": OAUTH, "token": "t"}, "oauth2 stands beside a token", id="two-ways"
        ),
    ],
)
def test_wrong_settings_are_named(
    make_runner: MakeRunner, settings: dict[str, Any], part: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_runner(endpoint=ENDPOINT, **settings)
    assert part in caught.value.message
    assert SECRET not in str(caught.value)


def test_no_endpoint_no_token(make_runner: MakeRunner) -> None:
    with pytest.raises(UsageError, match="credentials and no endpoint"):
        make_runner(oauth2=OAUTH)


def test_no_secret_in_a_repr(runner: HttpRunner) -> None:
    assert "s3cr" not in repr(runner._settings)
