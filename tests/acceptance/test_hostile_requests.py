"""Bytes that no client should send to a server: none is a 500, and the next request is answered."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 120.0
DEEP = b"[" * 1000 + b"]" * 1000
HEAT, OWN = b"/v1/default/stacks", b"/zonda/v1/default/actions"
WRITES = (HEAT, OWN, b"/zonda/v1/default/read/stacks.find", b"/ui/default/new", b"/ui/sign-in")
SIGNALS = (b"/signal/v1/x", b"/callback/v1/x", b"/v1/default/validate")
#: Parts of paths that are no text, or none of a name.
ODD_PARTS = (b"%ED%A0%80", b"%FF%FE", b"%00", b"a%00b", b"%", b"%zz", b"..%2f..%2fetc%2fpasswd")
PLACES = (
    *(b"/v1/default/stacks/", b"/v1/", b"/ui/", b"/ui/default/stacks/", b"/ui/static/"),
    *(
        b"/zonda/v1/",
        b"/signal/v1/",
        b"/callback/v1/",
        b"/openapi/",
        b"/",
        b"/v1/default/stacks?name=",
    ),
)
BODIES = {
    "deep": DEEP,
    "deep-template": b'{"stack_name": "s", "template": ' + DEEP + b"}",
    "huge-integer": b'{"stack_name": "s", "timeout_mins": ' + b"9" * 10_000 + b"}",
    "huge-exponent": b'{"stack_name": "s", "timeout_mins": 1e999999}',
    "not-a-number": b'{"stack_name": "s", "timeout_mins": NaN}',
    "nul": b'{"stack_name": "\x00", "template": {}}',
    "escaped-nul": b'{"stack_name": "\\u0000", "template": "\\u0000"}',
    "surrogate": b'{"stack_name": "\\ud800", "template": {"\\udfff": 1}}',
    "utf-16": '{"stack_name": "s"}'.encode("utf-16"),
    "not-utf-8": b"\xff\xfe\x00",
    "unclosed": b'{"stack_name": "s"',
    "same-key-often": b"{" + b'"template": {}, ' * 500 + b'"stack_name": "s"}',
    "many-fields": b"&".join(b"f%d=x" % number for number in range(20_000)),
    "odd-multipart": b'--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n--b',
}
KINDS = (
    *(b"application/json", b"text/plain", b"application/x-www-form-urlencoded"),
    *(b"multipart/form-data; boundary=b", b"multipart/form-data", b"\xff/\xff; charset=\xff"),
)
#: Requests that are none of HTTP's: what follows the first line, and whether its end is cut off.
BROKEN = {
    "chunk-size-of-no-number": b"transfer-encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n",
    "chunk-size-of-less-than-none": b"transfer-encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
    "chunk-of-too-many-bytes": b"transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
    "chunk-without-its-end": b"transfer-encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n",
    "unknown-encoding": b"transfer-encoding: nonsense\r\ncontent-length: 2\r\n\r\n{}",
    "length-and-chunks": b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    "two-lengths": b"content-length: 2\r\ncontent-length: 3\r\n\r\n{} ",
    "length-of-no-number": b"content-length: two\r\n\r\n{}",
    "length-of-less-than-none": b"content-length: -2\r\n\r\n{}",
    "length-of-too-many": b"content-length: " + b"9" * 100 + b"\r\n\r\n{}",
    "truncated-body": b'content-length: 900\r\n\r\n{"stack_name": ',
    "truncated-head": b"content-len",
    "compressed": b"content-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x08",
    "header-of-20-KiB": b"x-long: " + b"x" * 20_480 + b"\r\ncontent-length: 2\r\n\r\n{}",
    "2000-headers": b"x: y\r\n" * 2000 + b"content-length: 2\r\n\r\n{}",
    "token-of-no-text": b"x-auth-token: \xff\xfe\r\ncontent-length: 2\r\n\r\n{}",
    "cookie-of-no-text": b"cookie: zonda=\xff; a=%00; =;;\r\ncontent-length: 2\r\n\r\n{}",
    "header-without-a-colon": b"nonsense\r\n\r\n",
    "header-over-two-lines": b"x: a\r\n b\r\ncontent-length: 2\r\n\r\n{}",
    "position-of-no-number": b"last-event-id: \xff\r\ncontent-length: 2\r\n\r\n{}",
    "trace-of-nonsense": b"traceparent: \xff-00-0\r\ncontent-length: 2\r\n\r\n{}",
}


class Target:
    """A server and the address of its socket."""

    def __init__(self, home: Path) -> None:
        words = ["serve", "--ready", "ready", "--address", "127.0.0.1:0"]
        environ = {**os.environ, "ZONDA_HOME": str(home), "ZONDA_LOG": "off"}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "zonda", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environ,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        host, _, port = json.loads((home / "serve.json").read_text())["url"][7:].rpartition(":")
        self.address = (host, int(port))
        self.host = f"host: {host}:{port}\r\nconnection: close\r\n".encode()

    def send(self, data: bytes, is_end: bool = False) -> bytes:
        """Everything that the server says. ``is_end``: no more comes, whatever the bytes say."""
        with socket.create_connection(self.address, PATIENCE) as opened:
            try:
                opened.sendall(data)
                if is_end:
                    opened.shutdown(socket.SHUT_WR)
                said = b""
                while part := opened.recv(65536):
                    said += part
            except ConnectionError:  # the server was faster than the client
                return b""
        return said

    def attack(self, data: bytes, is_end: bool = False) -> bytes:
        """The answer, which is no failure of the server and leaves it alive."""
        said = self.send(data, is_end)
        assert not said.startswith(b"HTTP/1.1 5"), (data[:200], said[:1000])
        assert b" 200 OK\r\n" in self.send(
            b"GET /v1/default/stacks HTTP/1.1\r\n" + self.host + b"\r\n"
        )
        return said

    def post(self, path: bytes, body: bytes, kind: bytes) -> bytes:
        """The answer to a body; see ``attack``."""
        head = b"content-type: %b\r\ncontent-length: %d\r\n" % (kind, len(body))
        same = b"origin: http://127.0.0.1:%d\r\nidempotency-key: k\r\n" % self.address[1]
        line = b"POST " + path + b" HTTP/1.1\r\n"
        return self.attack(line + self.host + head + same + b"\r\n" + body)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    made = Target(tmp_path_factory.mktemp("home"))
    yield made
    made.process.send_signal(signal.SIGTERM)
    _, said = made.process.communicate(timeout=PATIENCE)
    assert made.process.returncode == 0
    assert "Traceback" not in said


@pytest.mark.parametrize("name", BODIES)
def test_a_body_of_nonsense_is_refused(target: Target, name: str) -> None:
    for path in (*WRITES, *SIGNALS):
        for kind in KINDS:
            said = target.post(path, BODIES[name], kind)
            assert said.startswith(b"HTTP/1.1 4"), (path, kind, said[:300])


@pytest.mark.parametrize("name", BROKEN)
def test_a_request_that_is_none_of_http_ends_nothing(target: Target, name: str) -> None:
    for path in (*WRITES, *SIGNALS, b"/zonda/v1/default/events"):
        said = target.attack(b"POST " + path + b" HTTP/1.1\r\n" + target.host + BROKEN[name], True)
        assert said[:10] in (b"", b"HTTP/1.1 4"), (path, said[:300])


@pytest.mark.parametrize("place", PLACES, ids=bytes.decode)
def test_a_path_that_is_no_text_names_nothing(target: Target, place: bytes) -> None:
    for part in (*ODD_PARTS, b"\xff\xed\xa0\x80", b"x" * 9000):
        for method in (b"GET", b"POST", b"DELETE"):
            target.attack(
                method
                + b" "
                + place
                + part
                + b" HTTP/1.1\r\n"
                + target.host
                + b"content-length: 0\r\n\r\n"
            )


@pytest.mark.parametrize(
    "line",
    [
        *(
            b"",
            b"\r\n\r\n",
            b"\x00" * 500,
            b"GET",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\x16\x03\x01\x02\x00",
        ),
        *(b"GET  HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"),
        *(b"OPTIONS * HTTP/1.1\r\n", b"CONNECT x:1 HTTP/1.1\r\n", b"GET http://[ HTTP/1.1\r\n"),
        *(b"GET / HTTP/1.1\r\nhost: [\r\n\r\n", b"GET / HTTP/1.1\r\nhost: \xff:x\r\n\r\n"),
    ],
)
def test_a_first_line_of_nonsense_ends_nothing(target: Target, line: bytes) -> None:
    target.attack(line, True)
    target.attack(line + target.host + b"\r\n", True)
