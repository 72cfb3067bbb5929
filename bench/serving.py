"""`zonda serve` in a process of its own, and connections to it, for the benches that need them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

HEAD = {"heat_template_version": "2018-08-31"}
SERVE = ["-P", "-m", "zonda", "serve", "--address", "127.0.0.1:0"]


def make_template(resources: int, padding: int = 0) -> dict[str, Any]:
    """A template of independent resources; ``padding``: bytes of each one's value."""
    value = {"value": "x" * max(padding, 1)}
    rows = {
        f"r{n}": {"type": "OS::Heat::TestResource", "properties": value} for n in range(resources)
    }
    return {**HEAD, "resources": rows}


@dataclass
class Connection:
    """One connection to a server, which it keeps."""

    opened: socket.socket

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        sent = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Auth-Token: x\r\n"
        head += "User-Agent: python-heatclient\r\nAccept: application/json\r\n"
        head += f"Accept-Encoding: gzip, deflate\r\nContent-Length: {len(sent)}\r\n\r\n"
        self.opened.sendall(head.encode() + sent)
        return self._read()

    def _read(self) -> tuple[int, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next((int(x[15:]) for x in lines if x.startswith(b"content-length:")), 0)
        while len(body) < length:
            body += self._receive()
        return int(lines[0].split()[1]), body

    def _receive(self) -> bytes:
        found = self.opened.recv(262144)
        assert found, "the server has closed the connection"
        return found


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    port: int

    def connect(self) -> Connection:
        """A new connection."""
        return Connection(socket.create_connection(("127.0.0.1", self.port)))

    @property
    def cpu(self) -> float:
        """CPU seconds so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory_kb(self) -> int:
        """Resident memory."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


@contextmanager
def start(words: list[str], home: str = "") -> Iterator[Server]:
    """A server until the end of the block, in a new home unless there is one."""
    with tempfile.TemporaryDirectory() as made:
        limits = {"ZONDA_MAX_TEMPLATE_BYTES": "16777216", "ZONDA_MAX_JSON_BODY_SIZE": "16777216"}
        environ = {**os.environ, "ZONDA_HOME": home or made, "ZONDA_LOG": "off", **limits}
        environ["ZONDA_TRUSTED_PROXIES"] = "127.0.0.1"  # which may have so many connections
        process = subprocess.Popen(
            [sys.executable, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environ,
        )
        assert process.stdout is not None
        line = next(line for line in process.stdout if "zonda at " in line)
        try:
            yield Server(
                process, int(line.partition("zonda at ")[2].partition(";")[0].split(":")[2])
            )
        finally:
            process.terminate()
            process.wait()


def report(bench: str, **more: Any) -> None:
    """Print the line."""
    print(json.dumps({"bench": bench, **more}), flush=True)


def create(connection: Connection, name: str, template: Any, project: str = "default") -> str:
    """The path of a new stack, once it is complete."""
    path = post(connection, name, template, project)
    while b"_COMPLETE" not in (found := connection.ask("GET", path)[1]):
        assert b"_FAILED" not in found, found
        time.sleep(0.02)
    return path


def post(connection: Connection, name: str, template: Any, project: str = "default") -> str:
    """The path of a new stack, which is committed."""
    sent = {"stack_name": name, "template": template}
    status, body = connection.ask("POST", f"/v1/{project}/stacks", sent)
    assert status == 201, body
    return f"/v1/{project}/stacks/{name}/{json.loads(body)['stack']['id']}"
