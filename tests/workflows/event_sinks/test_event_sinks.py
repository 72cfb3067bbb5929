"""The event sinks of zonda: payloads, requests, errors."""

from __future__ import annotations

import json
import os
import random
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from zonda.hooks.errors import UsageError
from zonda.hooks.events import EventRecord, SinkError
from zonda.hooks.testing.fakes import FakeClock
from zonda.workflows.client import webhook_signature
from zonda.workflows.event_sinks.log import LogSink
from zonda.workflows.event_sinks.payload import build_payload
from zonda.workflows.event_sinks.webhook import WebhookSink

KEYS = ["whsec_b25l", "whsec_dHdv"]
NOW = 1_700_000_000.5


def record(seq: int = 7, resource: str = "disk", path: str = "web/disk") -> EventRecord:
    return EventRecord(
        *(f"id-{seq}", seq, NOW, "default", "nested-id", "shop", path, resource),
        *("Acme::Disk", "disk-7", "DRIFT", "MISSING", "gone", 3),
    )


def collaborators() -> dict[str, Any]:
    return {"clock": FakeClock(NOW), "random": random.Random(1)}


class Answers:
    """What a receiver got, and what it answers with."""

    def __init__(self) -> None:
        self.port = 0
        self.status = [204]
        self.headers: dict[str, str] = {}
        self.got: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/T0/B0/secret?token=hush"


@pytest.fixture
def receiver() -> Iterator[Answers]:
    known = Answers()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            known.got.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(known.status.pop(0) if len(known.status) > 1 else known.status[0])
            for name, value in known.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    known.port = server.server_port
    thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
    thread.start()
    yield known
    server.shutdown()
    server.server_close()


@pytest.fixture
def make(receiver: Answers) -> Iterator[Any]:
    made: list[WebhookSink] = []

    def build(**section: Any) -> WebhookSink:
        made.append(WebhookSink({"url": receiver.url, **collaborators(), **section}))
        return made[-1]

    yield build
    for sink in made:
        sink.close()


def test_an_event_is_a_signed_request(receiver: Answers, make: Any) -> None:
    make(signing_keys=KEYS, token="t0", headers={"X-From": "zonda"}).deliver([record()])
    [(path, headers, body)] = receiver.got
    assert path == "/T0/B0/secret?token=hush"
    assert headers["webhook-id"] == "id-7"
    assert headers["webhook-timestamp"] == "1700000000"
    for key in KEYS:
        assert (
            webhook_signature.verify([webhook_signature.read_key(key)], headers, NOW, body) is None
        )
    assert headers["authorization"] == "Bearer t0"
    assert headers["x-from"] == "zonda"
    assert headers["content-type"] == "application/json"
    assert json.loads(body) == build_payload(record())


def test_without_a_key_it_is_not_signed_and_still_has_its_id(receiver: Answers, make: Any) -> None:
    make().deliver([record()])
    headers = receiver.got[0][1]
    assert "webhook-signature" not in headers
    assert headers["webhook-id"] == "id-7"


def test_what_is_sent_names_the_way_from_the_stack_at_the_top() -> None:
    told = build_payload(record())
    assert told["type"] == "resource.drift_missing"
    assert told["timestamp"] == "2023-11-14T22:13:20.500Z"
    assert (told["data"]["stack_name"], told["data"]["path"]) == ("shop", "web/disk")
    assert build_payload(record(resource="", path=""))["type"] == "stack.drift_missing"


def test_events_are_sent_in_order_until_one_is_refused(receiver: Answers, make: Any) -> None:
    receiver.status = [200, 202, 500]
    with pytest.raises(SinkError, match=r"^127\.0\.0\.1 answered with 500$") as caught:
        make().deliver([record(1), record(2), record(3), record(4)])
    assert caught.value.delivered == 2
    assert [headers["webhook-id"] for _, headers, _ in receiver.got] == ["id-1", "id-2", "id-3"]


def test_a_receiver_may_say_when_to_come_again(receiver: Answers, make: Any) -> None:
    receiver.status, receiver.headers = [429], {"Retry-After": "17"}
    with pytest.raises(SinkError) as caught:
        make().deliver([record()])
    assert caught.value.delay == 17


def test_it_tells_how_long_one_event_may_take(receiver: Answers, make: Any) -> None:
    assert make().timeout == 15.0
    assert make(connect_timeout=1, answer_timeout=2).timeout == 3.0


def test_redirects_are_not_followed(receiver: Answers, make: Any) -> None:
    receiver.status, receiver.headers = [302], {"Location": "http://127.0.0.1:9/"}
    with pytest.raises(SinkError, match=r"302 \(redirects are not followed\)"):
        make().deliver([record()])


@pytest.mark.parametrize(
    ("url", "says"),
    [
        pytest.param("http://127.0.0.1:9/hush", "127.0.0.1: connection refused", id="nobody"),
        pytest.param("http://169.254.169.254/hush", "is not to be called", id="metadata"),
    ],
)
def test_of_a_url_only_the_host_is_told(make: Any, url: str, says: str) -> None:
    with pytest.raises(SinkError) as caught:
        make(url=url, connect_timeout=2).deliver([record()])
    assert says in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "section",
    [
        pytest.param({"url": ""}, id="no-url"),
        pytest.param({"wait": 3}, id="unknown"),
        pytest.param({"signing_key": "whsec_?"}, id="bad-key"),
    ],
)
def test_a_section_that_is_wrong_makes_no_sink(make: Any, section: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        make(**section)


def test_the_log_is_a_line_for_each_event_in_a_file_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    sink = LogSink({"file": str(file), **collaborators()})
    sink.deliver([record(1), record(2)])
    sink.deliver([record(3)])
    lines = file.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [build_payload(record(n)) for n in (1, 2, 3)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_rotated_log_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    sink = LogSink({"file": str(file), **collaborators()})
    sink.deliver([record(1)])
    file.rename(tmp_path / "old")
    sink.deliver([record(2)])
    assert json.loads(file.read_text())["data"]["seq"] == 2


def test_half_a_line_is_left_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text('{"type": "res')
    LogSink({"file": str(file), **collaborators()}).deliver([record(1)])
    assert json.loads(file.read_text().splitlines()[1])["data"]["seq"] == 1


def test_a_log_may_go_to_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        LogSink({"file": str(pipe), **collaborators()}).deliver([record(1)])
        assert json.loads(os.read(reader, 65536))["data"]["seq"] == 1
    finally:
        os.close(reader)


def test_without_a_file_it_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    LogSink(collaborators()).deliver([record(1)])
    assert json.loads(capsys.readouterr().err)["data"]["seq"] == 1


def test_a_log_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    sink = LogSink({"file": str(tmp_path / "none" / "log"), **collaborators()})
    with pytest.raises(SinkError, match="cannot be written: No such file"):
        sink.deliver([record()])
    with pytest.raises(UsageError):
        LogSink({"fil": "x", **collaborators()})
