"""Two servers on one PostgreSQL behind a HAProxy without stickiness; one of them is killed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.acceptance.conftest import absent, free_port
from tests.postgresql_server import PostgreSQL

from zonda.core.store.values.sealing import make_key

from .serve_storm.server import PATIENCE, Server
from .serve_storm.streams import Listener

CONFIGURATION = Path(__file__).parents[2] / "contrib" / "container" / "haproxy.cfg"
#: Stacks that are made at once, before and after one server has gone.
STACKS = 6
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "a": {"type": "OS::Heat::TestResource", "properties": {"value": "x", "wait_secs": 1}},
        "b": {"type": "OS::Heat::RandomString", "depends_on": "a"},
    },
}


class Balancer:
    """HAProxy with the configuration that we ship, on ports of the loopback."""

    def __init__(self, folder: Path, servers: list[Server]) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.is_over = False
        self._file = folder / "haproxy.cfg"
        text = CONFIGURATION.read_text().partition("resolvers container\n    parse")[0]
        text = text.replace("bind :8004", f"bind 127.0.0.1:{port}")
        text = text.replace(" init-addr none resolvers container", "")
        for name, server in zip(("one", "two"), servers, strict=True):
            place = server.url.removeprefix("http://")
            text = re.sub(rf"server {name} {name}:8004", f"server {name} {place}", text)
        self._file.write_text(text)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(["haproxy", "-db", "-f", str(self._file)])

    def wait_for_url(self) -> str:
        """The URL for clients of live events."""
        return "" if self.is_over else self.url

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The body of an answer; raises HTTPError and URLError."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.url}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return json.loads(reply.read() or b"null")

    def is_ready(self) -> bool:
        """Whether a server answers."""
        try:
            self.ask("GET", "/v1/default/stacks")
        except OSError:
            return False
        return True


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    """The database of both servers."""
    if shutil.which("haproxy") is None:
        absent("no haproxy: apt-get install haproxy", "ZONDA_HAPROXY_TESTS")
    return postgresql.make_database()


@pytest.fixture
def servers(url: str, tmp_path: Path) -> Iterator[list[Server]]:
    shared = {"ZONDA_DATABASE_URL": url, "ZONDA_KEY": make_key()}
    made = [Server(tmp_path / name, shared) for name in ("one", "two")]
    for server in made:
        server.start()
    yield made
    for server in made:
        server.kill()


@pytest.fixture
def balancer(
    servers: list[Server], tmp_path: Path, until: Callable[..., Any]
) -> Iterator[Balancer]:
    made = Balancer(tmp_path, servers)
    made.start()
    assert made.process is not None
    until(made.is_ready, "a server answers through the load balancer")
    yield made
    made.process.kill()
    made.process.wait()


def create(balancer: Balancer, kind: str) -> list[str]:
    """Begin to create stacks; gives their names."""
    names = [f"{kind}{number}" for number in range(STACKS)]
    for name in names:
        while send(balancer, {"stack_name": name, "template": TEMPLATE}) == 502:
            pass  # the server died with the request: once more, and 409 if it had done it
    return names


def send(balancer: Balancer, body: Any) -> int:
    """Ask for a stack; gives the status of the answer."""
    try:
        balancer.ask("POST", "/v1/default/stacks", body)
    except urllib.error.HTTPError as error:
        return error.code
    return 201


def test_clients_notice_nothing_of_two_servers_and_of_the_end_of_one(
    url: str, servers: list[Server], balancer: Balancer, until: Callable[..., Any]
) -> None:
    news = threading.Condition()
    listeners = [Listener(balancer, news) for _ in range(4)]
    for listener in listeners:
        listener.start()
    until(lambda: all(each.connections for each in listeners), "all listen")
    names = create(balancer, "before")
    until(lambda: count_complete(balancer) >= 1, "some are made")
    servers[0].end(signal.SIGKILL)
    names += create(balancer, "after")
    until(lambda: count_complete(balancer) == len(names), "all are made")
    with psycopg.connect(url) as connection:
        events = {int(number) for (number,) in connection.execute("SELECT seq FROM event")}
    until(lambda: all(len(each.seen) >= len(events) for each in listeners), "all have come")
    balancer.is_over = True
    assert servers[1].end(signal.SIGTERM) < PATIENCE
    for listener in listeners:
        listener.join()
        assert listener.seen == sorted(events)
        assert listener.gaps == 0
        assert {*listener.refusals} <= {502}  # what the load balancer says of a killed server
    # streams of the server that was killed came back at the other one
    assert sorted(each.connections for each in listeners)[-2:] != [1, 1]


def count_complete(balancer: Balancer) -> int:
    """The number of stacks that are made."""
    shown = balancer.ask("GET", "/v1/default/stacks")["stacks"]
    states = [each["stack_status"] for each in shown]
    assert not [state for state in states if "FAILED" in state]
    return states.count("CREATE_COMPLETE")
