"""The retry policy of a start at an endpoint with a circuit breaker.

Beside what every ``RetryPolicy`` keeps there stands in ``memory``::

    {"errors": count, "accepted": when the endpoint took a run that has no place to poll,
     "unsent": how often it was not really sent}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from zonda.hooks.runners import Retry, RetryPolicy, StartAnswer, StartRequest

from ..client import backoff
from ..client.circuit_breaker import RetryLater
from .settings import HttpSettings

RETRIES_OF_ERRORS = 3
#: Seconds that an attempt gets at least.
LEAST_ATTEMPT = 0.1
#: So close to its deadline an operation has no later attempt.
LAST_MOMENT = 1.0


class HttpRetryPolicy(RetryPolicy):
    """The retry policy of one runner. ``redact`` takes secrets out of a text."""

    def __init__(self, settings: HttpSettings, redact: Callable[[str], str]) -> None:
        self._answer_timeout = settings.answer_timeout
        super().__init__(
            settings.clock.now,
            settings.random,
            settings.connect_give_up,
            redact,
        )

    def compute_time_left(self, request: StartRequest) -> float:
        """Seconds that an attempt may take: until the deadline; less where nothing ever answered.

        The first attempt may take all the time to give up, however long it was put off.
        """
        now = self._now()
        ends = [request.deadline]
        if not request.answered:
            begun = self.find_start(request) if "failures" in request.memory else now
            ends.append(begun + self._give_up)
        return min(max(min(ends) - now, LEAST_ATTEMPT), self._answer_timeout)

    def is_last(self, request: StartRequest) -> bool:
        """Whether there is no later attempt than this one."""
        now = self._now()
        if request.deadline - now <= LAST_MOMENT:
            return True
        return not request.answered and now - self.find_start(request) >= self._give_up

    def put_off(self, request: StartRequest, error: RetryLater) -> StartAnswer:
        """Retry later a request that was not sent. It does not count as an attempt.

        Only pauses are kept: what waits for its turn comes again as if for the first time.
        """
        if not error.paused:
            answer = self.retry(request, error.delay, str(error), {}, answered=request.answered)
            return replace(answer, queued=True) if isinstance(answer, Retry) else answer
        memory: dict[str, Any] = {"unsent": int(request.memory.get("unsent", 0)) + 1}
        if not request.answered:
            memory["since"] = self.find_start(request)
        return self.retry(request, error.delay, str(error), memory, answered=request.answered)

    def retry(
        self,
        request: StartRequest,
        delay: float,
        message: str,
        memory: Mapping[str, Any],
        *,
        answered: bool = True,
    ) -> StartAnswer:
        """Retry after ``delay`` seconds; a run that was accepted goes on meanwhile."""
        answer = super().retry(request, delay, message, memory, answered=answered)
        if isinstance(answer, Retry) and "accepted" in answer.memory:
            return replace(answer, accepted=True)
        return answer

    def retry_error(self, request: StartRequest, why: str, asked: float | None) -> StartAnswer:
        """Retry an error of the endpoint itself a few times."""
        errors = int(request.memory.get("errors", 0)) + 1
        if errors > RETRIES_OF_ERRORS:
            return self.fail(request, why)
        delay = self.compute_backoff(errors) if asked is None else asked
        return self.retry(request, delay, why, {"errors": errors})

    def poll_by_request(
        self, request: StartRequest, message: str, asked: float | None
    ) -> StartAnswer:
        """Poll by the same request: it was accepted, without a URL to poll."""
        now = self._now()
        since = float(request.memory.get("accepted") or now)
        delay = backoff.compute_poll_interval(now - since, self._chance) if asked is None else asked
        return self.retry(request, delay, message or "running", {"accepted": since})
