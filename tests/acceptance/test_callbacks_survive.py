"""Callbacks between real processes: what was acknowledged is lost by no ``kill -9``."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

from zonda.workflows.http_contract import callback_signature

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  thing:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: "far:make"}
outputs:
  size: {value: {get_attr: [thing, output, size]}}
"""
ENDED = {"state": "succeeded", "output": {"size": 3}, "resource_id": "thing-1"}


class Endpoint(BaseHTTPRequestHandler):
    """Takes every request, and whoever polls hears that it still runs."""

    protocol_version = "HTTP/1.1"
    seen: list[dict[str, Any]]
    polls: list[str]

    def do_POST(self) -> None:
        self.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._say(202, {"state": "running"}, "/runs/1")

    def do_GET(self) -> None:
        """Asked for a workflow when a template is checked, and for a run later."""
        if self.path.startswith("/runs"):
            self.polls.append(self.path)
        self._say(200, {"state": "running"}, "")

    def _say(self, status: int, body: dict[str, Any], location: str) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Any]:
    handler = type("Bound", (Endpoint,), {"seen": [], "polls": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    handler.url = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_callback_survives_the_death_of_service_and_zonda(
    zonda: Any,
    service: Any,
    endpoint: Any,
    write: Callable[[str, str], Path],
    until: Callable[..., Any],
) -> None:
    zonda.configure(
        f'service_address = "127.0.0.1:{service.port}"\n'
        f'[runners.far]\nendpoint = "{endpoint.url}"\ncallback = true\n'
    )
    service.start()
    create = zonda.start("stack", "create", "s", "-t", write("t.yaml", TEMPLATE))
    until(lambda: endpoint.seen, "the endpoint is asked")
    url = endpoint.seen[0]["callback"]["url"]
    assert url.startswith(f"http://127.0.0.1:{service.port}/v1/callbacks/")
    create.kill()
    create.wait()

    service.kill()
    with pytest.raises(requests.ConnectionError):
        requests.put(url, json=ENDED, timeout=10)
    service.start()
    assert requests.put(url, json=ENDED, timeout=10).status_code == 200
    service.kill()

    zonda.run("stack", "wait", "s")
    assert zonda.state("s") == "CREATE_COMPLETE"
    assert zonda.outputs("s") == {"size": 3}
    assert zonda.resources("s")["thing"]["physical_resource_id"] == "thing-1"
    assert len({each["request_id"] for each in endpoint.seen}) == 1
    assert endpoint.polls == []

    service.start()
    late = requests.put(url, json={"state": "failed", "reason": "no"}, timeout=10)
    assert (late.status_code, late.json()["callback"]) == (200, "repeated")
    assert zonda.outputs("s") == {"size": 3}


def test_an_address_stands_in_no_file_and_no_message_and_may_want_a_signature(
    zonda: Any,
    service: Any,
    endpoint: Any,
    write: Callable[[str, str], Path],
    until: Callable[..., Any],
) -> None:
    zonda.configure(
        f'service_address = "127.0.0.1:{service.port}"\n'
        f'[runners.far]\nendpoint = "{endpoint.url}"\ncallback = true\n'
        'callback_key = {file = "callback.key"}\n'
    )
    (zonda.home / "callback.key").write_text("shared s3cret\n")
    service.start()
    create = zonda.start("stack", "create", "s", "-t", write("t.yaml", TEMPLATE))
    until(lambda: endpoint.seen, "the endpoint is asked")
    url = endpoint.seen[0]["callback"]["url"]
    assert requests.post(url, json=ENDED, timeout=10).status_code == 401
    body = json.dumps(ENDED).encode()
    opaque = url.rpartition("/")[2]
    signature = callback_signature.sign([b"shared s3cret"], time.time(), opaque, body)
    signed = {callback_signature.HEADER: signature}
    assert requests.post(url, data=body, headers=signed, timeout=10).status_code == 200
    said = create.communicate(timeout=60)[0]
    assert create.returncode == 0
    code = url.rpartition("/")[2].partition(".")[0]
    assert code not in said
    for file in zonda.home.rglob("*"):
        if file.is_file():
            assert code.encode() not in file.read_bytes()
            assert code not in file.name
