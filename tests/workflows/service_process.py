"""The bundled service in a process of its own, which can be killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from zonda.hooks import UsageError
from zonda.workflows.service.server import serve


class ServiceProcess:
    """A service in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self._process = process
        self.url = url
        self.pid = process.pid

    def stop(self) -> None:
        """End it; runs go on."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would (``kill -9``); runs go on."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        self._process.send_signal(number)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> ServiceProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.stop()


def spawn(file: Path, **how: Any) -> ServiceProcess:
    """A service that is ready to answer. Raises UsageError with what it complains of."""
    process = subprocess.Popen(
        [sys.executable, "-P", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin:
        process.stdin.write(json.dumps({"file": file, "port": 0, **how}, default=str).encode())
    answer = json.loads(process.stdout.readline())
    if "url" not in answer:
        process.wait()
        process.stdout.close()
        raise UsageError(answer["fault"])
    return ServiceProcess(process, answer["url"])


def main() -> int:
    """The child process: arguments from stdin, one line of JSON to stdout."""

    def ready(url: str) -> None:
        print(json.dumps({"url": url}), flush=True)

    try:
        serve(**json.load(sys.stdin), ready=ready)
    except UsageError as error:
        print(json.dumps({"fault": error.message}), flush=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
