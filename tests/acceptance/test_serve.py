"""``zonda serve`` as a process: it starts without settings, answers, and ends without loss."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app.app import build_app
from zonda.core.settings import settings as loading

PATIENCE = 120.0
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"a": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
}


@dataclass
class Server:
    """A running server. ``url``: its address."""

    process: subprocess.Popen[str]
    url: str

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the body of an answer, redirects followed for GET."""
        url = path if "://" in path else f"{self.url}/v1/default{path}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        request.method = method
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                text = reply.read()
                return reply.status, json.loads(text) if text[:1] in (b"{", b"n") else None
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text[:1] == b"{" else None

    def end(self, number: int = signal.SIGTERM) -> int:
        """End the process; gives its code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


class Home:
    """A home in which servers are started, one after the other or beside each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, *words: str, **settings: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", "zonda", "serve", "--ready", "ready", *words]
        environ = {**os.environ, "ZONDA_HOME": str(self.folder), "ZONDA_LOG": "off", **settings}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
        )
        self.processes.append(process)
        return process

    def serve(self, **settings: str) -> Server:
        """A server that listens."""
        process = self.start("--address", "127.0.0.1:0", **settings)
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        if line != "ready\n":
            raise AssertionError(process.stderr.read())
        said = next(line for line in process.stderr if "zonda at " in line)
        return Server(process, said.partition("zonda at ")[2].partition(";")[0])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    yield made
    for process in made.processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_stack_lives_through_the_api_and_the_command_line(home: Home) -> None:
    server = home.serve()
    status, made = server.ask("POST", "/stacks", {"stack_name": "s", "template": TEMPLATE})
    assert status == 201
    place = made["stack"]["links"][0]["href"]
    shown = subprocess.run(
        [sys.executable, "-P", "-m", "zonda", "stack", "wait", "s"],
        env={**os.environ, "ZONDA_HOME": str(home.folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    status, found = server.ask("GET", "/stacks/s")
    assert (status, found["stack"]["stack_status"]) == (200, "CREATE_COMPLETE")
    assert server.ask("DELETE", place)[0] == 204
    assert server.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_was_acknowledged_is_there_after_the_end(home: Home, number: int) -> None:
    server = home.serve()
    names = [f"s{count}" for count in range(5)]
    for name in names:
        body = {"stack_name": name, "template": TEMPLATE}
        assert server.ask("POST", "/stacks", body)[0] == 201
    assert server.end(number) == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    again = home.serve()
    _, found = again.ask("GET", "/stacks?sort_keys=stack_name&sort_dir=asc")
    assert [row["stack_name"] for row in found["stacks"]] == names
    assert again.end() == 0
    app = build_app(loading.load_settings({"home": str(home.folder)}, {}))
    try:
        for name in names:
            running = app.engine.wait(name)
            assert app.engine.look(running.stack_id, PATIENCE).state == "CREATE_COMPLETE"
    finally:
        app.close()


def test_a_second_server_is_refused(home: Home) -> None:
    server = home.serve()
    other = home.start("--address", "127.0.0.1:0")
    _, said = other.communicate(timeout=PATIENCE)
    assert other.returncode == 1
    assert f"process {server.process.pid}" in said
    assert server.end() == 0


def test_an_address_that_is_taken_is_told(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = home.start("--address", f"127.0.0.1:{port}")
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert f"Nothing can listen on 127.0.0.1:{port}" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("settings", "words", "says"),
    [
        ({}, ("--address", "0.0.0.0:0"), "loopback addresses only"),
        ({}, ("--address", "x"), "HOST:PORT"),
        ({"ZONDA_IDENTITY": "keystone"}, ("--address", "127.0.0.1:0"), "keystone_url"),
    ],
)
def test_settings_that_cannot_be_served_are_told_at_once(
    home: Home, settings: dict[str, str], words: tuple[str, ...], says: str
) -> None:
    process = home.start(*words, **settings)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert says in said
    assert "Traceback" not in said


def test_a_token_of_the_file_is_asked_for(home: Home) -> None:
    server = home.serve(ZONDA_IDENTITY="tokens")
    assert server.ask("GET", "/stacks")[0] == 401
    assert server.ask("GET", server.url)[0] == 300
    assert server.end() == 0
