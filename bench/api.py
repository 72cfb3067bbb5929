"""Requests to `zonda serve` over HTTP: CPU of the server's process by request, latencies, memory.

The only argument is the number of stacks among which a page of 100 is listed, and over which the
memory is measured. The clients live in this process, the server in its own; CPU seconds are those
of the server with all its threads. Linux only (`/proc`).
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from typing import Any

from serving import HEAD, SERVE, Server, create, make_template, post, report, start

STACK = {
    **HEAD,
    "parameters": {"length": {"type": "number", "default": 8}},
    "resources": {
        "r": {"type": "OS::Heat::RandomString", "properties": {"length": {"get_param": "length"}}},
        "t": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_attr": ["r", "value"]}},
        },
    },
    "outputs": {"o": {"description": "words", "value": {"get_attr": ["r", "value"]}}},
}
#: An application that answers at once: what uvicorn alone takes.
FLOOR = """
import socket, uvicorn
async def app(scope, receive, send):
    await receive()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"850")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"x" * 850})
opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
opened.bind(("127.0.0.1", 0))
opened.listen(100)
print("zonda at http://127.0.0.1:%d;" % opened.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")).run([opened])
"""


def measure(server: Server, ask: Any, times: int) -> tuple[float, float]:
    """CPU and wall microseconds of a request: ``ask(number)``, the cheapest of three runs."""
    found = []
    for run in range(3):
        for number in range(50):
            ask(f"warm-{run}-{number}")
        cpu, wall = server.cpu, time.perf_counter()
        for number in range(times):
            ask(f"{run}-{number}")
        spent = (server.cpu - cpu, time.perf_counter() - wall)
        found.append(tuple(round(seconds / times * 1e6, 1) for seconds in spent))
    return min(found)  # type: ignore[return-value]


def bench_get(server: Server, floor: float) -> None:
    """GET of a stack: the same again, and one that nobody has asked since the last commit."""
    connection = server.connect()
    path = create(connection, "small", STACK)
    cpu, wall = measure(server, lambda _: connection.ask("GET", path), 4000)
    report("get_again", cpu_us=cpu, wall_us=wall, floor_us=floor, of_bar=round(cpu / 200, 2))
    cpu, wall = measure(server, lambda n: connection.ask("GET", f"{path}?n={n}"), 2000)
    report("get_first", cpu_us=cpu, wall_us=wall, floor_us=floor, of_bar=round(cpu / 200, 2))


def bench_post(server: Server) -> None:
    """POST of 10 resources up to the commit, and all that follows until they are there."""
    connection = server.connect()
    template, count = make_template(10), 40
    cpu, wall = server.cpu, time.perf_counter()
    paths = [post(connection, f"ten-{number}", template) for number in range(count)]
    answered, waited = server.cpu - cpu, time.perf_counter() - wall
    for path in paths:
        while b"CREATE_COMPLETE" not in connection.ask("GET", path)[1]:
            time.sleep(0.02)
    report(
        "post_10_resources",
        cpu_ms=round(answered / count * 1000, 2),
        wall_ms=round(waited / count * 1000, 2),
        cpu_ms_until_complete=round((server.cpu - cpu) / count * 1000, 2),
        of_bar=round(answered / count / 0.020, 2),
    )


def bench_planning(server: Server) -> None:
    """GETs while a template of 1 MB is planned: by the engine, and by a preview."""
    asker, planner = server.connect(), server.connect()
    path = create(asker, "beside", STACK)
    template = make_template(4000, 200)
    size = len(json.dumps(template))
    for what, where in (("post", "/v1/default/stacks"), ("preview", "/v1/default/stacks/preview")):
        sent = {"stack_name": f"large-{what}", "template": template}
        planning = threading.Thread(target=planner.ask, args=("POST", where, sent))
        planning.start()
        spent = []
        while planning.is_alive():
            began = time.perf_counter()
            asker.ask("GET", f"{path}?n={len(spent)}")
            spent.append((time.perf_counter() - began) * 1000)
            time.sleep(0.005)
        spent.sort()
        report(
            f"get_while_{what}_is_planned",
            bytes=size,
            requests=len(spent),
            p50_ms=round(spent[len(spent) // 2], 2),
            p99_ms=round(spent[int(len(spent) * 0.99)], 2),
            of_bar=round(spent[int(len(spent) * 0.99)] / 50, 2),
        )


def bench_list(server: Server, count: int) -> None:
    """A page of 100 stacks among many, and the memory that they take."""
    connection = server.connect()
    template = make_template(1)
    before = server.memory_kb
    for number in range(count):
        path = post(connection, f"one-{number}", template)
    while b"CREATE_COMPLETE" not in connection.ask("GET", path)[1]:
        time.sleep(0.1)
    grown = (server.memory_kb - before) / 1024
    report("memory", stacks=count, mb=round(grown, 1), mb_per_1000=round(grown / count * 1000, 2))
    middle = path.rpartition("/")[2]
    for what, query in (("first", ""), ("next", f"&marker={middle}")):
        page = f"/v1/default/stacks?limit=100{query}"
        status, body = connection.ask("GET", page)
        assert status == 200, body
        assert len(json.loads(body)["stacks"]) == 100
        cpu, wall = measure(
            server, lambda n, page=page: connection.ask("GET", f"{page}&n={n}"), 200
        )
        report(
            f"list_{what}_page",
            stacks=count,
            cpu_ms=round(cpu / 1000, 2),
            wall_ms=round(wall / 1000, 2),
            of_bar=round(cpu / 5000, 2),
        )


def bench_streams(server: Server) -> None:
    """The same stacks without and with 200 clients that hear every event of their project."""
    projects, stacks, resources, connection = 10, 5, 10, server.connect()
    expected = stacks * 2 * (resources + 1)  # events of each client
    clients: list[socket.socket] = []

    def create_all(name: str) -> float:
        before = server.cpu
        for number in range(projects * stacks):
            project = f"p{number % projects}"
            create(connection, f"{name}-{number}", make_template(resources), project)
        for client in clients:
            heard = b""
            while heard.count(b"event: state") < expected:
                heard += client.recv(262144)
        return server.cpu - before

    create_all("warm")
    without, memory = create_all("without"), server.memory_kb
    for number in range(20 * projects):
        clients.append(server.connect().opened)
        path = f"/zonda/v1/p{number % projects}/events"
        clients[-1].sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert b" 200 " in clients[-1].recv(65536)
    spent, events = create_all("with"), expected * len(clients)
    report(
        "streams",
        clients=len(clients),
        events=events,
        cpu_s=round(spent, 2),
        cpu_s_without=round(without, 2),
        cpu_us_per_event=round((spent - without) / events * 1e6, 1),
        kb_per_client=round((server.memory_kb - memory) / len(clients), 1),
    )


def main(count: int) -> None:
    """All measurements."""
    with start(["-c", FLOOR]) as server:
        connection = server.connect()
        floor, _ = measure(server, lambda _: connection.ask("GET", "/"), 4000)
    with start(SERVE) as server:
        bench_get(server, floor)
        bench_post(server)
        bench_planning(server)
        bench_streams(server)
    with start(SERVE) as server:
        bench_list(server, count)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
