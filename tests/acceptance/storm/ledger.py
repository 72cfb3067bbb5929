"""The outside world of the storm: an endpoint of the ``http`` contract that writes down all it did.

It lives in the process that kills, so it outlives every zonda, and it notes whatever must not
happen: an instance made under two keys, a change or a removal of what is not there.
"""

from __future__ import annotations

import http.server
import json
import random
import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Run:
    """One run of a workflow, known by its key."""

    action: str
    instance: str
    thing: str | None
    inputs: dict[str, Any]
    polls: int
    fails: bool = False
    answer: dict[str, Any] | None = None


@dataclass
class Ledger:
    """What was made and what was asked; every method is called under the lock."""

    source: random.Random
    #: physical id -> the inputs that it has
    live: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: physical id -> the instance (zonda's id) that it was made for
    owners: dict[str, str] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    created: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    #: A nested stack replaces what it has before those learn of it that use it outside.
    used_may_go: bool = False
    #: Whether an action that changes nothing, under a key of its own, is a fault.
    watches_doubles: bool = False
    asleep: set[str] = field(default_factory=set)
    #: Things that nobody but the test has removed or changed since their last run.
    touched: set[str] = field(default_factory=set)
    repeated: int = 0
    requests: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    moved: threading.Condition = field(init=False)

    def __post_init__(self) -> None:
        self.moved = threading.Condition(self.lock)

    def start(self, key: str, asked: dict[str, Any]) -> Run:
        """The run of ``key``, begun now if it is new."""
        self._count()
        run = self.runs.get(key)
        if run is not None:
            self.repeated += 1
            return run
        run = self._make_run(asked)
        run.fails = run.action in ("CREATE", "UPDATE") and bool(run.inputs.get("fail"))
        self.runs[key] = run
        getattr(self, f"_{run.action.lower()}")(key, run)
        self._finish(run)
        return run

    def _make_run(self, asked: dict[str, Any]) -> Run:
        resource, inputs = asked["resource"], asked.get("inputs") or {}
        polls = self.source.randrange(2)
        return Run(asked["action"], resource["id"], resource["physical_id"], inputs, polls)

    def poll(self, key: str) -> Run | None:
        """The run of ``key``, one poll nearer to its end."""
        self._count()
        run = self.runs.get(key)
        if run is not None and run.answer is None:
            run.polls -= 1
            self._finish(run)
        return run

    def _count(self) -> None:
        self.requests += 1
        self.moved.notify_all()

    def _create(self, key: str, run: Run) -> None:
        other = self.created.setdefault(run.instance, key)
        if other != key and not self._is_gone_by_hand(run.instance):
            self.faults.append(f"{run.instance} is made twice: {other}, {key}")
        run.thing = f"thing-{len(self.created)}"
        self.live[run.thing] = run.inputs
        self.owners[run.thing] = run.instance

    def _update(self, key: str, run: Run) -> None:
        if run.thing not in self.live:
            self.faults.append(f"{key} changes {run.thing}, which is not there")
        elif not run.fails:
            is_double = self.live[run.thing] == run.inputs and run.thing not in self.touched
            if self.watches_doubles and is_double:
                self.faults.append(f"{key} changes {run.thing} to what it is")
            self.live[run.thing] = run.inputs
            self.touched.discard(run.thing)
        else:
            self.touched.add(run.thing)

    def _suspend(self, key: str, run: Run) -> None:
        if run.thing not in self.live or run.thing in self.asleep:
            self.faults.append(f"{key} suspends {run.thing}, which is gone or asleep")
        self.asleep.add(str(run.thing))

    def _resume(self, key: str, run: Run) -> None:
        if run.thing not in self.asleep:
            self.faults.append(f"{key} resumes {run.thing}, which is awake")
        self.asleep.discard(str(run.thing))

    def _check(self, key: str, run: Run) -> None:
        """Nothing is done; what there is stands in the answer."""

    def change_by_hand(self, thing: str, gone: bool) -> None:
        """Another size, or none at all, behind zonda's back."""
        self.touched.add(thing)
        if gone:
            del self.live[thing]
        else:
            self.live[thing] = {**self.live[thing], "size": -1}

    def _is_gone_by_hand(self, instance: str) -> bool:
        things = [thing for thing, owner in self.owners.items() if owner == instance]
        return all(thing in self.touched and thing not in self.live for thing in things)

    def _delete(self, key: str, run: Run) -> None:
        """Once more does no harm; a removal of another instance's thing, or of a used one, does."""
        if run.thing in self.live:
            users = [thing for thing, known in self.live.items() if run.thing in known["of"]]
            if users and not self.used_may_go:
                self.faults.append(f"{key} removes {run.thing}, which {users} use")
            if self.owners[run.thing] != run.instance:
                self.faults.append(f"{key} of {run.instance} removes {run.thing} of another")
            del self.live[run.thing]
            self.asleep.discard(run.thing)

    def _is_over(self, run: Run) -> bool:
        return run.polls <= 0

    def _finish(self, run: Run) -> None:
        if not self._is_over(run):
            return
        if run.fails:
            run.answer = {"state": "failed", "reason": "asked to fail"}
        else:
            run.answer = {"state": "succeeded"}
        if run.action == "CREATE":
            run.answer["resource_id"] = run.thing
        if run.action == "CHECK":
            has = self.live.get(str(run.thing))
            run.answer["output"] = {"exists": False} if has is None else {"inputs": has}


class Endpoint(http.server.ThreadingHTTPServer):
    """Serves a ledger on a free port of this machine."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed in the middle of its request is what this is about."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one piece
    disable_nagle_algorithm = True
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        with self.server.ledger.lock:
            run = self.server.ledger.start(key, asked)
        self._say(run, key)

    def do_GET(self) -> None:
        key = self.path.rsplit("/", 1)[1]
        with self.server.ledger.lock:
            run = self.server.ledger.poll(key)
        self._say(run, key)

    def _say(self, run: Run | None, key: str) -> None:
        if run is None:
            self._answer(404, {"reason": "no such run"})
        elif run.answer is None:
            self._answer(202, {"state": "running", "retry_after": 0.1}, f"/runs/{key}")
        else:
            self._answer(200, run.answer)

    def _answer(self, status: int, body: dict[str, Any], location: str = "") -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing to say."""
