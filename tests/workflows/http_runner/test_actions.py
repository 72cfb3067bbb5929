"""Actions with a URL and a method of their own, for APIs without the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import requests
import responses

from zonda.hooks.errors import UsageError
from zonda.hooks.http import TransportError
from zonda.hooks.runners import (
    Failed,
    Finished,
    ResourceRef,
    Retry,
    Running,
    Started,
    StartRequest,
    Succeeded,
)
from zonda.workflows.http_runner.runner import HttpRunner

BASE = "https://api.example/v1"
KEY = "6f0cb1aa-0000-5000-8000-000000000001"
ACTIONS: dict[str, dict[str, Any]] = {
    "CREATE": {"url": "/disks", "body": "inputs", "id_path": "data.id", "output_path": "data"},
    "UPDATE": {"url": "/disks/{resource_id}", "method": "PATCH", "body": "inputs"},
    "DELETE": {"url": "/disks/{resource_id}", "method": "DELETE", "gone": [404]},
    "CHECK": {"url": "/disks/{resource_id}", "method": "GET", "output_path": "data", "gone": [404]},
    "SUSPEND": {"url": "/disks/{resource_id}/stop", "body": "none", "answer": "plain"},
}

MakeRunner = Callable[..., HttpRunner]
MakeRequest = Callable[..., StartRequest]


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def runner(make_runner: MakeRunner) -> HttpRunner:
    return make_runner(endpoint=BASE, token="t0ken", actions=ACTIONS)


def ref(physical_id: str | None = None, name: str = "disk") -> ResourceRef:
    return ResourceRef("r-1", name, "OS::Mistral::ExternalResource", physical_id)


def test_a_whole_life(http: Any, runner: HttpRunner, request_for: MakeRequest) -> None:
    http.post(f"{BASE}/disks", status=201, json={"data": {"id": 7, "size": 1}})
    http.patch(f"{BASE}/disks/7", json={"size": 2})
    http.get(f"{BASE}/disks/7", json={"data": {"id": 7, "size": 2, "colour": "red"}})
    http.post(f"{BASE}/disks/7/stop", body="OK, stopped")
    http.delete(f"{BASE}/disks/7", status=204)

    made = runner.start(request_for("any", inputs={"size": 1}))
    assert made == Finished(Succeeded({"id": 7, "size": 1}, "7"), KEY)
    later: dict[str, Any] = {"resource": ref("7"), "inputs": {"size": 2}}
    answers = [
        runner.start(request_for("any", action=action, **later)).result  # type: ignore[union-attr]
        for action in ("UPDATE", "CHECK", "SUSPEND", "DELETE")
    ]
    assert answers == [
        Succeeded({"size": 2}),
        Succeeded({"exists": True, "inputs": {"size": 2}}),
        Succeeded({}),
        Succeeded({}),
    ]
    sent = [call.request for call in http.calls]
    assert [json.loads(one.body) if one.body else None for one in sent] == [
        {"size": 1},
        {"size": 2},
        None,
        None,
        None,
    ]
    assert {one.headers["Authorization"] for one in sent} == {"Bearer t0ken"}
    assert {one.headers["Idempotency-Key"] for one in sent} == {KEY}
    assert not any("Prefer" in one.headers or "Zonda-Contract" in one.headers for one in sent)


def test_what_is_not_listed_goes_the_usual_way(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    http.post(f"{BASE}/workflows/resume", json={"state": "succeeded", "output": {"a": 1}})
    answer = runner.start(request_for("resume", action="RESUME"))
    assert answer == Finished(Succeeded({"a": 1}), KEY)
    assert json.loads(http.calls[0].request.body)["contract"] == 1


def test_the_contract_at_another_place(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    http.put(f"{BASE}/make/flow", status=202, json={"status_url": "/v1/runs/1"})
    actions = {"CREATE": {"url": "/make/{workflow}", "method": "PUT"}}
    answer = make_runner(endpoint=BASE, actions=actions).start(request_for("flow"))
    assert isinstance(answer, Started)
    assert json.loads(http.calls[0].request.body)["action"] == "CREATE"
    assert http.calls[0].request.headers["Zonda-Contract"] == "1"


# -- placeholders -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "fields", "wanted"),
    [
        pytest.param("/d/{name}", {"resource": ref(name="a b")}, "/d/a%20b", id="blank"),
        pytest.param("/d/{name}", {"resource": ref(name="a/b")}, "/d/a%2Fb", id="slash"),
        pytest.param("/d/{name}/x", {"resource": ref(name="a?b#c")}, "/d/a%3Fb%23c/x", id="query"),
        pytest.param("/d/{name}", {"resource": ref(name="a%2e%2e")}, "/d/a%252e%252e", id="quoted"),
        pytest.param(
            "/d/{name}", {"resource": ref(name="a\r\nX: y")}, "/d/a%0D%0AX%3A%20y", id="lines"
        ),
        pytest.param(
            "/d/{name}", {"resource": ref(name="@evil.example")}, "/d/%40evil.example", id="at"
        ),
        pytest.param(
            "/d?n={name}&s={stack_name}",
            {"resource": ref(name="a&b=c")},
            "/d?n=a%26b%3Dc&s=prod",
            id="in-the-query",
        ),
        pytest.param("/d/{uuid}/{stack_id}/{project}", {}, "/d/r-1/s-1/demo", id="ids"),
        pytest.param(
            "/z/{inputs.zone}/{inputs.on}",
            {"inputs": {"zone": 4, "on": True}},
            "/z/4/true",
            id="inputs",
        ),
        pytest.param("/d/{name}", {"resource": ref(name="{uuid}")}, "/d/%7Buuid%7D", id="braces"),
        pytest.param("/d/{name}", {"resource": ref(name="ü")}, "/d/%C3%BC", id="unicode"),
    ],
)
def test_a_value_stays_in_its_place(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    url: str,
    fields: dict[str, Any],
    wanted: str,
) -> None:
    http.put(re.compile(".*"), json={})
    actions = {"CREATE": {"url": url, "method": "PUT"}}
    make_runner(endpoint=BASE, actions=actions).start(request_for("flow", **fields))
    assert http.calls[0].request.url == f"{BASE}{wanted}"


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        pytest.param("name", "..", "would lead elsewhere", id="up"),
        pytest.param("name", ".", "would lead elsewhere", id="here"),
        pytest.param("name", "a/../b", "would lead elsewhere", id="up-inside"),
        pytest.param("name", "..\\x", "would lead elsewhere", id="backslash"),
        pytest.param("name", "", "no value that fits", id="empty"),
        pytest.param("inputs.x", None, "no value that fits", id="null"),
        pytest.param("inputs.x", {"a": 1}, "no value that fits", id="map"),
        pytest.param("inputs.y", 1, "no value that fits", id="absent"),
        pytest.param("inputs.x", "\ud800", "no text", id="surrogate"),
    ],
)
def test_a_value_that_does_not_fit_fails_the_action(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, name: str, value: Any, part: str
) -> None:
    actions = {"CREATE": {"url": f"/d/{{{name}}}", "method": "PUT"}}
    fields: dict[str, Any] = {"resource": ref(name=value)} if name == "name" else {}
    answer = make_runner(endpoint=BASE, actions=actions).start(
        request_for("flow", inputs={"x": value}, **fields)
    )
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert part in answer.result.reason
    assert len(http.calls) == 0


def test_a_delete_of_what_was_never_named_has_nothing_to_do(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    answer = runner.start(request_for("any", action="DELETE"))
    assert answer == Finished(Succeeded(), KEY)
    assert len(http.calls) == 0


def test_an_update_of_what_was_never_named_fails(
    runner: HttpRunner, request_for: MakeRequest
) -> None:
    answer = runner.start(request_for("any", action="UPDATE"))
    assert "needs {resource_id}" in answer.result.reason  # type: ignore[union-attr]


def test_a_delete_with_an_id_that_leads_elsewhere_is_not_taken_for_done(
    runner: HttpRunner, request_for: MakeRequest
) -> None:
    answer = runner.start(request_for("any", action="DELETE", resource=ref("..")))
    assert isinstance(answer.result, Failed)  # type: ignore[union-attr]


def test_credentials_stay_at_the_endpoint(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    http.post("https://elsewhere.example/disks", json={})
    actions = {"CREATE": {"url": "https://elsewhere.example/disks"}}
    make_runner(endpoint=BASE, token="t0ken", actions=actions).start(request_for("flow"))
    assert "Authorization" not in http.calls[0].request.headers


# -- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "known_as"),
    [
        pytest.param("id", {"id": "x"}, "x", id="top"),
        pytest.param("a.b.c", {"a": {"b": {"c": 5}}}, "5", id="deep"),
        pytest.param("items.0.id", {"items": [{"id": "x"}]}, "x", id="list"),
        pytest.param(["a.b"], {"a.b": "x"}, "x", id="dot-in-a-name"),
        pytest.param("id", {"id": 0}, "0", id="zero"),
    ],
)
def test_where_the_id_is(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    path: Any,
    body: Any,
    known_as: str,
) -> None:
    http.post(f"{BASE}/d", json=body)
    actions = {"CREATE": {"url": "/d", "body": "inputs", "id_path": path}}
    answer = make_runner(endpoint=BASE, actions=actions).start(request_for("flow"))
    assert answer.result.resource_id == known_as  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "body",
    [{}, {"id": None}, {"id": ""}, {"id": {}}, {"id": True}, [], {"ids": 1}, "", "<html>", "null"],
)
def test_a_create_without_an_id_has_failed(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, body: Any
) -> None:
    http.post(f"{BASE}/d", body=body if isinstance(body, str) else json.dumps(body))
    actions = {"CREATE": {"url": "/d", "body": "inputs", "id_path": "id"}}
    answer = make_runner(endpoint=BASE, actions=actions).start(request_for("flow"))
    assert isinstance(answer.result, Failed)  # type: ignore[union-attr]
    assert "has no id at id" in answer.result.reason  # type: ignore[union-attr]


def test_a_field_called_state_is_a_field(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    http.post(f"{BASE}/d", json={"state": "failed", "id": 1})
    actions = {"CREATE": {"url": "/d", "body": "inputs"}}
    answer = make_runner(endpoint=BASE, actions=actions).start(request_for("flow"))
    assert answer == Finished(Succeeded({"state": "failed", "id": 1}), KEY)


def test_a_check_finds_that_it_is_gone(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    http.get(f"{BASE}/disks/7", status=404)
    answer = runner.start(request_for("any", action="CHECK", resource=ref("7")))
    assert answer == Finished(Succeeded({"exists": False}), KEY)


@pytest.mark.parametrize("action", ["DELETE", "CHECK"])
def test_not_found_is_no_deletion_unless_it_was_said_to_be(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, action: str
) -> None:
    http.add("DELETE" if action == "DELETE" else "GET", f"{BASE}/d/7", status=404)
    entry = {"url": "/d/{resource_id}", "answer": "plain", "body": "none"}
    entry["method"] = "DELETE" if action == "DELETE" else "GET"
    answer = make_runner(endpoint=BASE, actions={action: entry}).start(
        request_for("any", action=action, resource=ref("7"))
    )
    assert isinstance(answer.result, Failed)  # type: ignore[union-attr]
    assert f"gone = [404] in actions.{action}" in answer.result.reason  # type: ignore[union-attr]


@pytest.mark.parametrize("action", ["CREATE", "UPDATE"])
def test_gone_is_no_success_of_other_actions(
    http: Any, make_runner: MakeRunner, request_for: MakeRequest, action: str
) -> None:
    http.post(f"{BASE}/d", status=404)
    actions = {action: {"url": "/d", "body": "inputs", "gone": [404]}}
    answer = make_runner(endpoint=BASE, actions=actions).start(
        request_for("any", action=action, resource=ref("7"))
    )
    assert isinstance(answer.result, Failed)  # type: ignore[union-attr]


def test_what_takes_longer_is_polled(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    http.post(f"{BASE}/disks", status=202, headers={"Location": "jobs/1", "Retry-After": "4"})
    http.get(f"{BASE}/jobs/1", status=202)
    http.get(f"{BASE}/jobs/1", status=303, headers={"Location": "/v1/disks/7"})
    http.get(f"{BASE}/disks/7", json={"data": {"id": 7, "state": "running"}})
    started = runner.start(request_for("any"))
    assert isinstance(started, Started)
    assert started.poll_after == 4
    assert isinstance(runner.poll(started.token), Running)
    assert runner.poll(started.token) == Succeeded({"id": 7, "state": "running"}, "7")


def test_a_place_to_poll_elsewhere_is_refused(
    http: Any, runner: HttpRunner, request_for: MakeRequest
) -> None:
    http.post(f"{BASE}/disks", status=202, headers={"Location": "http://169.254.169.254/"})
    answer = runner.start(request_for("any"))
    assert "of another origin" in answer.result.reason  # type: ignore[union-attr]


# -- what may be sent twice ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        pytest.param({"status": 500}, False, id="500"),
        pytest.param({"status": 502}, False, id="502"),
        pytest.param({"status": 504}, False, id="504"),
        pytest.param({"status": 408}, False, id="408"),
        pytest.param({"status": 429}, True, id="429-not-taken"),
        pytest.param({"status": 503}, True, id="503-not-taken"),
        pytest.param({"body": requests.ReadTimeout("x")}, False, id="no-answer"),
        pytest.param({"body": requests.ConnectionError("x")}, False, id="broken-off"),
    ],
)
@pytest.mark.parametrize(
    ("method", "repeat"), [("POST", None), ("POST", True), ("PUT", None), ("PUT", False)]
)
def test_a_request_that_may_have_done_its_work_is_not_repeated_unless_that_is_harmless(
    http: Any,
    make_runner: MakeRunner,
    request_for: MakeRequest,
    answer: dict[str, Any],
    again: bool,
    method: str,
    repeat: bool | None,
) -> None:
    http.add(method, f"{BASE}/d", **answer)
    action = {"url": "/d", "method": method, "body": "inputs"}
    action |= {} if repeat is None else {"repeat": repeat}
    found = make_runner(endpoint=BASE, actions={"CREATE": action}).start(request_for("flow"))
    harmless = method == "PUT" if repeat is None else repeat
    assert isinstance(found, Retry) is (again or harmless)


def test_what_was_certainly_not_sent_is_sent_again(
    make_runner: MakeRunner, request_for: MakeRequest
) -> None:
    runner = make_runner(endpoint=BASE, actions={"CREATE": {"url": "/d", "body": "inputs"}})

    def refuse(*args: Any, **more: Any) -> Any:
        raise TransportError("connection refused", may_have_arrived=False)

    runner._caller._transport.send = refuse  # type: ignore[method-assign]
    assert isinstance(runner.start(request_for("flow")), Retry)


# -- settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actions", "part"),
    [
        pytest.param([], "must be a table", id="list"),
        pytest.param({"MAKE": {}}, "actions.MAKE is no setting", id="no-action"),
        pytest.param({"CREATE": "x"}, "actions.CREATE must be a table", id="text"),
        pytest.param({"CREATE": {"uri": "/x"}}, "actions.CREATE.uri is no setting", id="entry"),
        pytest.param(
            {"CREATE": {"method": "BREW"}}, "method must be one of POST, PUT", id="method"
        ),
        pytest.param({"CREATE": {"body": "all"}}, "body must be one of", id="body"),
        pytest.param(
            {"CREATE": {"method": "GET", "body": "inputs"}}, "which GET has not", id="get"
        ),
        pytest.param({"CREATE": {"id_path": "id"}}, "path into an answer of the contract", id="id"),
        pytest.param({"CREATE": {"url": "/{id}"}}, "unknown placeholder {id}", id="placeholder"),
        pytest.param({"CREATE": {"url": "disks"}}, "actions.CREATE.url is no URL", id="relative"),
        pytest.param({"CREATE": {"url": "//evil.example/x"}}, "is no URL", id="no-scheme"),
        pytest.param({"CREATE": {"url": "https://{name}/x"}}, "is no URL", id="host"),
        pytest.param({"CREATE": {"url": "https://x.{name}/x"}}, "is no URL", id="part-of-host"),
        pytest.param({"CREATE": {"url": "{inputs.url}"}}, "is no URL", id="all-of-it"),
        pytest.param({"CREATE": {"url": "https://u:p@x/"}}, "is no URL", id="userinfo"),
        pytest.param({"CREATE": {"url": "ftp://x/"}}, "is no URL", id="scheme"),
        pytest.param({"CREATE": {"url": "/x/{name"}}, "is no URL", id="open-brace"),
        pytest.param({"CREATE": {"url": "/x#{name}"}}, "is no URL", id="fragment"),
        pytest.param({"CREATE": {"url": "/\\evil.example"}}, "is no URL", id="backslash"),
        pytest.param({"DELETE": {"gone": [200]}}, "from 400 to 499", id="gone"),
        pytest.param({"DELETE": {"gone": "404"}}, "gone must be a whole number", id="gone-text"),
        pytest.param({"CREATE": {"repeat": "yes"}}, "repeat must be true or false", id="repeat"),
    ],
)
def test_wrong_settings_are_named(make_runner: MakeRunner, actions: Any, part: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_runner(endpoint=BASE, actions=actions)
    assert part in caught.value.message


def test_names_are_not_asked_about_where_actions_have_urls(http: Any, runner: HttpRunner) -> None:
    runner.check("anything")
    assert len(http.calls) == 0
