"""The ``mistral`` runner, with answers as Mistral 23 gave them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
import responses

from zonda.hooks.errors import ResourceFailure, UsageError
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
from zonda.workflows.mistral.runner import FIRST_POLL, MistralRunner

ENDPOINT = "http://flows.example:8989/v2"
EXECUTIONS = f"{ENDPOINT}/executions"
NOW = 1_790_000_000.0
KEY = "6f0cb1aa-0000-5000-8000-000000000001"
TOKEN = {"id": KEY, "at": int(NOW)}
GONE = "Workflow not found [workflow_identifier=make, namespace=]"


@pytest.fixture
def http() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock() as mock:
        yield mock


@pytest.fixture
def make(clock: Any, most_random: Any) -> Iterator[Callable[..., MistralRunner]]:
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
    def request(**fields: Any) -> Any:
        return request_for(**{"workflow": "make", **fields})

    return request


def execution(**fields: Any) -> dict[str, Any]:
    given = {
        "id": KEY,
        "workflow_id": "e9a144b6",
        "workflow_name": "make",
        "state": "RUNNING",
        "state_info": None,
        "input": '{"size": 1, "more": 2}',
        "output": "{}",
        "params": '{"namespace": "", "env": {}}',
    }
    return {**given, **fields}


def fault(text: str, code: str = "Client") -> dict[str, Any]:
    return {"faultcode": code, "faultstring": text, "debuginfo": None}


def sent(http: responses.RequestsMock, number: int = -1) -> Any:
    return json.loads(http.calls[number].request.body or "null")


# -- start ----------------------------------------------------------------------------------


def test_a_start_asks_for_an_execution_with_the_key_as_its_id(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, json=execution(), status=201)
    answer = make().start(ask(description="Heat managed", params={"task_name": "t"}))
    assert answer == Started(TOKEN, FIRST_POLL, KEY)
    assert sent(http) == {
        "id": KEY,
        "workflow_id": "make",
        "description": "Heat managed",
        "input": '{"size": 1}',
        "params": '{"task_name": "t"}',
    }


def test_what_is_for_the_request_is_taken_out_of_params(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, json=execution(), status=201)
    params = {"namespace": "mine", "source_execution_id": "e-1", "env": {"a": 1}}
    make(namespace="ours").start(ask(params=params))
    body = sent(http)
    assert (body["workflow_namespace"], body["source_execution_id"]) == ("mine", "e-1")
    assert json.loads(body["params"]) == {"env": {"a": 1}}


@pytest.mark.parametrize(
    ("found", "what"),
    [
        pytest.param({"workflow_name": "other"}, "the workflow other", id="another-workflow"),
        pytest.param({"input": '{"size": 2}'}, "another value of the input size", id="input"),
        pytest.param({"input": "{}"}, "another value of the input size", id="input-missing"),
        pytest.param({"id": "x"}, "no execution of the id", id="another-id"),
        pytest.param({"state": None}, "no execution of the id", id="no-execution"),
    ],
)
def test_an_answer_about_something_else_is_no_start(
    http: responses.RequestsMock, make: Any, ask: Any, found: dict[str, Any], what: str
) -> None:
    """Mistral gives the old execution of an id, whatever it is asked to start."""
    http.post(EXECUTIONS, json=execution(**found), status=201)
    answer = make().start(ask())
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert what in answer.result.reason
    assert answer.result.by_runner


def test_an_execution_may_be_asked_for_by_the_id_of_its_workflow(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, json=execution(), status=201)
    assert isinstance(make().start(ask(workflow="e9a144b6")), Started)


HTML = {"body": "<html><body>404</body></html>", "content_type": "text/html"}


@pytest.mark.parametrize(
    ("status", "answer", "what"),
    [
        pytest.param(404, {"json": fault(GONE)}, "HTTP 404: Workflow not found", id="404"),
        pytest.param(
            500,
            {"json": fault(f"DBEntityNotFoundError: 404: {GONE}", "Server")},
            "Workflow not found",
            id="404-within-500",
        ),
        pytest.param(404, HTML, "with /v2 at its end?", id="page"),
        pytest.param(403, {"json": fault("no")}, "HTTP 403: no", id="403"),
        pytest.param(401, {"json": fault("no")}, "does not accept the token", id="401"),
        pytest.param(
            400, {"json": fault("Invalid input [missing=['a']]")}, "missing=['a']", id="input"
        ),
        pytest.param(409, {"body": "not JSON"}, "HTTP 409", id="no-json"),
    ],
)
def test_a_refusal_ends_the_start(
    http: responses.RequestsMock, make: Any, ask: Any, status: int, answer: Any, what: str
) -> None:
    http.post(EXECUTIONS, status=status, **answer)
    found = make().start(ask())
    assert isinstance(found, Finished)
    assert what in found.result.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Invalid input for field/attribute wf_ex. Value: 's3cret'.", id="request"),
        pytest.param("(E) no\n[SQL: INSERT x]\n[parameters: {'i': 's3cret'}]", id="statement"),
    ],
)
def test_no_fault_quotes_the_request(
    http: responses.RequestsMock, make: Any, ask: Any, text: str
) -> None:
    http.post(EXECUTIONS, status=400, json=fault(text))
    assert "s3cret" not in make().start(ask()).result.reason


@pytest.mark.parametrize("status", [408, 425, 429, 502, 503, 504])
def test_who_has_no_time_is_asked_again_when_he_says(
    http: responses.RequestsMock, make: Any, ask: Any, status: int
) -> None:
    http.post(EXECUTIONS, status=status, json=fault("later"), headers={"Retry-After": "7"})
    answer = make().start(ask())
    assert isinstance(answer, Retry)
    assert (answer.delay, answer.answered) == (7.0, True)


def test_an_error_is_repeated_three_times(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, status=500, json=fault("database is locked", "Server"))
    runner, memory = make(), {}
    for _ in range(3):
        answer = runner.start(ask(memory=memory, answered=True))
        assert isinstance(answer, Retry)
        memory = dict(answer.memory)
    answer = runner.start(ask(memory=memory, answered=True))
    assert isinstance(answer, Finished)
    assert "database is locked" in answer.result.reason


def test_one_that_never_answers_is_given_up(
    http: responses.RequestsMock, make: Any, ask: Any, clock: Any
) -> None:
    http.post(EXECUTIONS, body=requests.ConnectionError("x"))
    runner = make(connect_give_up=100)
    answer = runner.start(ask())
    assert isinstance(answer, Retry)
    assert not answer.answered
    clock.seconds += 101
    last = runner.start(ask(memory=answer.memory))
    assert isinstance(last, Finished)
    assert "given up after 100 s" in last.result.reason


def test_a_number_that_json_has_not_is_told(make: Any, ask: Any) -> None:
    answer = make().start(ask(inputs={"x": float("nan")}))
    assert "JSON has no word for" in answer.result.reason


# -- environments ---------------------------------------------------------------------------


def test_a_stored_environment_is_fetched_for_the_outputs_to_be_added(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.get(f"{ENDPOINT}/environments/my%20site", json={"variables": '{"region": "n"}'})
    http.post(EXECUTIONS, json=execution(), status=201)
    make().start(ask(params={"env": "my site"}, data={"a": 1}, action="DELETE"))
    env = {"region": "n", "heat_extresource_data": {"a": 1}}
    assert json.loads(sent(http)["params"]) == {"env": env}


def test_the_name_of_an_environment_is_sent_where_there_is_nothing_to_add(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, json=execution(), status=201)
    make().start(ask(params={"env": "site"}))
    assert json.loads(sent(http)["params"]) == {"env": "site"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [pytest.param(404, Finished, id="gone"), pytest.param(503, Retry, id="busy")],
)
def test_an_environment_that_cannot_be_had(
    http: responses.RequestsMock, make: Any, ask: Any, status: int, kind: type
) -> None:
    http.get(f"{ENDPOINT}/environments/site", status=status, json=fault("Environment not found"))
    assert isinstance(make().start(ask(params={"env": "site"}, data={})), kind)


# -- poll -----------------------------------------------------------------------------------


def poll(http: responses.RequestsMock, runner: MistralRunner, **answer: Any) -> Any:
    http.get(f"{EXECUTIONS}/{KEY}", **answer)
    return runner.poll(TOKEN)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        pytest.param({"state": "IDLE"}, Running(0.55), id="idle"),
        pytest.param({"state": "RUNNING"}, Running(0.55), id="running"),
        pytest.param(
            {"state": "PAUSED"},
            Running(0.55, "paused: goes on when somebody resumes it at Mistral"),
            id="paused",
        ),
        pytest.param({"state": "ODD"}, Running(0.55, "in the unknown state ODD"), id="unknown"),
        pytest.param(
            {"state": "SUCCESS", "output": '{"resource_id": "r", "n": [1]}'},
            Succeeded({"resource_id": "r", "n": [1]}),
            id="success",
        ),
        pytest.param(
            {"state": "SUCCESS", "output": {"a": 1}}, Succeeded({"a": 1}), id="not-in-a-text"
        ),
        pytest.param(
            {"state": "SUCCESS", "output": "[1]"}, Succeeded({"result": [1]}), id="no-map"
        ),
        pytest.param(
            {"state": "CANCELLED", "state_info": "bye", "output": '{"result": "bye"}'},
            Failed("bye"),
            id="cancelled",
        ),
        pytest.param({"state": "ERROR"}, Failed("The workflow failed and gave no reason."), id="?"),
        pytest.param(
            {
                "state": "ERROR",
                "state_info": "task boom failed",
                "output": '{"result": "task boom failed", "resource_id": "half"}',
            },
            Failed("task boom failed", {"resource_id": "half"}),
            id="output-on-error",
        ),
    ],
)
def test_states(
    http: responses.RequestsMock, make: Any, found: dict[str, Any], wanted: object
) -> None:
    assert poll(http, make(), json=execution(**found)) == wanted


@pytest.mark.parametrize(
    ("workflow", "kind"),
    [
        pytest.param({"json": {"interface": '{"output": ["id"]}'}}, Failed, id="declared"),
        pytest.param({"json": {"interface": '{"output": []}'}}, Succeeded, id="none-declared"),
        pytest.param({"json": {"interface": None}}, Succeeded, id="nobody-can-say"),
        pytest.param({"json": fault(GONE), "status": 404}, Succeeded, id="workflow-gone"),
        pytest.param({"json": fault("x"), "status": 503}, Running, id="not-now"),
    ],
)
def test_lost_output_is_noticed(
    http: responses.RequestsMock, make: Any, workflow: Any, kind: type
) -> None:
    http.get(f"{ENDPOINT}/workflows/e9a144b6", **workflow)
    assert isinstance(poll(http, make(), json=execution(state="SUCCESS")), kind)


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        pytest.param(404, {"json": fault("WorkflowExecution not found [id=1]")}, Lost, id="404"),
        pytest.param(
            500, {"json": fault("DBEntityNotFoundError: 404: not found")}, Lost, id="404-in-500"
        ),
        pytest.param(404, HTML, Running, id="page-of-somebody-else"),
        pytest.param(200, HTML, Running, id="page-with-200"),
        pytest.param(401, {"json": fault("no")}, Running, id="401"),
        pytest.param(500, {"json": fault("no")}, Running, id="500"),
        pytest.param(503, {"json": fault("no")}, Running, id="503"),
        pytest.param(400, {"json": fault("no")}, Failed, id="400"),
        pytest.param(200, {"body": requests.ConnectionError("x")}, Running, id="no-connection"),
    ],
)
def test_only_mistral_ends_an_execution(
    http: responses.RequestsMock, make: Any, status: int, answer: Any, kind: type
) -> None:
    assert isinstance(poll(http, make(), status=status, **answer), kind)


def test_a_reason_comes_without_the_frames_of_a_traceback(
    http: responses.RequestsMock, make: Any
) -> None:
    frames = "\n".join(f'  File "x.py", line {n}' for n in range(500))
    text = f"Failed to run [wf=w]\nTraceback (most recent call last):\n{frames}\nValueError: bad"
    found = poll(http, make(), json=execution(state="ERROR", state_info=text))
    assert found.reason == "Failed to run [wf=w]\nValueError: bad"


def test_a_reason_is_not_cut_before_secrets_are_taken_out(
    http: responses.RequestsMock, make: Any
) -> None:
    long = "refused: " + 1000 * "SECRET"
    found = poll(http, make(), json=execution(state="ERROR", state_info=f"{long}\ud800"))
    assert found.reason == f"{long}?"


# -- the rest -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "wanted"),
    [
        pytest.param(200, {}, Cancelled.DONE, id="done"),
        pytest.param(404, fault("WorkflowExecution not found"), Cancelled.DONE, id="gone"),
        pytest.param(500, fault("no"), Cancelled.UNSUPPORTED, id="error"),
    ],
)
def test_cancel(
    http: responses.RequestsMock, make: Any, status: int, body: Any, wanted: Cancelled
) -> None:
    http.put(f"{EXECUTIONS}/{KEY}", status=status, json=body)
    assert make().cancel(TOKEN, "why") == wanted
    assert sent(http) == {"state": "CANCELLED", "state_info": "why"}


def test_only_who_is_told_to_forgets(http: responses.RequestsMock, make: Any) -> None:
    make().forget(TOKEN)
    assert len(http.calls) == 0
    http.delete(f"{EXECUTIONS}/{KEY}", status=204)
    make(forget=True).forget(TOKEN)
    assert len(http.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"json": {"name": "make"}}, id="known"),
        pytest.param({"status": 404, **HTML}, id="page"),
        pytest.param({"status": 403, "json": fault("no")}, id="forbidden"),
        pytest.param({"body": requests.ConnectionError("x")}, id="unreachable"),
    ],
)
def test_a_workflow_is_believed_in_and_asked_about_once(
    http: responses.RequestsMock, make: Any, answer: Any
) -> None:
    http.get(f"{ENDPOINT}/workflows/make", **answer)
    runner = make()
    runner.check("make")
    runner.check("make")
    assert len(http.calls) == 1


@pytest.mark.parametrize("status", [404, 500])
def test_a_workflow_that_mistral_denies_is_told(
    http: responses.RequestsMock, make: Any, status: int
) -> None:
    text = GONE if status == 404 else f"DBEntityNotFoundError: 404: {GONE}"
    http.get(
        f"{ENDPOINT}/workflows/make?namespace=ours&fields=name", status=status, json=fault(text)
    )
    with pytest.raises(ResourceFailure, match="Workflow not found"):
        make(namespace="ours").check("make")


# -- who asks -------------------------------------------------------------------------------

KEYSTONE = "http://keys.example:5000/v3/auth/tokens"
PASSWORD: dict[str, Any] = {
    "auth_url": "http://keys.example:5000",
    "username": "u",
    "password": "pa55",
    "project_name": "p",
}


def log_in(http: responses.RequestsMock, token: str, ends: str = "2999-01-01T00:00:00Z") -> None:
    body = {"token": {"expires_at": ends}}
    http.post(KEYSTONE, status=201, json=body, headers={"X-Subject-Token": token})


def tokens(http: responses.RequestsMock) -> list[str]:
    seen = [call.request for call in http.calls if call.request.url != KEYSTONE]
    return [str(one.headers.get("X-Auth-Token")) for one in seen]


def test_a_token_is_sent_as_it_is_and_never_told(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, status=400, json=fault("not with t0ken"))
    runner = make(token="t0ken")
    answer = runner.start(ask())
    assert tokens(http) == ["t0ken"]
    assert "t0ken" not in answer.result.reason + repr(runner._settings)


def test_a_password_is_changed_into_a_token_that_is_kept(
    http: responses.RequestsMock, make: Any
) -> None:
    log_in(http, "one")
    http.get(f"{EXECUTIONS}/{KEY}", json=execution())
    runner = make(**PASSWORD)
    runner.poll(TOKEN)
    runner.poll(TOKEN)
    assert tokens(http) == ["one", "one"]
    user = sent(http, 0)["auth"]["identity"]["password"]["user"]
    assert user == {"name": "u", "password": "pa55", "domain": {"name": "Default"}}
    assert sent(http, 0)["auth"]["scope"]["project"]["name"] == "p"


def test_a_refused_token_is_renewed_once(http: responses.RequestsMock, make: Any) -> None:
    log_in(http, "one")
    log_in(http, "two")
    http.get(f"{EXECUTIONS}/{KEY}", status=401, json=fault("no"))
    answer = make(**PASSWORD).poll(TOKEN)
    assert tokens(http) == ["one", "two"]
    assert isinstance(answer, Running)


def test_a_token_is_renewed_before_it_ends(
    http: responses.RequestsMock, make: Any, clock: Any
) -> None:
    ends = datetime.fromtimestamp(NOW + 90, UTC)
    log_in(http, "one", ends.isoformat())
    log_in(http, "two")
    http.get(f"{EXECUTIONS}/{KEY}", json=execution())
    runner = make(**PASSWORD)
    runner.poll(TOKEN)
    clock.seconds += 31  # a minute before the end it is used no more
    runner.poll(TOKEN)
    assert tokens(http) == ["one", "two"]


def test_a_wrong_password_fails_and_a_keystone_that_is_down_is_waited_for(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(KEYSTONE, status=401, json={"error": {"message": "pa55 is wrong"}})
    answer = make(**PASSWORD).start(ask())
    assert isinstance(answer, Finished)
    assert "Keystone does not accept" in answer.result.reason
    assert "pa55" not in answer.result.reason
    http.replace(responses.POST, KEYSTONE, status=503)
    assert isinstance(make(**PASSWORD).start(ask()), Retry)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        pytest.param({"endpoint": ""}, "endpoint is missing", id="endpoint"),
        pytest.param({"endpoint": "ftp://x"}, "endpoint must be a URL", id="scheme"),
        pytest.param({"tokn": "x"}, "tokn is no setting", id="unknown"),
        pytest.param({"auth": "basic"}, "auth must be one of none", id="way"),
        pytest.param({"auth": "token"}, "there is no token", id="no-token"),
        pytest.param({"auth": "keystone"}, "auth_url, .*missing", id="no-url"),
        pytest.param(
            {**PASSWORD, "project_name": ""},
            "project_name or project_id is missing",
            id="no-project",
        ),
        pytest.param({"token": "a\nb"}, "one line", id="two-lines"),
        pytest.param({"forget": "yes"}, "true or false", id="flag"),
        pytest.param({"namespace": 3}, "must be text", id="text"),
    ],
)
def test_wrong_settings_are_told(make: Any, settings: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        make(**settings)


def test_one_that_is_silent_is_not_waited_for_a_thousand_times(
    http: responses.RequestsMock, make: Any, clock: Any
) -> None:
    http.get(f"{ENDPOINT}/workflows/a", body=requests.ConnectTimeout("x"))
    http.get(f"{ENDPOINT}/workflows/b", json={"name": "b"})
    runner = make()
    runner.check("a")
    runner.check("b")
    assert len(http.calls) == 1
    clock.seconds += 31
    runner.check("b")
    assert len(http.calls) == 2


def test_a_short_secret_takes_no_letters_out_of_what_is_told(
    http: responses.RequestsMock, make: Any, ask: Any
) -> None:
    http.post(EXECUTIONS, status=400, json=fault("Invalid input"))
    assert "Invalid input" in make(token="n").start(ask()).result.reason
