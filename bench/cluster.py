"""One server and many trees: small stacks, a large one, a take-over after `kill -9`, and rest.

The only argument is the number of small stacks of 5 resources (10,000 else). The large stack has as
many resources; a fiftieth of it are the trees that wait for a runner while the server is killed.
The clients live in this process, the server in its own; CPU seconds are those of the server with
all its threads. Linux only (`/proc`).
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from serving import SERVE, Connection, Server, make_template, post, report, start

WRITERS = 4
IDLE_SECONDS = 20.0
ACTIONS = {action: {"workflow": "wait"} for action in ("CREATE", "DELETE")}
WAITING = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "r": {"type": "OS::Mistral::ExternalResource", "properties": {"actions": ACTIONS}}
    },
}


class Runner(ThreadingHTTPServer):
    """A runner whose runs end when ``ends`` is set. ``polls``: by key, when it was last asked."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        self.ends = threading.Event()
        self.polls: dict[str, float] = {}
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, key: str) -> tuple[int, dict[str, Any]]:
        """The status and the body of an answer about a run."""
        self.polls[key] = time.perf_counter()
        if self.ends.is_set():
            return 200, {"state": "succeeded", "resource_id": key}
        return 202, {"state": "running", "retry_after": 1}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The server is killed in the middle of its requests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Runner

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._say(self.headers["Idempotency-Key"])

    def do_GET(self) -> None:
        self._say(self.path.rpartition("/")[2])

    def _say(self, key: str) -> None:
        is_run = self.command == "POST" or key in self.server.polls
        status, body = self.server.answer(key) if is_run else (404, {})
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Location", f"/runs/{key}")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing to say."""


def wait_for_rest(connection: Connection) -> None:
    """Wait until no stack is in progress."""
    while b'"id"' in connection.ask("GET", "/v1/default/stacks?status=IN_PROGRESS&limit=1")[1]:
        time.sleep(0.05)


def post_all(server: Server, name: str, template: Any, count: int) -> None:
    """Post as many stacks over several connections at once."""

    def work(first: int) -> None:
        connection = server.connect()
        for number in range(first, count, WRITERS):
            post(connection, f"{name}-{number}", template)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def bench_small(server: Server, count: int) -> None:
    """Many stacks of 5 resources, from the first POST until all are complete."""
    cpu, wall = server.cpu, time.perf_counter()
    post_all(server, "small", make_template(5), count)
    accepted = time.perf_counter() - wall
    wait_for_rest(server.connect())
    wall = time.perf_counter() - wall
    spent = server.cpu - cpu
    report(
        "stacks_of_5",
        stacks=count,
        cpu_s=round(spent, 2),
        cpu_ms_each=round(spent / count * 1000, 2),
        wall_s=round(wall, 2),
        accepted_s=round(accepted, 2),
        stacks_per_s=round(count / wall, 1),
    )


def bench_large(server: Server, count: int) -> None:
    """One stack of so many resources: created and deleted."""
    connection, what = server.connect(), {"resources": count}
    path = ""
    for action in ("create", "delete"):
        cpu, wall = server.cpu, time.perf_counter()
        if action == "create":
            path = post(connection, "large", make_template(count))
        else:
            connection.ask("DELETE", path)
        wait_for_rest(connection)
        spent = {"cpu_s": server.cpu - cpu, "wall_s": time.perf_counter() - wall}
        rounded = {name: round(seconds, 2) for name, seconds in spent.items()}
        report(f"large_{action}", **what, **rounded)


def bench_idle(server: Server) -> None:
    """A server that has nothing to do."""
    cpu, wall = server.cpu, time.perf_counter()
    time.sleep(IDLE_SECONDS)
    spent = (server.cpu - cpu) / (time.perf_counter() - wall)
    report("idle", cpu_percent=round(spent * 100, 2), of_bar=round(spent / 0.005, 2))


def bench_take_over(home: str, runner: Runner, count: int) -> None:
    """Trees that wait for a runner: from `kill -9` until each is asked about by the next server."""
    with start(SERVE, home) as server:
        post_all(server, "waits", WAITING, count)
        while len(runner.polls) < count:
            time.sleep(0.05)
        server.process.kill()
        server.process.wait()
    killed = time.perf_counter()
    with start(SERVE, home) as server:
        ready = time.perf_counter()
        while min(runner.polls.values()) < killed:
            time.sleep(0.02)
        taken_over, spent = time.perf_counter(), server.cpu
        report(
            "take_over",
            trees=count,
            ready_s=round(ready - killed, 2),
            wall_s=round(taken_over - killed, 2),
            cpu_s=round(spent, 2),
        )
        runner.ends.set()
        wait_for_rest(server.connect())


def main(count: int) -> None:
    """All measurements in one home."""
    runner = Runner()
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "zonda.toml").write_text(
            'default_runner = "bench"\n[runners.bench]\nkind = "http"\n'
            f'endpoint = "http://127.0.0.1:{runner.server_port}"\n'
        )
        with start(SERVE, home) as server:
            bench_small(server, count)
            bench_large(server, count)
            bench_idle(server)
        bench_take_over(home, runner, max(count // 50, 1))


main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
