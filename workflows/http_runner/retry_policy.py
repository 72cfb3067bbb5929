"""The retry policy of a start: whether and when it is sent again.

Keeps nothing: what a later send must know goes into ``memory``, which comes back with it::

    {"since": when an operation began that nothing has answered yet, "failures", "errors": counts,
     "accepted": when the endpoint took a run that has no place to poll, "unsent": not really sent}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zonda.hooks.runners import Failed, Finished, Retry, StartAnswer, StartRequest

from ..client import backoff
from ..client.circuit_breaker import RetryLater
from ..http_contract import response
from .settings import HttpSettings

RETRIES_OF_ERRORS = 3
#: What an attempt gets at least, in seconds.
LEAST_ATTEMPT = 0.1
#: So close to its deadline an operation has no later attempt.
LAST_MOMENT = 1.0


class RetryPolicy:
    """The retry policy of one runner. ``redact`` takes secrets out of a text."""

    def __init__(self, settings: HttpSettings, redact: Callable[[str], str]) -> None:
        self._settings = settings
        self._redact = redact

    @property
    def _now(self) -> float:
        return self._settings.clock.now()

    def find_start(self, request: StartRequest) -> float:
        """The time when the operation began that has had no answer yet."""
        return float(request.memory.get("since", self._now))

    def left(self, request: StartRequest) -> float | None:
        """Seconds that an attempt may take where nothing ever answered; None: as long as any.

        The first attempt gets all its time, however long it was put off.
        """
        if request.answered:
            return None
        left = self._settings.connect_give_up
        if "failures" in request.memory:
            left += self.find_start(request) - self._now
        return min(max(left, LEAST_ATTEMPT), self._settings.answer_timeout)

    def is_last(self, request: StartRequest) -> bool:
        """Whether there is no later attempt than this one."""
        if request.deadline - self._now <= LAST_MOMENT:
            return True
        waited = self._now - self.find_start(request)
        return not request.answered and waited >= self._settings.connect_give_up

    def put_off(self, request: StartRequest, error: RetryLater) -> StartAnswer:
        """Retry later a request that was not sent. It does not count as an attempt."""
        memory: dict[str, Any] = {"unsent": int(request.memory.get("unsent", 0)) + 1}
        if error.paused and not request.answered:
            memory["since"] = self.find_start(request)
        return self.retry(request, error.delay, str(error), memory, answered=request.answered)

    def retry_connection(self, request: StartRequest, why: str) -> StartAnswer:
        """Retry a request without any answer, as long as the settings allow."""
        if request.answered:
            return self.again(request, why)
        since = self.find_start(request)
        left = since + self._settings.connect_give_up - self._now
        if left <= 0:
            tried = f"given up after {self._settings.connect_give_up:g} s without any answer"
            return self.failed(request, f"{why} ({tried})")
        failures = int(request.memory.get("failures", 0)) + 1
        delay = min(backoff.compute_backoff(failures, self._settings.random), left)
        message = f"{why} (given up in {left:.0f} s)"
        memory = {"since": since, "failures": failures}
        return self.retry(request, delay, message, memory, answered=False)

    def again(self, request: StartRequest, why: str, asked: float | None = None) -> StartAnswer:
        """Retry until the deadline."""
        failures = int(request.memory.get("failures", 0)) + 1
        delay = backoff.compute_backoff(failures, self._settings.random) if asked is None else asked
        return self.retry(request, delay, why, {"failures": failures})

    def error(self, request: StartRequest, why: str, asked: float | None) -> StartAnswer:
        """Retry an error of the endpoint itself a few times."""
        errors = int(request.memory.get("errors", 0)) + 1
        if errors > RETRIES_OF_ERRORS:
            return self.failed(request, why)
        delay = backoff.compute_backoff(errors, self._settings.random) if asked is None else asked
        return self.retry(request, delay, why, {"errors": errors})

    def poll_by_request(
        self, request: StartRequest, message: str, asked: float | None
    ) -> StartAnswer:
        """Poll by the same request: it was accepted, without a URL to poll."""
        since = float(request.memory.get("accepted") or self._now)
        delay = asked
        if delay is None:
            delay = backoff.compute_poll_interval(self._now - since, self._settings.random)
        return self.retry(request, delay, message or "running", {"accepted": since})

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
        left = request.deadline - self._now
        if left <= 0:
            return self.failed(request, f"the time is over: {message}")
        # The last send comes just before the deadline rather than never.
        soon = min(delay, left)
        text = response.truncate_text(self._redact(message))
        return Retry(soon, text, answered, {**request.memory, **memory})

    def failed(
        self, request: StartRequest, why: str, output: dict[str, Any] | None = None
    ) -> Finished:
        """Fail the start, without a retry."""
        reason = response.truncate_text(self._redact(why.strip()))
        return Finished(Failed(reason, output, by_runner=True), request.key)
