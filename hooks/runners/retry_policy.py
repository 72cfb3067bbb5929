"""The retry policy of a start: whether and when it is sent again.

Keeps nothing: what a later send must know goes into ``memory``, which comes back with it::

    {"since": when an operation began that nothing has answered yet, "failures": how many}
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from .messages import Failed, Finished, Retry, StartAnswer, StartRequest

LONGEST_BACKOFF = 30.0


class RetryPolicy:
    """The retry policy of one runner, without state.

    ``now``: the clock's. ``give_up``: for how many seconds a server that never answered is tried.
    ``clean`` makes a text fit for users: short, and without secrets.
    """

    def __init__(
        self,
        now: Callable[[], float],
        chance: random.Random,
        give_up: float,
        clean: Callable[[str], str],
    ) -> None:
        self._now = now
        self._chance = chance
        self._give_up = give_up
        self._clean = clean

    def retry_connection(self, request: StartRequest, why: str) -> StartAnswer:
        """Retry a request without any answer, as long as the settings allow."""
        if request.answered or request.deadline <= self._now():
            return self.retry_busy(request, why)
        since = self.find_start(request)
        left = since + self._give_up - self._now()
        if left <= 0:
            tried = f"given up after {self._give_up:g} s without any answer"
            return self.fail(request, f"{why} ({tried})")
        failures = int(request.memory.get("failures", 0)) + 1
        delay = min(self.compute_backoff(failures), left)
        message = f"{why} (given up in {left:.0f} s)"
        memory = {"since": since, "failures": failures}
        return self.retry(request, delay, message, memory, answered=False)

    def retry_busy(
        self, request: StartRequest, why: str, asked: float | None = None
    ) -> StartAnswer:
        """Retry until the deadline, after the seconds that were ``asked`` for or more and more."""
        failures = int(request.memory.get("failures", 0)) + 1
        delay = self.compute_backoff(failures) if asked is None else asked
        return self.retry(request, delay, why, {"failures": failures})

    def retry(
        self,
        request: StartRequest,
        delay: float,
        message: str,
        memory: Mapping[str, Any],
        *,
        answered: bool = True,
    ) -> StartAnswer:
        """Retry after ``delay`` seconds, unless the deadline is over."""
        left = request.deadline - self._now()
        if left <= 0:
            return self.fail(request, self.explain(request, message))
        # The last send comes just before the deadline rather than never.
        soon = min(delay, left)
        return Retry(soon, self._clean(message), answered, {**request.memory, **memory})

    def fail(
        self, request: StartRequest, why: str, output: dict[str, Any] | None = None
    ) -> Finished:
        """Fail the start, without a retry."""
        return Finished(Failed(self._clean(why.strip()), output, by_runner=True), request.key)

    def explain(self, request: StartRequest, why: str) -> str:
        """The reason ``why`` of a failure, and that the time is over where it is."""
        is_over = request.deadline <= self._now()
        return f"{request.action} took longer than its timeout: {why}" if is_over else why

    def find_start(self, request: StartRequest) -> float:
        """The time when the operation began that has had no answer yet."""
        return float(request.memory.get("since", self._now()))

    def compute_backoff(self, failures: int) -> float:
        """Seconds after the ``failures``-th failure: up to 1, 2, 4 ... 30, full jitter."""
        return self._chance.uniform(0.0, min(LONGEST_BACKOFF, 2.0 ** min(failures - 1, 10)))
