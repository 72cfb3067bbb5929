"""``zonda serve`` as a process: it starts without settings, answers, and ends without loss."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import absent
from tests.certificates import make_certificate

from zonda.core.app.app import build_app
from zonda.core.settings import settings as loading
from zonda.core.settings import table

PATIENCE = 120.0
CONTRIB = Path(__file__).parents[2] / "contrib"
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
        url = said.partition("zonda at ")[2].partition(";")[0]
        assert f"Open {url}/ui/" in process.stderr.readline()
        return Server(process, url)


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


def test_a_stream_ends_with_the_server_and_goes_on_with_the_next_one(home: Home) -> None:
    server = home.serve()
    with urllib.request.urlopen(f"{server.url}/zonda/v1/default/events", timeout=PATIENCE) as open_:
        assert open_.readline() == b"id: 0\n"
        body = {"stack_name": "s", "template": TEMPLATE}
        assert server.ask("POST", "/stacks", body)[0] == 201
        assert server.end() == 0
        rest = open_.read().decode()
    assert rest.endswith("retry: 1000\n\n")
    seen = [int(line[4:]) for line in rest.splitlines() if line.startswith("id: ")]
    again = home.serve()
    last = seen[-1] if seen else 0
    url = f"{again.url}/zonda/v1/default/events?after={last}"
    with urllib.request.urlopen(url, timeout=PATIENCE) as open_:
        while seen[-1:] != [4]:
            line = open_.readline().decode()
            if line.startswith("id: "):
                seen.append(int(line[4:]))
    assert seen == [1, 2, 3, 4]
    assert again.end() == 0


def test_a_second_signal_ends_it_at_once(home: Home) -> None:
    server = home.serve()
    slow = {
        **TEMPLATE,
        "resources": {
            "a": {
                "type": "OS::Heat::TestResource",
                "properties": {"action_wait_secs": {"create": 9}},
            }
        },
    }
    assert server.ask("POST", "/stacks", {"stack_name": "s", "template": slow})[0] == 201
    # a request whose body never comes holds up the end
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as held:
        head = "POST /v1/default/stacks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n"
        held.sendall(head.encode())
        assert server.ask("GET", "/stacks")[0] == 200
        server.process.send_signal(signal.SIGTERM)
        while _is_listening(host, int(port)):
            pass
        assert server.end() == -signal.SIGTERM


def _is_listening(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except ConnectionError:
        return False
    return True


def test_commands_of_the_home_say_where_the_server_is(home: Home) -> None:
    server = home.serve()
    record = json.loads((home.folder / "serve.json").read_text())
    assert record == {"url": server.url, "pid": server.process.pid}
    assert (home.folder / "serve.json").stat().st_mode & 0o077 == 0
    other = home.start("--no-api")
    _, said = other.communicate(timeout=PATIENCE)
    assert server.url in said
    assert server.end() == 0
    assert (home.folder / "serve.json").read_text() == ""


def test_a_page_that_leads_another_name_here_gets_nothing(home: Home) -> None:
    server = home.serve()
    for path in ("/v1/default/stacks", "/zonda/v1/default/events", "/ui/"):
        request = urllib.request.Request(f"{server.url}{path}", headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=PATIENCE)
        with caught.value as refused:
            assert refused.code == 400
    assert server.end() == 0


def test_tls_is_spoken_with_a_certificate(home: Home, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    server = home.serve(ZONDA_TLS_CERT=str(certificate), ZONDA_TLS_KEY=str(key))
    assert server.url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=str(certificate))
    with urllib.request.urlopen(f"{server.url}/readyz", timeout=PATIENCE, context=context) as reply:
        assert reply.read() == b"OK"
    assert server.end() == 0


def test_systemd_is_told_when_it_is_ready_and_when_it_stops(home: Home, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as opened:
        opened.bind(str(tmp_path / "notify"))
        opened.settimeout(PATIENCE)
        server = home.serve(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="1000000")
        assert opened.recv(100) == b"READY=1"
        assert opened.recv(100) == b"WATCHDOG=1"
        assert server.end() == 0
        while (state := opened.recv(100)) == b"WATCHDOG=1":
            pass
        assert state == b"STOPPING=1"


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        absent("systemd-analyze is missing: apt-get install systemd", "ZONDA_SYSTEMD_TESTS")
    text = (CONTRIB / "systemd" / "zonda.service").read_text()
    unit = tmp_path / "zonda.service"
    for change, fault in (("", ""), ("WatchdogSecs=30\n", "Unknown key")):
        unit.write_text(text.replace("/opt/zonda/bin/zonda ", f"{sys.executable} -m zonda "))
        unit.write_text(unit.read_text().replace("[Service]\n", f"[Service]\n{change}"))
        done = subprocess.run(
            [program, "verify", unit], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if fault:
            assert fault in done.stderr
        else:
            assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def read_instructions(name: str) -> list[str]:
    """The words behind a name in the Containerfile."""
    lines = (CONTRIB / "container" / "Containerfile").read_text().splitlines()
    return [line.partition(" ")[2] for line in lines if line.startswith(f"{name} ")]


def test_the_health_check_of_the_container_is_green_only_while_the_server_is_ready(
    home: Home, tmp_path: Path
) -> None:
    command = json.loads(read_instructions("HEALTHCHECK")[0].removeprefix("CMD "))
    assert (
        f"COPY contrib/container/health.py {command[1]}"
        in (CONTRIB / "container" / "Containerfile").read_text()
    )

    def check() -> tuple[bool, str]:
        done = subprocess.run(
            [sys.executable, CONTRIB / "container" / "health.py"],
            env={"ZONDA_HOME": str(home.folder), "http_proxy": "http://127.0.0.1:9"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode == 0, done.stderr

    assert check()[0] is False
    certificate, key = make_certificate(tmp_path)
    tls = {"ZONDA_TLS_CERT": str(certificate), "ZONDA_TLS_KEY": str(key)}
    for more in ({}, tls):
        server = home.serve(ZONDA_ALLOWED_HOSTS="zonda.example", ZONDA_IDENTITY="tokens", **more)
        assert check() == (True, "")
        server.end()
        is_ready, said = check()
        assert not is_ready
        assert said.startswith("The server is not ready: ")
        assert "Traceback" not in said


def test_the_container_serves_on_its_port_from_its_volume() -> None:
    lines = read_instructions("ENV")
    settings = dict(pair.split("=") for line in lines for pair in line.split())
    assert settings.pop("PATH").startswith("/opt/zonda/bin:")
    (volume,), (port,) = read_instructions("VOLUME"), read_instructions("EXPOSE")
    assert settings["ZONDA_HOME"] == volume
    assert settings["ZONDA_SERVE_ADDRESS"].endswith(f":{port}")
    known = {f"ZONDA_{name.upper()}" for name in table.Settings.__dataclass_fields__}
    assert {*settings} <= {*known, "ZONDA_HOME"}
    (entry,) = read_instructions("ENTRYPOINT")
    assert json.loads(entry) == ["/opt/zonda/bin/zonda"]
    assert json.loads(read_instructions("CMD")[0]) == ["serve"]
