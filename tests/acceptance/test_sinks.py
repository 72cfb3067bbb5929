"""Events reach a real receiver: signed, in order, at least once, whoever is killed when."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from zonda.workflows.client import webhook_signature

KEY = "whsec_c2lnbiB0aGlzIHdpdGggbWU="
SECRET = "hunter2-and-more"
TEMPLATE = f"""
heat_template_version: 2018-08-31
parameters:
  password: {{type: string, hidden: true, default: {SECRET}}}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: COUNT
      resource_def:
        type: OS::Heat::TestResource
        properties: {{value: {{get_param: password}}, wait_secs: WAIT}}
"""


@dataclass
class Receiver:
    """A web server that keeps what it gets. ``status``: what it answers with."""

    url: str = ""
    status: int = 204
    hold: threading.Event = field(default_factory=threading.Event)
    hangs: bool = False
    got: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    unsigned: list[str | None] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The events in the order in which they came first."""
        return list(dict.fromkeys(key for key, _ in self.got))

    @property
    def types(self) -> list[str]:
        return [body["type"] for _, body in self.got]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver on a free port of this machine."""
    known = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if known.hangs:
                known.hold.wait(60)
            stamp = float(self.headers.get("webhook-timestamp", "0"))
            keys = [webhook_signature.read_key(KEY)]
            known.unsigned.append(webhook_signature.verify(keys, self.headers, stamp, body))
            if known.status < 300:
                known.texts.append(f"{self.headers}{body.decode()}")
                known.got.append((self.headers["webhook-id"], json.loads(body)))
            self.send_response(known.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    known.url = f"http://127.0.0.1:{server.server_port}/hooks/zonda"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield known
    known.hold.set()
    server.shutdown()
    server.server_close()


def configure(zonda: Any, receiver: Receiver, more: str = "") -> None:
    """Settings with both sinks, and a grace that is longer than any machine needs."""
    zonda.configure(
        "sink_grace = 100\n"
        f'[sinks.hook]\nkind = "webhook"\nurl = "{receiver.url}"\nsigning_key = "{KEY}"\n'
        f'[sinks.log]\nkind = "log"\nfile = "{zonda.home / "events.jsonl"}"\n{more}'
    )


def template(tmp_path: Path, count: int, wait: float = 0) -> Path:
    file = tmp_path / f"group-{count}-{wait}.yaml"
    file.write_text(TEMPLATE.replace("COUNT", str(count)).replace("WAIT", str(wait)))
    return file


def stored(zonda: Any, stack: str) -> list[str]:
    """The ids of all events of a stack, in order."""
    rows = zonda.data("stack", "event", "list", stack, "--nested-depth", "5")
    return [row["id"] for row in rows]


def logged(zonda: Any) -> list[str]:
    lines = (zonda.home / "events.jsonl").read_text().splitlines()
    return [json.loads(line)["data"]["id"] for line in lines]


def state(zonda: Any, name: str = "hook") -> dict[str, Any]:
    return next(row for row in zonda.data("sink", "list") if row["Name"] == name)


def test_a_short_command_delivers_what_it_has_done(
    zonda: Any, receiver: Receiver, tmp_path: Path
) -> None:
    configure(zonda, receiver)
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 3))
    assert receiver.ids == stored(zonda, "s") == logged(zonda)
    assert len(receiver.got) == len(receiver.ids), "nothing came twice"
    assert set(receiver.unsigned) == {None}
    bodies = {body["data"]["path"]: body for _, body in receiver.got}
    assert bodies["group/1"]["data"]["stack_name"] == "s"
    assert receiver.types[0] == "stack.create_in_progress"
    assert receiver.types[-1] == "stack.create_complete"
    assert state(zonda)["State"] == "UP_TO_DATE"
    assert SECRET not in "".join(receiver.texts)
    assert SECRET not in (zonda.home / "events.jsonl").read_text()


def test_a_sink_that_is_added_later_begins_with_what_happens_then(
    zonda: Any, receiver: Receiver, tmp_path: Path
) -> None:
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 1))
    configure(zonda, receiver)
    zonda.run("stack", "delete", "-y", "s")
    assert receiver.types[0] == "stack.delete_in_progress"
    assert receiver.types[-1] == "stack.delete_complete"


@pytest.mark.parametrize("when", [1, 7, 20])
def test_killed_in_the_middle_nothing_is_lost_and_the_order_stays(
    zonda: Any, receiver: Receiver, tmp_path: Path, until: Callable[..., Any], when: int
) -> None:
    configure(zonda, receiver)
    engine = zonda.start("engine", "run")
    lock = zonda.home / "zonda.db.lock"
    until(lambda: lock.exists() and lock.read_text().strip(), "the engine runs")
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 12, 0.3), "--no-wait")
    until(lambda: len(receiver.got) >= when, "some events have come")
    engine.kill()
    engine.wait()
    zonda.start("engine", "run")
    until(lambda: zonda.state("s") == "CREATE_COMPLETE", "the stack is made")
    until(lambda: state(zonda)["State"] == "UP_TO_DATE", "all is delivered")
    until(lambda: state(zonda, "log")["State"] == "UP_TO_DATE", "all is logged")
    assert receiver.ids == stored(zonda, "s")
    assert list(dict.fromkeys(logged(zonda))) == stored(zonda, "s")


def test_a_dead_receiver_holds_up_nobody_and_gets_everything_later(
    zonda: Any, receiver: Receiver, tmp_path: Path, until: Callable[..., Any]
) -> None:
    configure(zonda, receiver)
    receiver.status = 503
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 1))
    assert logged(zonda) == stored(zonda, "s"), "the other sink has got it"
    shown = state(zonda)
    assert shown["State"] == "FAILING"
    assert shown["Error"] == "127.0.0.1 answered with 503"
    assert shown["Waiting"] == len(stored(zonda, "s"))
    receiver.status = 200
    zonda.start("engine", "run")
    until(lambda: receiver.ids == stored(zonda, "s"), "all has come")
    until(lambda: state(zonda)["Failures"] == 0, "it is well again")


def test_a_receiver_that_never_answers_costs_one_command_the_time_of_one_event(
    zonda: Any, receiver: Receiver, tmp_path: Path
) -> None:
    zonda.configure(
        f"sink_grace = 0.5\n"
        f'[sinks.hook]\nkind = "webhook"\nurl = "{receiver.url}"\nanswer_timeout = 3\n'
    )
    receiver.hangs = True
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 1))
    assert state(zonda)["Failures"] == 1
    requests = len(receiver.unsigned)
    zonda.run("stack", "list")
    assert len(receiver.unsigned) == requests
    zonda.run("sink", "skip", "hook")
    assert state(zonda)["State"] == "UP_TO_DATE"


def test_a_test_event(zonda: Any, receiver: Receiver) -> None:
    configure(zonda, receiver)
    zonda.run("sink", "test", "hook")
    assert receiver.types == ["stack.test_complete"]
    receiver.status = 500
    assert "answered with 500" in zonda.run("sink", "test", "hook", code=1).stderr
    assert "sinks.NAME" in zonda.run("sink", "test", "other", code=1).stderr


def test_a_sink_of_an_unknown_kind_is_told_of_and_harms_nobody(zonda: Any, tmp_path: Path) -> None:
    zonda.configure('sink_grace = 100\n[sinks.x]\nkind = "pager"\n')
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 1))
    assert "No plug-in brings event sinks of kind pager" in state(zonda, "x")["Error"]


PLUGIN = """
from zonda.hooks.markers import hookimpl
from zonda.hooks.events import EventSink

class Bell(EventSink):
    def __init__(self, section):
        self.file = section["bell"]
    def deliver(self, events):
        with open(self.file, "a") as out:
            for event in events:
                out.write(event.state + " " + event.path + "\\n")

@hookimpl
def zonda_event_sinks():
    return {"bell": Bell}
"""


def test_a_plug_in_brings_a_kind_of_its_own(zonda: Any, tmp_path: Path) -> None:
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "bell.py").write_text(PLUGIN)
    zonda.configure(
        f'sink_grace = 100\n[sinks.x]\nkind = "bell"\nbell = "{tmp_path / "rung"}"\n'
        'events = ["*_COMPLETE"]\n'
    )
    zonda.run("stack", "create", "s", "-t", template(tmp_path, 1))
    rung = (tmp_path / "rung").read_text().splitlines()
    assert [line.rstrip() for line in rung] == [
        "CREATE_COMPLETE group/0",
        "CREATE_COMPLETE group",  # the nested stack
        "CREATE_COMPLETE group",
        "CREATE_COMPLETE",
    ]
