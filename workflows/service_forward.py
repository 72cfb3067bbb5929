"""Sends a request on to an HTTP endpoint: ``python -m ...service_forward PLAN``.

A child of the wrapper, for endpoints that answer at once. The request goes out as it came in; a
JSON object in a 2xx answer is the output, any other answer a failure. A process that does nothing
else can be ended by an alarm, whatever it waits for.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import requests

#: Seconds for the request and its whole answer.
TIMEOUT = 60.0


class Late(Exception):
    """The time is over."""


def main(plan: Path) -> int:
    """Read the request from stdin, send it, write the output to stdout; the exit code."""
    try:
        return _forward(plan)
    except Late:
        sys.stderr.write(f"no whole answer within {TIMEOUT:g} s\n")
        return 1


def _late(number: int, frame: FrameType | None) -> NoReturn:
    raise Late


def _forward(plan: Path) -> int:
    http: dict[str, Any] = json.loads(plan.read_bytes())["http"]
    body = sys.stdin.buffer.read()
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Idempotency-Key": str(json.loads(body).get("request_id", "")),
        **http["headers"],
    }
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, TIMEOUT)
    try:
        answer = requests.request(
            http["method"],
            http["url"],
            data=body,
            headers=headers,
            timeout=TIMEOUT,
            allow_redirects=False,
        )
    except requests.RequestException as error:
        sys.stderr.write(f"no answer ({type(error).__name__})\n")
        return 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    if not 200 <= answer.status_code < 300:
        sys.stderr.write(f"HTTP {answer.status_code}: {answer.text[:2000]}\n")
        return 1
    sys.stdout.write(answer.text)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
