"""Callbacks: addresses, messages, and runners that wait for them."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import responses
from tests.workflows.conftest import KEY, NOW, StillClock

from zonda.hooks.errors import UsageError
from zonda.hooks.runners import Failed, Finished, Lost, Retry, Running, Started, Succeeded
from zonda.hooks.runners.waking import Waker, keep_waker
from zonda.workflows.http_contract.callback_store import Callbacks, CallbackStatus
from zonda.workflows.http_runner.callback_watch import CallbackWatch
from zonda.workflows.http_runner.runner import HttpRunner
from zonda.workflows.service import server

HOOK = "https://flows.example/hook"
BASE = "http://127.0.0.1:8155"
EXPIRES = int(NOW + 3600)
DONE = {"state": "succeeded", "output": {"a": 1}}


def chance() -> bytes:
    return b"x" * 32


@pytest.fixture
def callbacks(tmp_path: Path) -> Callbacks:
    return Callbacks(tmp_path / "callbacks")


@pytest.fixture
def http() -> Any:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def runner(make_runner: Callable[..., HttpRunner], tmp_path: Path) -> HttpRunner:
    place = {"folder": str(tmp_path / "callbacks"), "url": BASE}
    return make_runner(endpoint="https://flows.example", callback=True, service=place)


def opaque_of(call: Any) -> str:
    told = json.loads(call.request.body)["callback"]["url"]
    assert told.startswith(f"{BASE}/v1/callbacks/")
    return str(told.removeprefix(f"{BASE}/v1/callbacks/"))


# -- the folder -----------------------------------------------------------------------------------


def test_an_address_is_the_same_every_time_and_another_for_every_run(callbacks: Callbacks) -> None:
    first = callbacks.address(KEY, EXPIRES, chance)
    assert callbacks.address(KEY, EXPIRES, lambda: b"y" * 32) == first
    assert callbacks.address("other", EXPIRES, chance) != first
    assert callbacks.address(KEY, EXPIRES + 1, chance) != first
    assert len(first.partition(".")[0]) == 43  # 256 bits


def test_the_secret_is_readable_by_its_owner_only(callbacks: Callbacks, tmp_path: Path) -> None:
    callbacks.address(KEY, EXPIRES, chance)
    secret = tmp_path / "callbacks" / "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert stat.S_IMODE(secret.parent.stat().st_mode) == 0o700
    assert [path.name for path in secret.parent.iterdir()] == ["secret"]


def test_what_was_told_is_there_for_another_process(callbacks: Callbacks, tmp_path: Path) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    assert callbacks.tell(opaque, DONE, NOW) is CallbackStatus.STORED
    assert Callbacks(tmp_path / "callbacks").read_answer(KEY, EXPIRES) == DONE


def test_what_was_told_is_on_the_disk_before_it_is_acknowledged(
    callbacks: Callbacks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    folder = tmp_path / "callbacks"
    synced: list[Any] = []

    def fsync(descriptor: int) -> None:
        what = os.fstat(descriptor)
        found = [one for one in (folder, *folder.iterdir()) if os.path.samestat(one.stat(), what)]
        synced.extend("folder" if one == folder else json.loads(one.read_text()) for one in found)

    monkeypatch.setattr(os, "fsync", fsync)
    assert callbacks.tell(opaque, DONE, NOW) is CallbackStatus.STORED
    assert synced == [{"expires": EXPIRES, "answer": DONE}, "folder"]


def test_the_first_final_state_stays(callbacks: Callbacks) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    assert (
        callbacks.tell(opaque, {"state": "running", "progress": 0.5}, NOW) is CallbackStatus.STORED
    )
    assert callbacks.tell(opaque, {"state": "failed"}, NOW) is CallbackStatus.STORED
    assert callbacks.tell(opaque, DONE, NOW) is CallbackStatus.REPEATED
    assert callbacks.tell(opaque, {"state": "running"}, NOW) is CallbackStatus.REPEATED
    assert callbacks.read_answer(KEY, EXPIRES) == {"state": "failed"}


def test_an_address_is_good_until_the_deadline(callbacks: Callbacks) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    assert callbacks.tell(opaque, DONE, EXPIRES + 1) is CallbackStatus.OVER
    assert callbacks.read_answer(KEY, EXPIRES) is None


def test_nothing_is_taken_once_the_run_has_ended_otherwise(callbacks: Callbacks) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    callbacks.end(KEY, EXPIRES, NOW)
    assert callbacks.tell(opaque, DONE, NOW) is CallbackStatus.OVER


def test_what_was_told_may_be_told_again_after_the_end(callbacks: Callbacks) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    callbacks.tell(opaque, DONE, NOW)
    callbacks.end(KEY, EXPIRES, NOW)
    assert callbacks.tell(opaque, DONE, NOW) is CallbackStatus.REPEATED


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: "", id="empty"),
        pytest.param(lambda text: "x.y", id="nonsense"),
        pytest.param(lambda text: text.partition(".")[0], id="the-code-alone"),
        pytest.param(lambda text: "A" + text[1:], id="another-code"),
        pytest.param(lambda text: text + "x", id="longer"),
        pytest.param(lambda text: f"{text.partition('.')[0]}.ay45OTk5OTk5OTk5", id="later-expiry"),
        pytest.param(lambda text: "é.é", id="not-ascii"),
    ],
)
def test_only_addresses_that_were_made_here_are_known(
    callbacks: Callbacks, change: Callable[[str], str]
) -> None:
    opaque = callbacks.address(KEY, EXPIRES, chance)
    assert callbacks.tell(change(opaque), DONE, NOW) is CallbackStatus.UNKNOWN


def test_runs_that_nobody_calls_about_leave_nothing_behind(
    tmp_path: Path,
) -> None:
    """No service needs to run, and every command is a process of its own."""
    now = float(EXPIRES)
    for number in range(60):
        key, expires = f"run {number}", int(now) + 60
        process = Callbacks(tmp_path / "callbacks")
        process.address(key, expires, chance)
        process.end(key, expires, now)
        now += 3600
    assert 20 <= len(list((tmp_path / "callbacks").glob("*.over"))) <= 28


def test_where_no_address_was_ever_made_none_is_known(callbacks: Callbacks) -> None:
    assert callbacks.tell("x.y", DONE, NOW) is CallbackStatus.UNKNOWN
    assert callbacks.read_answer(KEY, EXPIRES) is None


def test_what_was_told_is_forgotten_a_day_after_the_deadline(
    callbacks: Callbacks, tmp_path: Path
) -> None:
    callbacks.tell(callbacks.address(KEY, EXPIRES, chance), DONE, NOW)
    callbacks.address("other", EXPIRES, chance)
    callbacks.end("other", EXPIRES, NOW)
    callbacks.forget(EXPIRES + 86399)
    assert callbacks.read_answer(KEY, EXPIRES) == DONE
    callbacks.forget(EXPIRES + 86401)
    assert {path.name for path in (tmp_path / "callbacks").iterdir()} == {"secret", "forgot"}


# -- the listener ---------------------------------------------------------------------------------


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[str, Callbacks]]:
    (tmp_path / "flows.yaml").write_text("workflows: {hello: {command: echo}}")
    with server.start(
        tmp_path / "flows.yaml", state_dir=tmp_path, token="t", signing_keys=["k"]
    ) as handle:
        yield f"{handle.url}/v1/callbacks", Callbacks(tmp_path / "callbacks")


def soon() -> int:
    return 4_000_000_000  # the service has the machine's clock


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_the_service_takes_a_callback_without_a_token(
    listening: tuple[str, Callbacks], method: str
) -> None:
    url, callbacks = listening
    opaque = callbacks.address(KEY, soon(), chance)
    answer = requests.request(method, f"{url}/{opaque}", json=DONE, timeout=10)
    assert (answer.status_code, answer.json()["callback"]) == (200, "stored")
    assert callbacks.read_answer(KEY, soon()) == DONE
    again = requests.request(method, f"{url}/{opaque}", json={"state": "failed"}, timeout=10)
    assert (again.status_code, again.json()["callback"]) == (200, "repeated")
    assert callbacks.read_answer(KEY, soon()) == DONE


@pytest.mark.parametrize(
    ("expires", "body", "status", "part"),
    [
        pytest.param(soon(), "{", 400, "not JSON", id="no-json"),
        pytest.param(soon(), "[]", 400, "JSON object", id="a-list"),
        pytest.param(soon(), "{}", 400, "The state must be one of running", id="no-state"),
        pytest.param(soon(), '{"state": ["x"]}', 400, "The state", id="strange-state"),
        pytest.param(1_000_000_000, '{"state": "failed"}', 410, "any more", id="expired"),
    ],
)
def test_the_service_refuses_what_is_no_answer_or_too_late(
    listening: tuple[str, Callbacks], expires: int, body: str, status: int, part: str
) -> None:
    url, callbacks = listening
    opaque = callbacks.address(KEY, expires, chance)
    answer = requests.put(f"{url}/{opaque}", data=body, timeout=10)
    assert answer.status_code == status
    assert part in answer.json()["reason"]
    assert callbacks.read_answer(KEY, expires) is None


def test_the_service_knows_no_other_address(listening: tuple[str, Callbacks]) -> None:
    url, callbacks = listening
    callbacks.address(KEY, soon(), chance)
    for path in ("nonsense", "", "a/b"):
        assert requests.put(f"{url}/{path}", json=DONE, timeout=10).status_code == 404
    assert requests.get(f"{url}/nonsense", timeout=10).status_code == 401


# -- the runner -----------------------------------------------------------------------------------


def test_the_request_names_the_address_and_is_the_same_on_every_send(
    http: responses.RequestsMock, runner: HttpRunner, request_for: Callable[..., Any]
) -> None:
    http.post(HOOK, status=503)
    first = runner.start(request_for())
    assert isinstance(first, Retry)
    runner.start(request_for(attempt=2, answered=True, memory=first.memory))
    bodies = [call.request.body for call in http.calls]
    assert bodies[0] == bodies[1]
    assert json.loads(bodies[0])["callback"]["expires"] == "2026-09-21T15:13:20Z"


def test_without_the_setting_no_address_is_sent(
    http: responses.RequestsMock, make_runner: Callable[..., HttpRunner], request_for: Any
) -> None:
    http.post(HOOK, json={})
    make_runner(endpoint="https://flows.example").start(request_for())
    assert "callback" not in json.loads(http.calls[0].request.body)


def test_what_was_told_ends_the_run_and_the_status_url_is_asked_once_a_minute(
    http: responses.RequestsMock,
    runner: HttpRunner,
    request_for: Any,
    clock: StillClock,
    callbacks: Callbacks,
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1", "Retry-After": "1"})
    asked = http.get("https://flows.example/runs/1", json={"state": "running", "retry_after": 1})
    started = runner.start(request_for())
    assert isinstance(started, Started)
    token, seen = started.token, []
    for _ in range(25):
        clock.seconds += 5
        answer = runner.poll(token)
        assert isinstance(answer, Running)
        assert answer.poll_after is not None
        assert answer.poll_after <= 5
        token = answer.token or token
        seen.append(asked.call_count)
    assert (seen[10], seen[11], seen[22], seen[23]) == (0, 1, 1, 2)
    callbacks.tell(opaque_of(http.calls[0]), DONE, clock.seconds)
    assert runner.poll(token) == Succeeded({"a": 1}, None)
    assert runner.poll(token) == Succeeded({"a": 1}, None)  # after a crash


def test_a_callback_wakes_the_run_whoever_has_stored_it(
    http: responses.RequestsMock,
    runner: HttpRunner,
    request_for: Any,
    clock: StillClock,
    tmp_path: Path,
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1"})
    rung = threading.Event()
    with keep_waker(Waker(rung.set)):
        started = runner.start(request_for())
        assert isinstance(started, Started)
        assert isinstance(runner.poll(started.token), Running)
        other = Callbacks(tmp_path / "callbacks")
        other.tell(other.address("other", EXPIRES, chance), DONE, clock.seconds)
        assert not rung.is_set()
        other.tell(opaque_of(http.calls[0]), DONE, clock.seconds)
        assert rung.wait(20.0)
        assert runner.poll(started.token) == Succeeded({"a": 1}, None)
    runner.close()


def test_files_of_one_tick_are_all_seen(tmp_path: Path) -> None:
    watch, rung = CallbackWatch(tmp_path), []
    watch.close()  # the looks are made here
    for name in ("a", "b"):
        watch.add(tmp_path / name, Waker(lambda name=name: rung.append(name)))
    for name in ("a", "b"):
        (tmp_path / name).touch()
        os.utime(tmp_path, ns=(0, 1))
        watch.look()
    watch.look()
    assert rung == ["a", "b"]


def test_a_lost_callback_is_no_hang(
    http: responses.RequestsMock,
    runner: HttpRunner,
    request_for: Any,
    clock: StillClock,
    callbacks: Callbacks,
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1"})
    http.get("https://flows.example/runs/1", json=DONE)
    started = runner.start(request_for())
    assert isinstance(started, Started)
    assert isinstance(runner.poll(started.token), Running)
    clock.seconds += 61
    assert runner.poll(started.token) == Succeeded({"a": 1}, None)
    opaque = opaque_of(http.calls[0])
    assert callbacks.tell(opaque, {"state": "failed"}, clock.seconds) is CallbackStatus.OVER


def test_a_section_that_has_callbacks_no_more_polls_as_usual(
    http: responses.RequestsMock,
    runner: HttpRunner,
    make_runner: Callable[..., HttpRunner],
    request_for: Any,
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1"})
    http.get("https://flows.example/runs/1", json=DONE)
    started = runner.start(request_for())
    assert isinstance(started, Started)
    later = make_runner(endpoint="https://flows.example")
    assert later.poll(started.token) == Succeeded({"a": 1}, None)


def test_a_run_that_is_lost_and_sent_again_may_still_call(
    http: responses.RequestsMock,
    runner: HttpRunner,
    request_for: Any,
    clock: StillClock,
    callbacks: Callbacks,
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1"})
    http.get("https://flows.example/runs/1", status=404)
    started = runner.start(request_for(action="DELETE"))
    assert isinstance(started, Started)
    clock.seconds += 61
    assert isinstance(runner.poll(started.token), Lost)
    assert callbacks.tell(opaque_of(http.calls[0]), DONE, clock.seconds) is CallbackStatus.STORED
    again = runner.start(request_for(action="DELETE", attempt=2, answered=True))
    assert isinstance(again, Finished)


def test_a_run_that_is_cancelled_may_call_no_more(
    http: responses.RequestsMock, runner: HttpRunner, request_for: Any, callbacks: Callbacks
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1"})
    started = runner.start(request_for())
    assert isinstance(started, Started)
    runner.cancel(started.token, "not wanted any more")
    assert callbacks.tell(opaque_of(http.calls[0]), DONE, NOW) is CallbackStatus.OVER


def test_progress_may_be_told(
    http: responses.RequestsMock, runner: HttpRunner, request_for: Any, callbacks: Callbacks
) -> None:
    http.post(HOOK, status=202, headers={"Location": "/runs/1"})
    started = runner.start(request_for())
    assert isinstance(started, Started)
    told = {"state": "running", "message": "2 of 3", "progress": 0.66}
    callbacks.tell(opaque_of(http.calls[0]), told, NOW)
    answer = runner.poll(started.token)
    assert isinstance(answer, Running)
    assert (answer.message, answer.progress) == ("2 of 3", 0.66)


def test_without_a_place_to_poll_the_request_is_sent_again_once_a_minute(
    http: responses.RequestsMock,
    runner: HttpRunner,
    request_for: Any,
    clock: StillClock,
    callbacks: Callbacks,
) -> None:
    http.post(HOOK, status=202)
    memory: Any = {}
    attempt, sends = 1, []
    for _ in range(26):
        answer = runner.start(request_for(attempt=attempt, answered=True, memory=memory))
        assert isinstance(answer, Retry)
        assert answer.accepted
        assert not answer.message.startswith("waiting for ")  # which would mean: not sent
        memory, attempt = answer.memory, attempt + 1
        sends.append(len(http.calls))
        clock.seconds += answer.delay
    assert sends[:2] == [1, 1]
    assert sends[-1] == 3
    assert [call.request.headers["Zonda-Attempt"] for call in http.calls] == ["1", "2", "3"]
    callbacks.tell(opaque_of(http.calls[0]), {"state": "failed", "reason": "no"}, clock.seconds)
    ended = runner.start(request_for(attempt=attempt, answered=True, memory=memory))
    assert isinstance(ended, Finished)
    assert isinstance(ended.result, Failed)
    assert ended.result.reason == "no"
    assert len(http.calls) == 3


def test_an_answer_at_once_needs_no_callback(
    http: responses.RequestsMock, runner: HttpRunner, request_for: Any, callbacks: Callbacks
) -> None:
    http.post(HOOK, json={"a": 1})
    assert isinstance(runner.start(request_for()), Finished)
    assert callbacks.tell(opaque_of(http.calls[0]), DONE, NOW) is CallbackStatus.OVER


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        pytest.param({"callback": "yes"}, "true or false", id="no-flag"),
        pytest.param({"callback": True}, "made with a service", id="no-service"),
        pytest.param(
            {"callback": True, "service": {"folder": "x", "url": ""}}, "callback_url", id="no-url"
        ),
        pytest.param(
            {
                "callback": True,
                "service": {"folder": "x", "url": BASE},
                "callback_url": "https://u:p@x.example",
            },
            "callback_url",
            id="credentials",
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(
    make_runner: Callable[..., HttpRunner], settings: dict[str, Any], part: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_runner(endpoint="https://flows.example", **settings)
    assert part in f"{caught.value.message} {caught.value.hint}"
