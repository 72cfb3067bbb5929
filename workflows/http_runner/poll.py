"""Polls and cancels executions of the ``http`` runner.

Called by the runner. Keeps nothing: all that it knows of an execution is the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.http import Reply, RequestRejected, TransportError
from zonda.hooks.runners import Cancelled, Failed, Lost, PollAnswer, Running, Succeeded

from ..client import backoff
from ..client.circuit_breaker import RetryLater
from ..client.oauth2 import NoToken
from ..http_contract import response
from ..http_contract.response import (
    ACCEPTED,
    BUSY,
    NOT_AUTHENTICATED,
    REDIRECTS,
    Answer,
    WrongAnswer,
)
from . import plain_response
from .callbacks import CallbackClient
from .links import Links, join_url
from .session import Caller
from .settings import HttpSettings, redacted_url

CALLBACK = "the callback"
_HOPS = 3


class ExecutionPoller:
    """Polls and cancels executions for one runner."""

    def __init__(self, settings: HttpSettings, caller: Caller, callbacks: CallbackClient) -> None:
        self._settings = settings
        self._caller = caller
        self._callbacks = callbacks
        self._links = Links(settings)
        self._redact = caller.redact

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Read the callback, or poll; only the endpoint's own answer ends the execution."""
        heard = self._callbacks.find_callback_result(str(token["key"]), token.get("callback"))
        told = (
            self._build_running(token, "")
            if heard is None
            else self._interpret_answer(token, CALLBACK, heard)
        )
        if not isinstance(told, Running):
            return told
        if not self._callbacks.is_due(token):
            return self._callbacks.poll_soon(told)
        return self._callbacks.polled(token, self._poll_status_url(token))

    def _poll_status_url(self, token: Mapping[str, Any]) -> PollAnswer:
        url = first = self._settings.absolute(str(token["url"]))
        for _ in range(_HOPS):
            try:
                reply = self._caller.later("GET", url, str(token["key"]))
            except RetryLater as error:
                return self._build_running(token, str(error), error.delay)
            except (TransportError, NoToken) as error:
                return self._build_running(token, f"{redacted_url(url)}: {error}")
            except RequestRejected as error:
                return self._build_failed(f"{redacted_url(url)}: {error}")
            if reply.status not in REDIRECTS or "Location" not in reply.headers:
                return self._interpret_reply(token, url, reply)
            target = join_url(url, reply.headers["Location"])
            if not self._links.may_call(target, first):
                return self._build_failed(f"{redacted_url(url)} redirects to another origin")
            url = target
        return self._build_failed(f"{redacted_url(url)}: too many redirects")

    def _interpret_reply(self, token: Mapping[str, Any], url: str, reply: Reply) -> PollAnswer:
        status = reply.status
        if token.get("plain") and status in ACCEPTED:
            return self._interpret_plain(token, reply)
        if status in ACCEPTED:
            return self._interpret_answer(token, url, reply)
        why = f"{redacted_url(url)}: {response.format_reason(reply)}"
        if status in (404, 410):
            return Lost(response.truncate_text(self._redact(f"{why} (the execution is lost)")))
        if status >= 500 or status in BUSY or status in NOT_AUTHENTICATED:
            return self._build_running(token, why, self._find_requested_delay(reply))
        return self._build_failed(why)

    def _find_requested_delay(self, reply: Reply, answer: Answer | None = None) -> float | None:
        return response.find_requested_delay(self._settings.clock.now(), reply, answer)

    def _interpret_plain(self, token: Mapping[str, Any], reply: Reply) -> PollAnswer:
        if reply.status == 202:
            return self._build_running(token, "", self._find_requested_delay(reply))
        name = str(token["plain"])
        return self._redact_result(
            plain_response.to_result(name, self._settings.action(name), None, reply)
        )

    def interpret_callback(self, reply: Reply) -> PollAnswer:
        """The answer in a callback that came before there was a token."""
        return self._interpret_answer({}, CALLBACK, reply)

    def _interpret_answer(self, token: Mapping[str, Any], url: str, reply: Reply) -> PollAnswer:
        try:
            answer = response.parse_answer(reply)
        except WrongAnswer as error:
            return self._build_failed(f"{redacted_url(url)}: {error}")
        if response.is_ended(answer, reply):
            return self._redact_result(response.to_result(answer))
        known = answer.state in ("", "running")
        message = answer.text("message") if known else response.describe_unknown_state(answer)
        asked = self._find_requested_delay(reply, answer)
        return self._build_running(token, message, asked, answer.progress)

    def _build_running(
        self,
        token: Mapping[str, Any],
        message: str,
        asked: float | None = None,
        progress: float | None = None,
    ) -> Running:
        age = self._settings.clock.now() - float(token.get("at", 0))
        delay = (
            backoff.compute_poll_interval(age, self._settings.random) if asked is None else asked
        )
        return Running(delay, response.truncate_text(self._redact(message)), progress)

    def _build_failed(self, why: str) -> Failed:
        return Failed(response.truncate_text(self._redact(why)), by_runner=True)

    def cancel(self, token: Mapping[str, Any]) -> Cancelled:
        """Ask the endpoint to cancel, where it offers that."""
        self._callbacks.end(str(token["key"]), token.get("callback"))
        if not token.get("cancel"):
            return Cancelled.UNSUPPORTED
        url = self._settings.absolute(str(token["cancel"]))
        try:
            reply = self._caller.later("DELETE", url, str(token["key"]), urgent=True)
        except (TransportError, RequestRejected, RetryLater):
            return Cancelled.UNSUPPORTED
        if reply.status in (404, 410):
            return Cancelled.DONE
        return Cancelled.ACCEPTED if 200 <= reply.status < 300 else Cancelled.UNSUPPORTED

    def forget(self, token: Mapping[str, Any]) -> None:
        """Refuse callbacks from now on."""
        self._callbacks.end(str(token["key"]), token.get("callback"))

    def _redact_result(self, result: Succeeded | Failed) -> Succeeded | Failed:
        return response.redact_result(result, self._redact)
