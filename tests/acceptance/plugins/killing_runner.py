"""A runner of kind ``killing``: the http runner, which kills its own process at one point, once.

``kill`` in its section is ``before`` (the intent is stored, nothing was sent) or ``after`` (the
request was sent and answered, the token is not stored); ``marker`` the file that says it was done.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from zonda.hooks import hookimpl
from zonda.hooks.runners import PollAnswer, StartAnswer, StartRequest, WorkflowRunner
from zonda.workflows.http_runner.runner import HttpRunner


class KillingRunner(WorkflowRunner):
    """Hands everything to an ``HttpRunner``."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        own = dict(settings)
        self._point = own.pop("kill")
        self._marker = Path(own.pop("marker"))
        self._inner = HttpRunner(own)

    def start(self, request: StartRequest) -> StartAnswer:
        """Start, and die before or after it the first time."""
        if self._point == "before":
            self._die_once()
        answer = self._inner.start(request)
        if self._point == "after":
            self._die_once()
        return answer

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """As the http runner."""
        return self._inner.poll(token)

    def _die_once(self) -> None:
        if not self._marker.exists():
            self._marker.write_text("died")
            os.kill(os.getpid(), signal.SIGKILL)


@hookimpl
def zonda_runners() -> Mapping[str, Callable[[Mapping[str, Any]], WorkflowRunner]]:
    """The kind by its name."""
    return {"killing": KillingRunner}
