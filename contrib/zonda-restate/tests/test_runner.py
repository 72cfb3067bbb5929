"""What is sent to Restate, and what its answers mean."""

from __future__ import annotations

import json
import re
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

INGRESS, ADMIN = "http://restate.example:8080", "http://restate.example:9070"
SEND = f"{INGRESS}/Disk/create/send"
OUTPUT = f"{INGRESS}/restate/invocation/inv_1/output"
ACCEPTED = {"invocationId": "inv_1", "status": "Accepted"}
TOKEN = {"id": "inv_1", "at": 1_700_000_000.0}

Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def world() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def test_a_start_carries_key_and_contract(world: Any, make: Make, request_of: Make) -> None:
    world.post(SEND, json=ACCEPTED, status=202)
    answer = make(token="t0ken").start(request_of(data={"a": 1}, create_key="k0"))
    assert isinstance(answer, Started)
    assert (answer.token["id"], answer.execution_id) == ("inv_1", "inv_1")
    sent = world.calls[0].request
    assert sent.headers["idempotency-key"] == request_of().key
    assert sent.headers["Authorization"] == "Bearer t0ken"
    body = json.loads(sent.body)
    assert (body["action"], body["inputs"], body["data"]) == ("CREATE", {"size": 3}, {"a": 1})
    assert (body["create_request_id"], body["deadline"]) == ("k0", "2023-11-14T22:23:20Z")
    assert "old_inputs" not in body


def test_every_send_is_the_same(world: Any, make: Make, request_of: Make) -> None:
    world.post(SEND, json=ACCEPTED, status=202)
    world.post(SEND, json={**ACCEPTED, "status": "PreviouslyAccepted"}, status=202)
    runner = make()
    first, second = runner.start(request_of()), runner.start(request_of(attempt=2))
    assert first.token == second.token
    assert world.calls[0].request.body == world.calls[1].request.body


@pytest.mark.parametrize(
    ("workflow", "path", "has_header"),
    [
        ("Disk/create", "Disk/create", True),
        ("Disk/north/create", "Disk/north/create", True),
        ("Disk/{resource}/create", "Disk/r-1/create", True),
        ("Flow/{key}/run", "Flow/6b0c6e0e-6f5d-5a5b-9f5c-0d6a5b4c3d2e/run", False),
        ("Disk/../create", "Disk/../create", True),
        ("Disk/a?b#c/create", "Disk/a%3Fb%23c/create", True),
    ],
)
def test_where_a_name_leads(
    world: Any, make: Make, request_of: Make, workflow: str, path: str, has_header: bool
) -> None:
    seen: list[Any] = []

    def answer(request: Any) -> Any:
        seen.append(request)
        return 202, {}, json.dumps(ACCEPTED)

    world.add_callback(responses.POST, re.compile(f"{INGRESS}/.*"), answer)
    assert isinstance(make().start(request_of(workflow)), (Started, Finished))
    if ".." in path:  # nothing may climb out of the service's own path
        assert seen == []
        return
    assert seen[0].url == f"{INGRESS}/{path}/send"
    assert ("idempotency-key" in seen[0].headers) is has_header


@pytest.mark.parametrize("workflow", ["create", "/create", "a/b/c/d", "Disk//create", ""])
def test_a_name_that_leads_nowhere(make: Make, request_of: Make, workflow: str) -> None:
    answer = make().start(request_of(workflow))
    assert isinstance(answer, Finished)
    assert isinstance(answer.result, Failed)
    assert "names no handler of Restate" in answer.result.reason
    with pytest.raises(ResourceFailure, match="names no handler"):
        make().check(workflow)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(
    world: Any, make: Make, request_of: Make, status: int
) -> None:
    world.post(SEND, json={"message": "later"}, status=status)
    answer = make().start(request_of())
    assert isinstance(answer, Retry)
    assert answer.answered
    assert answer.message == f"Restate answered {status}: later"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 301])
def test_other_answers_are_final(world: Any, make: Make, request_of: Make, status: int) -> None:
    world.post(SEND, json={"message": "no"}, status=status, headers={"Location": "http://x/"})
    answer = make().start(request_of())
    assert isinstance(answer, Finished)
    assert answer.result == Failed(f"Restate answered {status}: no", by_runner=True)
    assert len(world.calls) == 1


def test_who_never_answers_is_given_up(
    world: Any, make: Make, request_of: Make, clock: Any
) -> None:
    world.post(SEND, body=requests.ConnectionError("secret detail"))
    runner, memory, sends = make(give_up=10), {}, 0
    while True:
        answer = runner.start(request_of(memory=memory, attempt=sends + 1))
        sends += 1
        if not isinstance(answer, Retry):
            break
        memory = dict(answer.memory)
        clock.advance(answer.delay)
    assert answer.result.reason == (
        "Restate: the connection broke off (given up after 10 s without any answer)"
    )
    assert 3 <= sends <= 12


def test_an_unanswered_send_after_an_answer_is_repeated_to_the_deadline(
    world: Any, make: Make, request_of: Make, clock: Any
) -> None:
    world.post(SEND, body=requests.ReadTimeout())
    runner = make(give_up=1)
    request = request_of(answered=True, memory={"since": clock.now() - 500})
    assert isinstance(runner.start(request), Retry)
    clock.advance(601)
    assert isinstance(runner.start(request), Finished)


