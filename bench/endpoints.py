"""Many HTTP endpoints that take their time: how long a create takes, and how late ends are seen.

    python bench/endpoints.py             # every row
    python bench/endpoints.py 400 polled  # the rows whose name has one of the words

The endpoint is a process of its own that keeps time and counts requests. ``ideal_s`` is what a bare
client takes that starts all at once, measured beside each row; ``late_s``: seconds from the end of
a run to the answer that told it, at most and on average. The row ``CPU of a start and of a poll``
has milliseconds of the whole process for each, and as its bars what is allowed where ``python -c
pass`` takes as long as it does here (2.5 and 1 where that is 15).
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from measure import HEAD, STACK, carry_out, measured

from zonda.core.app.app import build_app
from zonda.core.app.runners.runner_service import get_service_location
from zonda.core.engine.actions import CreateStack
from zonda.core.settings.settings import load_settings
from zonda.core.template.source.bundle import Bundle
from zonda.workflows.http_contract.callback_receiver import make_receiver


@dataclass(frozen=True)
class Row:
    """One case. ``length``: seconds of a run; ``status``: of a poll; ``wait``: of a long poll."""

    name: str
    number: int
    workflow: str
    length: float
    bar_s: float
    settings: dict[str, int] = field(default_factory=dict)
    section: dict[str, Any] = field(default_factory=dict)


def _list_sync(number: int, bars: tuple[float, float]) -> list[Row]:
    rows = [Row(f"{number} of 1 s, default", number, "sync-1", 1.0, bars[0])]
    for places, bar in ((16, 0.0), (64, bars[0]), (256, bars[1])):
        many = {"max_in_flight": places}
        name = f"{number} of 1 s, workers and max_in_flight {places}"
        rows.append(Row(name, number, "sync-1", 1.0, bar, {"workers": places}, many))
    name = f"{number} of 1 s, workers 256"
    return [*rows, Row(name, number, "sync-1", 1.0, bars[0], {"workers": 256})]


CPU = "CPU of a start and of a poll"
ROWS = [
    *_list_sync(400, (11.0, 5.0)),
    *_list_sync(1000, (20.0, 8.0)),
    Row("200 runs of 2 s, status 0.5 s", 200, "run-2-0.5", 2.0, 6.0, {}, {"wait": 0}),
    Row("64 runs of 5 s, polled", 64, "run-5-0", 5.0, 7.0, {}, {"wait": 0}),
    Row("64 runs of 5 s, wait 30", 64, "run-5-0", 5.0, 7.0, {}, {"wait": 30}),
    Row("500 runs of 10 s, wait 30", 500, "run-10-0", 10.0, 0.0, {}, {"wait": 30}),
    Row("500 runs of 10 s, 512 places", 500, "run-10-0", 10.0, 0.0, {}, {"max_in_flight": 512}),
    Row("64 runs of 5 s, callback", 64, "run-5-0", 5.0, 7.0, {}, {"wait": 0, "callback": True}),
    Row("1000 runs of 2 s, polled", 1000, "run-2-0", 2.0, 0.0, {}, {"wait": 0}),
]


# -- the endpoint -------------------------------------------------------------------------------


class Endpoint:
    """Answers by the workflow's name: ``sync-SECONDS``, ``run-SECONDS-SECONDS OF A POLL``,
    ``often-SECONDS``, a run that wants a poll each 0.1 s.
    """

    def __init__(self) -> None:
        self.ends: dict[str, float] = {}
        self.late: dict[str, float] = {}
        self.polls = self.starts = self.at_once = self.most = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
                content = await reader.readexactly(int(headers.get("content-length", 0)))
                self.at_once += 1
                self.most = max(self.most, self.at_once)
                method, path, _ = lines[0].split(" ")
                status, body = await self._answer(method, path, headers, content)
                self.at_once -= 1
                text = json.dumps(body).encode()
                head = f"HTTP/1.1 {status} OK\r\nContent-Length: {len(text)}\r\n".encode()
                writer.write(head + b"Content-Type: application/json\r\n\r\n" + text)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(
        self, method: str, path: str, headers: dict[str, str], content: bytes
    ) -> tuple[int, dict[str, Any]]:
        if path == "/counts":
            late = list(self.late.values()) or [0.0]
            found = {
                "starts": self.starts,
                "polls": self.polls,
                "most_in_flight": self.most,
                "late_s": [round(max(late), 2), round(sum(late) / len(late), 2)],
            }
            self.__init__()  # type: ignore[misc]
            self.at_once = 1
            return 200, found
        kind, *times = path.rpartition("/")[2].split("-")
        if method == "GET" and kind in ("sync", "run", "often"):
            return 404, {}
        if kind == "often":
            status, answer = await self._start([*times, "0"], headers, None)
            return status, {**answer, "status_url": answer["status_url"].replace("runs", "often")}
        if kind == "sync":
            self.starts += 1
            await asyncio.sleep(float(times[0]))
            return 200, {"state": "succeeded", "output": {}}
        if kind == "run":
            return await self._start(times, headers, json.loads(content).get("callback"))
        status, answer = await self._tell_status(path.rpartition("/")[2], path.split("/")[2])
        return status, {**answer, "retry_after": 0.1} if path.startswith("/often/") else answer

    async def _start(
        self, times: list[str], headers: dict[str, str], callback: dict[str, str] | None
    ) -> tuple[int, dict[str, Any]]:
        self.starts += 1
        key, length = headers["idempotency-key"].replace("-", ""), float(times[0])
        self.ends.setdefault(key, asyncio.get_running_loop().time() + length)
        if callback:
            asyncio.get_running_loop().call_later(
                length, self._call_back, key, headers["folder"], callback["url"]
            )
        wait = float(headers.get("prefer", "wait=0").partition("wait=")[2] or 0)
        await asyncio.sleep(min(wait, length))
        if wait >= length:
            return self._end(key)
        return 202, {"state": "running", "status_url": f"/runs/{times[1]}/{key}"}

    def _call_back(self, key: str, folder: str, url: str) -> None:
        """Store the callback as the bundled service does, which is another process as well."""
        _, answer = self._end(key)
        content = json.dumps(answer).encode()
        make_receiver(Path(folder), {}).receive(url.rpartition("/")[2], "", content, time.time())

    async def _tell_status(self, key: str, seconds: str) -> tuple[int, dict[str, Any]]:
        self.polls += 1
        await asyncio.sleep(float(seconds))
        if asyncio.get_running_loop().time() < self.ends[key]:
            return 200, {"state": "running"}
        return self._end(key)

    def _end(self, key: str) -> tuple[int, dict[str, Any]]:
        self.late.setdefault(key, asyncio.get_running_loop().time() - self.ends[key])
        return 200, {"state": "succeeded", "output": {}}


async def _serve() -> None:
    server = await asyncio.start_server(Endpoint().serve, "127.0.0.1", 0, backlog=2000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# -- the bare client ----------------------------------------------------------------------------


async def _call_bare(port: int, row: Row) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /workflows/sync-{row.length:g} HTTP/1.1\r\nHost: x\r\nIdempotency-Key: x\r\n\r\n"
    writer.write(head.encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.close()


async def _call_all(port: int, row: Row) -> None:
    await asyncio.gather(*(_call_bare(port, row) for _ in range(row.number)))


# -- the rows -----------------------------------------------------------------------------------


def _write_home(home: Path, port: int, row: Row) -> None:
    entries = {"endpoint": f"http://127.0.0.1:{port}", **row.section}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entries.items()]
    folder = get_service_location(load_settings({"home": str(home)}, {}))["folder"]
    lines.append(f"headers = {{Folder = {json.dumps(folder)}}}")
    (home / "zonda.toml").write_text("\n".join(["[runners.slow]", *lines, ""]))


def _build_template(row: Row) -> str:
    entry = (
        "{type: Zonda::Workflow::ExternalResource, properties: "
        f"{{runner: slow, actions: {{CREATE: {{workflow: {row.workflow}}}}}}}}}"
    )
    return f"{HEAD}resources:\n" + "".join(f"  r{n}: {entry}\n" for n in range(row.number))


def run(row: Row, port: int) -> None:
    """Measure one row and print its line."""
    begun = time.perf_counter()
    asyncio.run(_call_all(port, row))
    ideal = time.perf_counter() - begun
    _read_counts(port)
    with tempfile.TemporaryDirectory() as home:
        _write_home(Path(home), port, row)
        given = {"home": home, **{name: str(value) for name, value in row.settings.items()}}
        app = build_app(load_settings(given, {}))
        try:
            with measured() as cost:
                carry_out(app, CreateStack(STACK, Bundle(_build_template(row))))
            threads = threading.active_count()
        finally:
            app.close()
    counts = _read_counts(port)
    line = {
        "bench": "endpoints",
        "row": row.name,
        "wall_s": round(cost.wall_s, 2),
        "ideal_s": round(ideal, 2),
        "bar_s": row.bar_s or None,
        "cpu_s": round(cost.cpu_s, 2),
        "cpu_ms_each": round(cost.cpu_s / row.number * 1000, 2),
        "commits": cost.commits,
        "threads": threads,
        "rss_mb": round(cost.rss_mb, 1),
        **counts,
    }
    print(json.dumps(line), flush=True)


def run_cpu(port: int) -> None:
    """Measure what a start and a poll cost, and print the line."""
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(10):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = ended.ru_utime - begun.ru_utime + ended.ru_stime - begun.ru_stime
    share = spent / 10 / 0.015
    start, _ = _measure_warm(port, Row("", 400, "sync-0.2", 0.2, 0.0))
    brief, few = _measure_warm(port, Row("", 64, "often-1", 1.0, 0.0, {}, {"wait": 0}))
    long, many = _measure_warm(port, Row("", 64, "often-5", 5.0, 0.0, {}, {"wait": 0}))
    line = {
        "bench": "endpoints",
        "row": CPU,
        "start_ms": round(start / 400 * 1000, 2),
        "start_bar_ms": round(2.5 * share, 2),
        "poll_ms": round((long - brief) / (many - few) * 1000, 2),
        "poll_bar_ms": round(share, 2),
        "python_pass_ms": round(spent / 10 * 1000, 1),
        "polls": [few, many],
    }
    print(json.dumps(line), flush=True)


def _measure_warm(port: int, row: Row) -> tuple[float, int]:
    """CPU seconds of a create, after one that has imported and started everything; its polls."""
    with tempfile.TemporaryDirectory() as home:
        _write_home(Path(home), port, row)
        app = build_app(load_settings({"home": home}, {}))
        try:
            carry_out(app, CreateStack("warm", Bundle(_build_template(replace(row, number=3)))))
            _read_counts(port)
            with measured() as cost:
                carry_out(app, CreateStack(STACK, Bundle(_build_template(row))))
        finally:
            app.close()
    return cost.cpu_s, _read_counts(port)["polls"]


def _read_counts(port: int) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/counts") as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _main(words: list[str]) -> None:
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as endpoint:
        assert endpoint.stdout is not None
        port = int(endpoint.stdout.readline())
        try:
            for row in ROWS:
                if not words or any(word in row.name for word in words):
                    run(row, port)
            if not words or any(word in CPU for word in words):
                run_cpu(port)
        finally:
            endpoint.terminate()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        asyncio.run(_serve())
    else:
        _main(sys.argv[1:])
