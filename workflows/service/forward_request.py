"""Sends a request on to an HTTP endpoint: ``python -m ...forward_request FILE``.

A child of the wrapper, for endpoints that answer at once. The request goes out as it came in; a
JSON object in a 2xx answer is the output, any other answer a failure. Whatever it waits for, the
name of the host included, ends with the one total time, and an answer has a total size.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import requests
from requests.utils import select_proxy

from zonda.hooks.http import ClientConfig, Reply, RequestRejected, Transport, TransportError, origin

from .clock import ServiceClock

#: Seconds for the request and its whole answer.
TIMEOUT = 60.0


def main(settings: Path) -> int:
    """Read the request from stdin, send it, write the output to stdout; the exit code."""
    try:
        reply = _forward(settings)
    except (TransportError, RequestRejected) as error:
        sys.stderr.write(f"no answer: {error}\n")
        return 1
    if not 200 <= reply.status < 300 or not _is_output(reply.body):
        text = reply.body.decode("utf-8", "replace")
        kind = "" if reply.status >= 300 else " with what is no JSON object"
        sys.stderr.write(f"HTTP {reply.status}{kind}: {text}\n")
        return 1
    sys.stdout.buffer.write(reply.body)
    return 0


def _is_output(body: bytes) -> bool:
    """Whether a body is a JSON object, or there is none."""
    try:
        return not body.strip() or isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _forward(settings: Path) -> Reply:
    http: dict[str, Any] = json.loads(settings.read_bytes())
    body = sys.stdin.buffer.read()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Idempotency-Key": str(json.loads(body).get("request_id", "")),
        **http["headers"],
    }
    return Transport(_build_config(http["url"])).send(http["method"], http["url"], headers, body)


def _build_config(url: str) -> ClientConfig:
    """The way there: as the environment says it, which is the workflow's own (``env``)."""
    way = requests.Session().merge_environment_settings(url, {}, None, None, None)
    bundle = way["verify"]
    return ClientConfig(
        ServiceClock(),
        connect_timeout=TIMEOUT,
        answer_timeout=TIMEOUT,
        ca_bundle=bundle if isinstance(bundle, str) else "",
        proxy=select_proxy(url, way["proxies"]) or "",
        trusted=frozenset({origin(url)} - {""}),
    )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