@pytest.mark.parametrize(
    ("body", "output", "resource_id"),
    [
        (b'{"resource_id": "d-1", "x": 2}', {"resource_id": "d-1", "x": 2}, "d-1"),
        (b"5", {"result": 5}, None),
        (b"", {}, None),
        (b"null", {"result": None}, None),
    ],
)
def test_an_output(world: Any, make: Make, body: bytes, output: Any, resource_id: Any) -> None:
    world.get(OUTPUT, body=body)
    assert make().poll(TOKEN) == Succeeded(output, resource_id)


@pytest.mark.parametrize("body", [b"<html>", b"[" * 200_000], ids=["html", "nested-too-deep"])
def test_an_output_that_is_no_json(world: Any, make: Make, body: bytes) -> None:
    world.get(OUTPUT, body=body)
    assert make().poll(TOKEN) == Failed("The handler's answer is not JSON.", by_runner=True)


@pytest.mark.parametrize("body", [b'{"a": NaN}', b"1e999", b'"\\ud800"'])
def test_an_output_with_what_json_has_not(world: Any, make: Make, body: bytes) -> None:
    world.get(OUTPUT, body=body)
    assert "holds what JSON has not: NaN" in make().poll(TOKEN).reason


def test_an_acceptance_that_is_nested_too_deep(world: Any, make: Make, request_of: Make) -> None:
    world.post(SEND, body=b"[" * 200_000)
    assert isinstance(make().start(request_of()).result, Failed)


def test_a_run_that_goes_on_is_asked_ever_more_rarely(world: Any, make: Make, clock: Any) -> None:
    world.get(OUTPUT, json={"code": 470}, status=470)
    runner = make()
    young = runner.poll(TOKEN)
    clock.advance(3600)
    old = runner.poll(TOKEN)
    assert isinstance(young, Running)
    assert young.poll_after <= 0.25
    assert 7.5 <= old.poll_after <= 15


@pytest.mark.parametrize("status", [404, 409, 500, 507])
def test_a_handler_that_fails_chooses_its_status(world: Any, make: Make, status: int) -> None:
    headers = {"x-restate-error-source": "invocation"}
    world.get(OUTPUT, json={"message": "no capacity"}, status=status, headers=headers)
    assert make().poll(TOKEN) == Failed("no capacity")


def test_an_invocation_that_nobody_knows_is_lost(world: Any, make: Make) -> None:
    headers = {"x-restate-error-source": "ingress"}
    world.get(OUTPUT, json={"message": "invocation not found"}, status=404, headers=headers)
    answer = make().poll(TOKEN)
    assert isinstance(answer, Lost)
    assert "invocation not found" in answer.reason


@pytest.mark.parametrize("status", [401, 500, 503])
def test_trouble_on_the_way_ends_nothing(world: Any, make: Make, status: int) -> None:
    headers = {"x-restate-error-source": "ingress"}
    world.get(OUTPUT, json={"message": "later"}, status=status, headers=headers)
    assert isinstance(make().poll(TOKEN), Running)


def test_an_output_that_is_too_large(world: Any, make: Make) -> None:
    world.get(OUTPUT, body=b" " * (1024 * 1024 + 1))
    answer = make().poll(TOKEN)
    assert isinstance(answer, Failed)
    assert "larger than 1048576 bytes" in answer.reason


@pytest.mark.parametrize(
    ("status", "cancelled"),
    [
        (202, Cancelled.ACCEPTED),
        (200, Cancelled.DONE),
        (409, Cancelled.DONE),
        (503, Cancelled.UNSUPPORTED),
    ],
)
def test_a_cancel(world: Any, make: Make, status: int, cancelled: Cancelled) -> None:
    world.patch(f"{ADMIN}/invocations/inv_1/cancel", status=status)
    assert make(admin=ADMIN).cancel(TOKEN, "why") is cancelled


def test_without_the_admin_api_nothing_is_cancelled_or_looked_up(make: Make) -> None:
    assert make().cancel(TOKEN, "why") is Cancelled.UNSUPPORTED
    make().check("Disk/create")


def test_a_handler_is_looked_up(world: Any, make: Make) -> None:
    described = f"{ADMIN}/services/Disk/handlers"
    world.get(f"{described}/create", json={"name": "create"})
    world.get(f"{described}/nope", json={"message": "does not exist"}, status=404)
    world.get(f"{described}/unsure", status=503)
    runner = make(admin=ADMIN)
    runner.check("Disk/create")
    runner.check("Disk/{key}/create")
    runner.check("Disk/unsure")
    with pytest.raises(ResourceFailure, match="Restate knows no Disk/nope: does not exist"):
        runner.check("Disk/nope")


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"endpoint": ""}, "endpoint is missing"),
        ({"endpoint": "ftp://x"}, "endpoint must be a URL"),
        ({"endpoint": "http://user:pw@x"}, "must hold no credentials"),
        ({"admin": "x"}, "admin must be a URL"),
        ({"tokn": "x"}, "tokn is no setting of a restate runner"),
        ({"token": "a\nb"}, "one line"),
        ({"give_up": -1}, "give_up must be above 0"),
        ({"endpoint": 5}, "endpoint must be text"),
    ],
)
def test_wrong_settings(make: Make, section: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make(**section)


def test_the_token_is_in_no_reason(world: Any, make: Make, request_of: Make) -> None:
    world.post(SEND, json={"message": "bad t0ken-t0ken"}, status=401)
    runner = make(token="t0ken-t0ken")
    answer = runner.start(request_of())
    assert answer.result.reason == "Restate answered 401: bad (hidden)"
    assert "t0ken" not in repr(runner._settings)
