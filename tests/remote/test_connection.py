"""The connection to a server: what is sent again, and what is said when it fails."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.certificates import make_certificate

from zonda.core.engine.actions.wire import error_to_dict
from zonda.core.remote.account import Account
from zonda.core.remote.connection import Connection, ServerError
from zonda.core.wire.classes import VERSION
from zonda.hooks.errors import NotFound, UsageError

from .conftest import HELLO, PromptClock, Script

ACCEPTED = {"accepted": {"stack_id": "s", "generation": 1, "name": "n"}, "events_before": 7}


def test_an_action_whose_answer_is_lost_is_sent_again_with_its_key(
    connection: Connection, script: Script, clock: PromptClock
) -> None:
    script.answers = [(200, HELLO), None, None, (200, ACCEPTED)]

    assert connection.act('{"action": "DeleteStack", "stack": "x"}', "the-key") == ACCEPTED

    sent = script.asked[1:]
    assert {headers["idempotency-key"] for _, _, headers, _ in sent} == {"the-key"}
    assert len({body for *_, body in sent}) == 1
    assert (len(sent), len(clock.pauses)) == (3, 2)


def test_every_request_has_the_token_and_the_project_of_it(
    connection: Connection, script: Script
) -> None:
    script.answers = [(200, HELLO), (200, {"result": 3})]

    assert connection.read("reader.last_event") == 3
    assert [path for _, path, _, _ in script.asked] == [
        "/zonda/v1/hello",
        "/zonda/v1/p1/read/reader.last_event",
    ]
    assert {headers["x-auth-token"] for _, _, headers, _ in script.asked} == {"sesame"}


def test_a_server_that_asks_nobody_gets_the_project_of_the_settings(
    connection: Connection, script: Script
) -> None:
    script.answers = [(200, {**HELLO, "is_bound": False})]
    assert connection.project == "mine"


def test_a_busy_server_is_asked_again(connection: Connection, script: Script) -> None:
    script.answers = [(200, HELLO), (503, {}), (429, {}), (200, {"result": None})]
    assert connection.read("reader.find_nested_stack", resource_id="r") is None


def test_the_error_of_the_server_is_raised_as_it_was(
    connection: Connection, script: Script
) -> None:
    error = NotFound("Stack", "web", hint="Did you mean wob?")
    script.answers = [(200, HELLO), (404, {"error": error_to_dict(error)})]

    with pytest.raises(NotFound) as caught:
        connection.read("stacks.find", name="web")

    assert (str(caught.value), caught.value.hint) == (str(error), error.hint)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, {"error": {"code": 401}}), "does not accept the token"),
        ((200, {**HELLO, "protocol": VERSION + 1}), f"speaks version {VERSION + 1}"),
        ((200, b"<html>"), "answered with status 200"),
        ((404, b"<html>"), "is no zonda server (status 404)"),
        ((302, b""), "is no zonda server (status 302)"),
        ((200, [1]), "is no zonda server"),
        ((500, {"error": {"message": "no"}}), "answered with status 500: no"),
    ],
)
def test_what_is_no_server_of_this_version_is_told(
    connection: Connection, script: Script, answer: tuple[int, object], said: str
) -> None:
    script.answers = [answer]
    with pytest.raises(ServerError, match=said.replace("(", r"\(").replace(")", r"\)")):
        connection.read("reader.last_event")


def test_an_answer_that_cannot_be_read_names_the_versions(
    connection: Connection, script: Script
) -> None:
    script.answers = [(200, HELLO), (200, {"result": {"$": "ViewOfTomorrow"}})]
    with pytest.raises(ServerError, match="ViewOfTomorrow") as caught:
        connection.read("reader.last_event")
    assert "same version" in caught.value.hint


def test_a_server_that_is_not_there_is_asked_once(clock: PromptClock) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ServerError, match="cannot be reached: connection refused"):
            Connection(Account(url, "p"), clock).read("reader.last_event")
    assert clock.pauses == []


def test_a_server_that_starts_again_is_waited_for() -> None:
    threads: list[threading.Thread] = []

    def start(port: int, *answers: object) -> int:
        listening = socket.create_server(("127.0.0.1", port))
        thread = threading.Thread(target=_answer_each, args=(listening, answers))
        thread.start()
        threads.append(thread)
        return int(listening.getsockname()[1])

    class Restart(PromptClock):
        """Starts the server again in the third pause."""

        def pause(self, seconds: float) -> None:
            super().pause(seconds)
            if len(self.pauses) == 3:
                start(port, {"result": 3})

    port, clock = start(0, HELLO), Restart()
    connection = Connection(Account(f"http://127.0.0.1:{port}", "p"), clock)
    assert connection.project == "p1"
    threads[0].join()

    assert connection.read("reader.last_event") == 3

    assert len(clock.pauses) == 3
    threads[1].join()


def _answer_each(listening: socket.socket, answers: Sequence[object]) -> None:
    """Answer one connection each, then listen no more."""
    with listening:
        for answer in answers:
            said = json.dumps(answer).encode()
            accepted, _ = listening.accept()
            with accepted:
                accepted.recv(65536)
                head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                accepted.sendall(head % len(said) + said)


def test_what_to_do_about_the_files_of_certificates_is_told(
    tmp_path: Path, clock: PromptClock
) -> None:
    account = Account("https://127.0.0.1:9", "p", ca_bundle=str(tmp_path / "none.pem"))
    with pytest.raises(ServerError, match="the ca_bundle or the client") as caught:
        _ = Connection(account, clock).project
    assert "ZONDA_URL_CA_BUNDLE" in caught.value.hint


def test_a_url_must_be_one(clock: PromptClock) -> None:
    for url in ("host:8004", "ftp://host/", "http://"):
        with pytest.raises(UsageError, match=r"no http\(s\) URL"):
            Connection(Account(url, "p"), clock)


def test_a_certificate_that_nobody_vouches_for_is_refused(
    tmp_path: Path, clock: PromptClock
) -> None:
    certificate, key = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"https://127.0.0.1:{listening.getsockname()[1]}"
    hello = json.dumps({**HELLO, "is_bound": True}).encode()
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(hello), hello)

    def answer(number: int) -> None:
        for _ in range(number):
            plain, _ = listening.accept()
            try:
                with context.wrap_socket(plain, server_side=True) as secure:
                    secure.recv(65536)
                    secure.sendall(reply)
            except OSError:
                plain.close()

    thread = threading.Thread(target=answer, args=(2,))
    thread.start()
    with pytest.raises(ServerError, match="TLS failed: the certificate is not accepted") as caught:
        _ = Connection(Account(url, "p"), clock).project
    trusting = Connection(Account(url, "p", ca_bundle=str(certificate)), clock)
    assert trusting.project == "p1"
    thread.join()
    listening.close()
    assert "Set ZONDA_URL_CA_BUNDLE" in caught.value.hint
