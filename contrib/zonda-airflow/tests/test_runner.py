"""What is sent to Airflow, and what its answers mean; they were recorded from Airflow 3.3.2."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import requests
import responses
from zonda.hooks import ResourceFailure, UsageError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Finished,
    Lost,
    Retry,
    Running,
    Started,
    Succeeded,
)

ENDPOINT = "http://airflow.example:8080"
API = f"{ENDPOINT}/api/v2"
DAG = f"{API}/dags/make_disk"
KEY = "6b0c6e0e-6f5d-5a5b-9f5c-0d6a5b4c3d2e"
RUN = f"{DAG}/dagRuns/{KEY}"
RESULT = f"{RUN}/taskInstances/zonda_output/xcomEntries/return_value"
TOKEN = {"dag": "make_disk", "task": "zonda_output", "id": KEY, "at": 1_700_000_000.0}

TRIGGERED = {
    "dag_run_id": KEY,
    "dag_id": "make_disk",
    "logical_date": None,
    "run_type": "manual",
    "state": "queued",
    "triggered_by": "rest_api",
    "conf": {"inputs": {"size": 3}},
}
THERE_ALREADY = {
    "detail": {
        "reason": "Unique constraint violation",
        "statement": "hidden",
        "orig_error": "hidden",
        "message": "Serious error when handling your request. Check logs for more details",
    }
}
NO_DAG = {"detail": "Dag with dag_id: 'nope' not found"}
NO_RUN = {"detail": f"The DagRun with dag_id: `make_disk` and run_id: `{KEY}` was not found"}
NO_RESULT = {"detail": "XCom entry with key: `return_value` not found"}
WRONG_REQUEST = {
    "detail": [
        {
            "type": "dict_type",
            "loc": ["body", "conf"],
            "msg": "Input should be a valid dictionary",
            "input": "s3cret",
        }
    ]
}
FAILED_TASKS = {
    "task_instances": [{"task_id": "zonda_output", "state": "failed", "try_number": 1}],
    "total_entries": 1,
}

Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def world() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def result(value: Any) -> dict[str, Any]:
    return {"key": "return_value", "map_index": -1, "task_id": "zonda_output", "value": value}


# -- start --------------------------------------------------------------------------------------


def test_a_trigger_carries_key_and_contract(world: Any, make: Make, request_of: Make) -> None:
    world.post(f"{DAG}/dagRuns", json=TRIGGERED)
    answer = make(token="t0ken").start(request_of(data={"a": 1}))
    assert isinstance(answer, Started)
    assert {key: answer.token[key] for key in ("dag", "task", "id")} == {
        "dag": "make_disk",
        "task": "zonda_output",
        "id": KEY,
    }
    sent = world.calls[0].request
    assert sent.headers["Authorization"] == "Bearer t0ken"
    body = json.loads(sent.body)
    assert (body["dag_run_id"], body["logical_date"]) == (KEY, None)
    assert body["conf"]["inputs"] == {"size": 3}
    assert (body["conf"]["contract"], body["conf"]["data"]) == (1, {"a": 1})


def test_a_run_that_is_there_already_is_followed(world: Any, make: Make, request_of: Make) -> None:
    world.post(f"{DAG}/dagRuns", json=THERE_ALREADY, status=409)
    answer = make().start(request_of(attempt=2))
    assert isinstance(answer, Started)
    assert answer.token["id"] == KEY


def test_every_send_is_the_same(world: Any, make: Make, request_of: Make, clock: Any) -> None:
    world.post(f"{DAG}/dagRuns", json=TRIGGERED)
    runner = make()
    runner.start(request_of(deadline=1_700_000_600.0))
    clock.advance(60)
    runner.start(request_of(deadline=1_700_000_600.0, attempt=2))
    assert world.calls[0].request.body == world.calls[1].request.body


def test_the_task_may_be_named(world: Any, make: Make, request_of: Make) -> None:
    world.post(f"{DAG}/dagRuns", json=TRIGGERED)
    assert make().start(request_of("make_disk#made")).token["task"] == "made"
    assert make(output_task="end").start(request_of()).token["task"] == "end"


@pytest.mark.parametrize("workflow", ["", "#task", "dag#", "..", "dag#.."])
def test_a_name_that_leads_nowhere(make: Make, request_of: Make, workflow: str) -> None:
    answer = make().start(request_of(workflow))
    assert isinstance(answer, Finished)
    assert "names no DAG of Airflow" in answer.result.reason
    with pytest.raises(ResourceFailure, match="names no DAG"):
        make().check(workflow)


def test_a_name_cannot_lead_elsewhere(world: Any, make: Make, request_of: Make) -> None:
    world.post(f"{API}/dags/..%2Fpools%3Fx/dagRuns", json=TRIGGERED)
    assert isinstance(make().start(request_of("../pools?x")), Started)


@pytest.mark.parametrize(
    ("status", "said", "reason"),
    [
        (404, NO_DAG, "Airflow answered 404: Dag with dag_id: 'nope' not found"),
        (
            422,
            WRONG_REQUEST,
            "Airflow answered 422: body.conf: Input should be a valid dictionary",
        ),
        (400, {}, "Airflow answered 400: no reason given"),
        (301, {}, "Airflow answered 301: no reason given"),
    ],
)
def test_a_refused_trigger(
    world: Any, make: Make, request_of: Make, status: int, said: Any, reason: str
) -> None:
    world.post(f"{DAG}/dagRuns", json=said, status=status, headers={"Location": "http://x/"})
    answer = make().start(request_of())
    assert answer.result == Failed(reason, by_runner=True)
    assert len(world.calls) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(
    world: Any, make: Make, request_of: Make, status: int
) -> None:
    world.post(f"{DAG}/dagRuns", body="busy", status=status)
    answer = make().start(request_of())
    assert isinstance(answer, Retry)
    assert answer.answered


def test_who_never_answers_is_given_up(
    world: Any, make: Make, request_of: Make, clock: Any
) -> None:
    world.post(f"{DAG}/dagRuns", body=requests.ConnectionError())
    runner, answer = make(give_up=10), None
    while answer is None or isinstance(answer, Retry):
        memory = dict(answer.memory) if answer else {}
        clock.advance(answer.delay if answer else 0)
        answer = runner.start(request_of(memory=memory))
    assert "given up after 10 s" in answer.result.reason


# -- poll ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "output", "resource_id"),
    [
        ({"resource_id": "disk-3", "n": 1}, {"resource_id": "disk-3", "n": 1}, "disk-3"),
        (5, {"result": 5}, None),
        (None, {"result": None}, None),
    ],
)
def test_an_output(world: Any, make: Make, value: Any, output: Any, resource_id: Any) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "success"})
    world.get(RESULT, json=result(value))
    assert make().poll(TOKEN) == Succeeded(output, resource_id)


def test_a_dag_without_the_task_has_no_output(world: Any, make: Make) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "success"})
    world.get(RESULT, json=NO_RESULT, status=404)
    assert make().poll(TOKEN) == Succeeded({})


@pytest.mark.parametrize("status", [502, 404])
def test_an_output_that_cannot_be_read_now_is_read_later(
    world: Any, make: Make, status: int
) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "success"})
    world.get(RESULT, body="<html>", status=status)
    assert isinstance(make().poll(TOKEN), Running)


def test_an_output_that_is_nested_too_deep_ends_nothing(world: Any, make: Make) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "success"})
    world.get(RESULT, body="[" * 200_000)
    assert isinstance(make().poll(TOKEN), Running)


@pytest.mark.parametrize("value", [float("nan"), {"a": [float("inf")]}, {"a": "\ud800"}])
def test_an_output_with_what_json_has_not_fails(world: Any, make: Make, value: Any) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "success"})
    world.get(RESULT, body=json.dumps(result(value)))
    answer = make().poll(TOKEN)
    assert answer.reason.startswith("the task zonda_output returned what JSON has not: NaN")


def test_a_failed_run_without_a_usable_output_tells_its_failure(world: Any, make: Make) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "failed"})
    world.get(f"{RUN}/taskInstances", json=FAILED_TASKS)
    world.get(RESULT, body=json.dumps(result({"a": float("nan")})))
    answer = make().poll(TOKEN)
    assert (answer.output, "failed: task zonda_output" in answer.reason) == (None, True)


def test_a_failed_run_names_its_tasks_and_keeps_what_was_returned(world: Any, make: Make) -> None:
    world.get(RUN, json={**TRIGGERED, "state": "failed"})
    world.get(f"{RUN}/taskInstances", json=FAILED_TASKS)
    world.get(RESULT, json=result({"resource_id": "half-made"}))
    answer = make().poll(TOKEN)
    assert answer.reason == f"the DAG run {KEY} of make_disk failed: task zonda_output (try 1)"
    assert answer.output == {"resource_id": "half-made"}


@pytest.mark.parametrize(
    ("state", "message"),
    [("queued", "queued"), ("running", ""), ("restarting", "in state restarting")],
)
def test_a_run_that_goes_on(world: Any, make: Make, state: str, message: str) -> None:
    world.get(RUN, json={**TRIGGERED, "state": state})
    answer = make().poll(TOKEN)
    assert isinstance(answer, Running)
    assert answer.message == message
    assert 0.5 <= answer.poll_after <= 1


def test_a_run_that_nobody_knows_is_lost(world: Any, make: Make) -> None:
    world.get(RUN, json=NO_RUN, status=404)
    assert isinstance(make().poll(TOKEN), Lost)


@pytest.mark.parametrize("status", [404, 500, 503])
def test_trouble_on_the_way_ends_nothing(world: Any, make: Make, status: int) -> None:
    world.get(RUN, body="<html>gateway</html>", status=status)
    assert isinstance(make().poll(TOKEN), Running)


# -- logins -------------------------------------------------------------------------------------


def login(world: Any, *tokens: str) -> None:
    for token in tokens:
        world.post(f"{ENDPOINT}/auth/token", json={"access_token": token}, status=201)


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, {"detail": "Not authenticated"}), (403, {"detail": "Invalid JWT token"})],
)
def test_an_expired_login_is_renewed_once(world: Any, make: Make, status: int, said: Any) -> None:
    login(world, "first", "second")
    world.get(RUN, json=said, status=status)
    world.get(RUN, json={**TRIGGERED, "state": "running"})
    runner = make(username="zonda", password="pa55word")
    assert isinstance(runner.poll(TOKEN), Running)
    used = [call.request.headers.get("Authorization") for call in world.calls]
    assert used == [None, "Bearer first", None, "Bearer second"]
    assert json.loads(world.calls[0].request.body)["password"] == "pa55word"


def test_one_login_serves_many_requests(world: Any, make: Make) -> None:
    login(world, "first")
    world.get(RUN, json={**TRIGGERED, "state": "running"})
    runner = make(username="zonda", password="pa55word")
    for _ in range(3):
        runner.poll(TOKEN)
    assert sum(call.request.url.endswith("/auth/token") for call in world.calls) == 1


def test_a_refused_login(world: Any, make: Make, request_of: Make) -> None:
    world.post(
        f"{ENDPOINT}/auth/token", json={"detail": "Invalid credentials pa55word"}, status=401
    )
    runner = make(username="zonda", password="pa55word")
    answer = runner.start(request_of())
    assert answer.result.reason == (
        "Airflow: the login is answered 401: Invalid credentials (hidden)"
    )
    assert isinstance(runner.poll(TOKEN), Running)
    runner.check("make_disk")
    assert "pa55word" not in repr(runner._settings)


# -- the rest -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "cancelled"),
    [(200, Cancelled.DONE), (404, Cancelled.DONE), (503, Cancelled.UNSUPPORTED)],
)
def test_a_cancel_marks_the_run_as_failed(
    world: Any, make: Make, status: int, cancelled: Cancelled
) -> None:
    world.patch(RUN, json={**TRIGGERED, "state": "failed"}, status=status)
    assert make().cancel(TOKEN, "why") is cancelled
    assert json.loads(world.calls[0].request.body) == {"state": "failed"}


def test_a_dag_is_looked_up(world: Any, make: Make) -> None:
    world.get(DAG, json={"dag_id": "make_disk"})
    world.get(f"{API}/dags/nope", json=NO_DAG, status=404)
    world.get(f"{API}/dags/unsure", status=503)
    runner = make()
    runner.check("make_disk#task")
    runner.check("unsure")
    with pytest.raises(ResourceFailure, match="Airflow knows no DAG nope"):
        runner.check("nope")


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"endpoint": ""}, "endpoint is missing"),
        ({"endpoint": "http://user:pw@x"}, "must hold no credentials"),
        ({"endpint": "x"}, "endpint is no setting of an airflow runner"),
        ({"token": "x", "username": "y"}, "username stands beside a token"),
        ({"answer_timeout": "soon"}, "answer_timeout must be a number"),
    ],
)
def test_wrong_settings(make: Make, section: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make(**section)
