"""What becomes of a start that could not be made: sent again a little later, or given up.

The rules of the ``http`` contract, for runners of other kinds: who never answered is given up
after ``connect_give_up``, errors of the other side are repeated three times, and whoever asks for
patience gets it until the deadline. Pure but for clock and chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.runner import Failed, Finished, Retry, StartRequest

from . import http_answer, http_retry
from .http_settings import HttpSettings

RETRIES_OF_ERRORS = 3
#: What an attempt gets at least, in seconds.
LEAST_ATTEMPT = 0.1

Answer = Retry | Finished


class Resending:
    """Decides for one runner."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings

    def seconds(self, request: StartRequest) -> float | None:
        """How long an attempt may take where nobody ever answered; None: as long as any."""
        if request.answered:
            return None
        left = self._since(request) + self._settings.connect_give_up - self._now()
        return min(max(left, LEAST_ATTEMPT), self._settings.answer_timeout)

    def unreached(self, request: StartRequest, why: str) -> Answer:
        """Nobody answered."""
        if request.answered:
            return self.busy(request, why, None)
        since = self._since(request)
        left = since + self._settings.connect_give_up - self._now()
        if left <= 0:
            tried = f"given up after {self._settings.connect_give_up:g} s without any answer"
            return self.failed(request, f"{why} ({tried})")
        failures = int(request.memory.get("failures", 0)) + 1
        delay = min(http_retry.backoff(failures, self._settings.random), left)
        memory = {"since": since, "failures": failures}
        message = f"{why} (given up in {left:.0f} s)"
        return self._later(request, delay, message, memory, answered=False)

    def busy(self, request: StartRequest, why: str, asked: float | None) -> Answer:
        """Not now: again until the deadline, after the time that was asked for."""
        failures = int(request.memory.get("failures", 0)) + 1
        delay = http_retry.backoff(failures, self._settings.random) if asked is None else asked
        return self._later(request, delay, why, {"failures": failures})

    def error(self, request: StartRequest, why: str, asked: float | None) -> Answer:
        """An error of the other side: a few times more."""
        errors = int(request.memory.get("errors", 0)) + 1
        if errors > RETRIES_OF_ERRORS:
            return self.failed(request, why)
        delay = http_retry.backoff(errors, self._settings.random) if asked is None else asked
        return self._later(request, delay, why, {"errors": errors})

    def failed(self, request: StartRequest, why: str) -> Finished:
        """No other attempt would help."""
        reason = http_answer.cut(self._settings.redact(why.strip()))
        return Finished(Failed(reason, by_runner=True), request.key)

    def _later(
        self,
        request: StartRequest,
        delay: float,
        message: str,
        memory: Mapping[str, Any],
        *,
        answered: bool = True,
    ) -> Answer:
        left = request.deadline - self._now()
        if left <= 0:
            return self.failed(request, f"the time is over: {message}")
        text = http_answer.cut(self._settings.redact(message))
        # The last send comes just before the deadline rather than never.
        return Retry(min(delay, left), text, answered, {**request.memory, **memory})

    def _since(self, request: StartRequest) -> float:
        return float(request.memory.get("since", self._now()))

    def _now(self) -> float:
        return self._settings.clock.now()
