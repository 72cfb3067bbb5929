"""The ``http`` runner's side of callbacks: it announces them, reads them, and polls slowly.

An endpoint that was given an address tells there how the run ended; the runner finds it in the
folder that it shares with the bundled service, and is woken when there is something new in it. A
callback may be lost, so the status URL is still asked, once a minute. Used by the runner alone;
does nothing where ``callback`` is not set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zonda.hooks.http import Reply
from zonda.hooks.runners import (
    Failed,
    Finished,
    PollAnswer,
    Retry,
    Running,
    StartAnswer,
    StartRequest,
    Succeeded,
    get_waker,
)
from zonda.hooks.runners.http_contract import instant

from ..http_contract.callback_store import SECRET_BYTES, Callbacks
from .callback_watch import CallbackWatch
from .settings import HttpSettings

#: Seconds between two polls of an endpoint that has an address to call.
SLOW = 60.0
#: Seconds between two looks at what was told.
LOOK = 5.0


class CallbackClient:
    """The callbacks of one runner. ``{"callback": expiry, "due": next poll}`` is in its tokens."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._callbacks: Callbacks | None = None
        if settings.callback:
            folder = Path(settings.callback_folder)
            self._callbacks = Callbacks(folder, settings.callback_signer)
            self._watch = CallbackWatch(folder)

    def field(self, request: StartRequest) -> dict[str, Any] | None:
        """The field ``callback`` of a request: the same on every send."""
        if self._callbacks is None:
            return None
        expires = int(request.deadline)
        opaque = self._callbacks.address(request.key, expires, self._make_secret)
        url = f"{self._settings.callback}{opaque}"
        return {"url": url, "expires": instant(expires)}

    def find_callback_result(self, key: str, expires: Any) -> Reply | None:
        """The callback for ``key`` as the answer of a poll, or None: its coming wakes the run."""
        if self._callbacks is None or expires is None:
            return None
        waker, path = get_waker(), self._callbacks.find_path(key, int(expires))
        if waker is not None and path is not None:
            self._watch.add(path, waker)
        told = self._callbacks.read_answer(key, int(expires))
        return None if told is None else Reply(200, {}, json.dumps(told).encode())

    # -- a run that has a place to poll -------------------------------------------------------

    def build_token_fields(self, request: StartRequest, asked: float | None) -> dict[str, Any]:
        """The fields about callbacks in the token of a new run."""
        if self._callbacks is None:
            return {}
        return {"callback": int(request.deadline), **self._build_due(asked)}

    def is_due(self, token: Mapping[str, Any]) -> bool:
        """Whether the status URL must be polled now."""
        if self._callbacks is None or "callback" not in token:
            return True
        return self._count_seconds_left(token) <= 0

    def note_poll(self, token: Mapping[str, Any], answer: PollAnswer) -> PollAnswer:
        """``answer`` of the status URL, with the time of the next poll in its token."""
        if self._callbacks is None or "callback" not in token:
            return answer
        if isinstance(answer, Succeeded | Failed):
            self.end(str(token["key"]), token["callback"])
        if not isinstance(answer, Running):
            return answer  # a run that is lost may be sent again, with the same address
        return self.poll_soon(
            replace(answer, token={**token, **self._build_due(answer.poll_after)})
        )

    def poll_soon(self, answer: Running) -> Running:
        """``answer`` with an early next poll: to read the folder costs no request."""
        return replace(answer, poll_after=min(answer.poll_after or LOOK, LOOK))

    # -- a run that has none: the same request again is the poll ------------------------------

    def waits(self, request: StartRequest) -> StartAnswer | None:
        """The answer while a request waits for its callback; None: send it."""
        if self._callbacks is None or "due" not in request.memory:
            return None
        left = min(
            self._count_seconds_left(request.memory), request.deadline - self._settings.clock.now()
        )
        if left <= 0:
            return None
        delay, memory = min(left, LOOK), dict(request.memory)
        memory["unsent"] = int(memory.get("unsent", 0)) + 1
        return Retry(delay, "running until its callback comes", True, memory, accepted=True)

    def delay_next_send(self, answer: StartAnswer) -> StartAnswer:
        """``answer`` without a place to poll, with a later next send."""
        if self._callbacks is None or not isinstance(answer, Retry):
            return answer
        memory = {**answer.memory, **self._build_due(answer.delay)}
        return replace(answer, delay=min(answer.delay, LOOK), memory=memory)

    # -- the end ------------------------------------------------------------------------------

    def note_start(self, request: StartRequest, answer: StartAnswer) -> StartAnswer:
        """Return ``answer`` to a start; a finished run refuses callbacks from now on."""
        if self._callbacks is not None and isinstance(answer, Finished):
            self.end(request.key, int(request.deadline))
        return answer

    def end(self, key: str, expires: Any) -> None:
        """Refuse callbacks for ``key`` from now on."""
        if self._callbacks is not None and expires is not None:
            path = self._callbacks.find_path(key, int(expires))
            if path is not None:
                self._watch.drop(path)
            self._callbacks.end(key, int(expires), self._settings.clock.now())

    def close(self) -> None:
        """Wake nobody any more."""
        if self._callbacks is not None:
            self._watch.close()

    def _build_due(self, asked: float | None) -> dict[str, float]:
        pause = max(SLOW, asked or 0.0)
        return {"due": self._settings.clock.now() + pause, "pause": pause}

    def _count_seconds_left(self, token: Mapping[str, Any]) -> float:
        """Seconds until the poll is due; 0 where that is farther away than it can be."""
        left = float(token["due"]) - self._settings.clock.now()
        return left if left <= float(token.get("pause", left)) else 0.0

    def _make_secret(self) -> bytes:
        return self._settings.random.getrandbits(8 * SECRET_BYTES).to_bytes(SECRET_BYTES)


def number_attempt(request: StartRequest) -> StartRequest:
    """``request`` with the number of this attempt: waiting does not count."""
    unsent = int(request.memory.get("unsent", 0))
    return replace(request, attempt=request.attempt - unsent) if unsent else request
