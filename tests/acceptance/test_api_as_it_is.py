"""A REST API that has never heard of zonda, behind OAuth2, as resources of a stack."""

from __future__ import annotations

import base64
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SECRET = "s3cret-of-the-client"
TOKEN = "t0ken-of-the-hour"
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  disk:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: "disks:any"}
        UPDATE: {workflow: "disks:any"}
        DELETE: {workflow: "disks:any"}
      input: {size: SIZE, colour: red}
outputs:
  id: {value: {get_resource: disk}}
  size: {value: {get_attr: [disk, output, size]}}
"""
SETTINGS = """
[runners.disks]
endpoint = "URL/v1"

[runners.disks.oauth2]
token_url = "URL/token"
client_id = "zonda"
client_secret = {file = "secret"}

[runners.disks.actions.CREATE]
url = "/disks"
body = "inputs"
id_path = "data.id"
output_path = "data"

[runners.disks.actions.UPDATE]
url = "/disks/{resource_id}"
method = "PUT"
body = "inputs"
output_path = "data"

[runners.disks.actions.DELETE]
url = "/disks/{resource_id}"
method = "DELETE"
gone = [404]
"""


class Disks(http.server.BaseHTTPRequestHandler):
    """Keeps disks in memory, for whoever has a token."""

    protocol_version = "HTTP/1.1"
    disks: dict[str, Any]
    seen: list[str]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append(f"{self.command} {self.path}")
        if self.path == "/token":
            wanted = base64.b64encode(f"zonda:{SECRET}".encode()).decode()
            known = self.headers["Authorization"] == f"Basic {wanted}"
            self.answer(200 if known else 401, {"access_token": TOKEN, "expires_in": 60})
        elif self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"error": "who are you?"})
        else:
            self.answer(*self.of_disks(self.path.removeprefix("/v1/disks").strip("/"), body))

    do_PUT = do_DELETE = do_POST

    def of_disks(self, known_as: str, body: bytes) -> tuple[int, Any]:
        if self.command == "POST":
            known_as = f"disk-{len(self.disks) + 1}"
        elif known_as not in self.disks:
            return 404, {"error": "no such disk"}
        if self.command == "DELETE":
            return 200, {"data": self.disks.pop(known_as)}
        self.disks[known_as] = {"id": known_as, "state": "failed", **json.loads(body)}
        return 201, {"data": self.disks[known_as]}

    def answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def api(zonda: Any) -> Iterator[Any]:
    handler: Any = type("Bound", (Disks,), {"disks": {}, "seen": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    (zonda.home / "secret").write_text(f"{SECRET}\n")
    zonda.configure(SETTINGS.replace("URL", f"http://127.0.0.1:{server.server_port}"))
    handler.port = server.server_port
    yield handler
    server.shutdown()
    server.server_close()


def test_its_life(zonda: Any, write: Callable[[str, str], Path], api: Any) -> None:
    template = write("t.yaml", TEMPLATE.replace("SIZE", "1"))
    zonda.run("stack", "create", "s", "-t", template)
    assert zonda.outputs("s") == {"id": "disk-1", "size": 1}
    zonda.run("stack", "update", "s", "-t", write("u.yaml", TEMPLATE.replace("SIZE", "2")))
    assert zonda.outputs("s") == {"id": "disk-1", "size": 2}
    assert api.disks["disk-1"]["size"] == 2
    zonda.run("stack", "delete", "s", "--yes")
    assert api.disks == {}
    assert api.seen == [
        "POST /token",
        "POST /v1/disks",
        "POST /token",
        "PUT /v1/disks/disk-1",
        "POST /token",
        "DELETE /v1/disks/disk-1",
    ]
    kept = b"".join(path.read_bytes() for path in zonda.home.glob("zonda.db*"))
    assert SECRET.encode() not in kept
    assert TOKEN.encode() not in kept


def test_what_is_gone_already_is_deleted(
    zonda: Any, write: Callable[[str, str], Path], api: Any
) -> None:
    zonda.run("stack", "create", "s", "-t", write("t.yaml", TEMPLATE.replace("SIZE", "1")))
    api.disks.clear()
    zonda.run("stack", "delete", "s", "--yes")
    assert api.seen[-1] == "DELETE /v1/disks/disk-1"


def test_a_template_cannot_name_what_is_private(
    zonda: Any, write: Callable[[str, str], Path], api: Any
) -> None:
    text = TEMPLATE.replace("SIZE", "1").replace("disks:any", f"http://127.0.0.1:{api.port}/token")
    done = zonda.run("stack", "create", "s", "-t", write("t.yaml", text), code=1)
    assert "is not public, and nobody has configured it" in done.stdout + done.stderr
    assert api.seen == []
