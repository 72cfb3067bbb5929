"""The ``http`` runner: any HTTP endpoint as a workflow, by zonda's contract, version 1.

Made by the plug-in's factory from a section of the settings. It never waits and keeps nothing
about executions: a retry is an answer (``Retry``), and what a poll needs is in the token::

    {"url": where to poll, "key": ..., "at": when it was accepted, "cancel": URL or absent}

URLs of the endpoint itself are kept without its host, so that it may move meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from zonda.hooks import ResourceFailure, UsageError
from zonda.hooks.http import Reply, RequestRejected, TransportError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Lost,
    PollAnswer,
    Running,
    StartAnswer,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)

from ..client.circuit_breaker import RetryLater
from ..client.oauth2 import NoToken
from ..client.poll_schedule import PollSchedule
from ..client.ttl_set import TtlSet
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
from .settings import HttpSettings, is_url, read_settings, redacted_url
from .start import ExecutionStarter

CALLBACK = "the callback"
_HOPS = 3
LONGEST_CHECK = 5.0
#: Seconds for which an endpoint is not asked again about a name that it had no word for.
ASKED_AGAIN = 30.0


class HttpRunner(WorkflowRunner):
    """Starts, polls and cancels executions behind HTTP."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """``settings``: see ``schema``. Raises UsageError for wrong ones."""
        self._settings: HttpSettings = read_settings(settings)
        self._caller = Caller(self._settings)
        self._callbacks = CallbackClient(self._settings)
        self._links = Links(self._settings)
        self._schedule = PollSchedule(self._settings.clock, self._settings.random)
        self._starting = ExecutionStarter(
            self._settings, self._caller, self._callbacks, self._schedule, self._interpret_callback
        )
        # A template may hold a name a thousand times: names that an endpoint knew once, and those
        # that it had no word for a moment ago.
        self._known = TtlSet(self._settings.clock, inf)
        self._unsure = TtlSet(self._settings.clock, ASKED_AGAIN)

    def start(self, request: StartRequest) -> StartAnswer:
        """Send the request once. A failure that another send may repair is a ``Retry``."""
        return self._starting.start(request)

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Read the callback, or poll; only the endpoint's own answer ends the execution."""
        clock = self._settings.clock
        begun, key = clock.monotonic(), str(token["key"])
        too_early = self._schedule.begin_poll(key)
        if too_early is not None:
            return Running(too_early)
        answer = self._poll(token)
        if isinstance(answer, Succeeded):
            self._schedule.note_end(key, begun)
        if not isinstance(answer, Running) or answer.poll_after is not None:
            return answer
        age = clock.now() - float(token.get("at", 0))
        return replace(answer, poll_after=self._schedule.plan_next(key, age, begun))

    def _poll(self, token: Mapping[str, Any]) -> PollAnswer:
        heard = self._callbacks.find_callback_result(str(token["key"]), token.get("callback"))
        told = self._build_running("") if heard is None else self._interpret_answer(CALLBACK, heard)
        if not isinstance(told, Running):
            return told
        if not self._callbacks.is_due(token):
            return self._callbacks.poll_soon(told)
        return self._callbacks.note_poll(token, self._poll_status_url(token))

    def _poll_status_url(self, token: Mapping[str, Any]) -> PollAnswer:
        url = first = self._settings.absolute(str(token["url"]))
        for _ in range(_HOPS):
            try:
                reply = self._caller.later("GET", url, str(token["key"]))
            except RetryLater as error:
                return self._build_running(str(error), error.delay)
            except (TransportError, NoToken) as error:
                return self._build_running(f"{redacted_url(url)}: {error}")
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
            return self._interpret_answer(url, reply)
        why = f"{redacted_url(url)}: {response.format_reason(reply)}"
        if status in (404, 410):
            return Lost(self._caller.redact(f"{why} (the execution is lost)"))
        if status >= 500 or status in BUSY or status in NOT_AUTHENTICATED:
            return self._build_running(why, self._find_requested_delay(reply))
        return self._build_failed(why)

    def _find_requested_delay(self, reply: Reply, answer: Answer | None = None) -> float | None:
        return response.find_requested_delay(self._settings.clock.now(), reply, answer)

    def _interpret_plain(self, token: Mapping[str, Any], reply: Reply) -> PollAnswer:
        if reply.status == 202:
            return self._build_running("", self._find_requested_delay(reply))
        name = str(token["plain"])
        return self._redact_result(
            plain_response.to_result(name, self._settings.action(name), None, reply)
        )

    def _interpret_callback(self, reply: Reply) -> PollAnswer:
        """The answer in a callback that came before there was a token."""
        return self._interpret_answer(CALLBACK, reply)

    def _interpret_answer(self, url: str, reply: Reply) -> PollAnswer:
        try:
            answer = response.parse_answer(reply)
        except WrongAnswer as error:
            return self._build_failed(f"{redacted_url(url)}: {error}")
        if response.is_ended(answer, reply):
            return self._redact_result(response.to_result(answer))
        known = answer.state in ("", "running")
        message = answer.message if known else response.describe_unknown_state(answer)
        asked = self._find_requested_delay(reply, answer)
        return self._build_running(message, asked, answer.progress)

    def _build_running(
        self,
        message: str,
        asked: float | None = None,
        progress: float | None = None,
    ) -> Running:
        return Running(asked, self._caller.redact(message), progress)

    def _build_failed(self, why: str) -> Failed:
        return Failed(self._caller.redact(why), by_runner=True)

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask the endpoint to cancel, where it offers that."""
        self._schedule.drop(str(token["key"]))
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
        self._schedule.drop(str(token["key"]))
        self._callbacks.end(str(token["key"]), token.get("callback"))

    def _redact_result(self, result: Succeeded | Failed) -> Succeeded | Failed:
        return response.redact_result(result, self._caller.redact)

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a name without endpoint, or one the endpoint does not know.

        Only an endpoint that says so (as the bundled service does) is believed; one that cannot
        be reached or has never heard of the question may know the workflow all the same.
        """
        try:
            url = self._settings.find_url(workflow)
        except UsageError as error:
            raise ResourceFailure(error.message, hint=error.hint) from None
        if self._settings.actions:
            return  # what the name means is for the section to say
        if is_url(workflow) or workflow in self._known or workflow in self._unsure:
            return
        self._unsure.add(workflow)
        if self._caller.is_paused(url):
            return
        try:
            reply = self._caller.later("GET", url, workflow, urgent=True, seconds=LONGEST_CHECK)
        except (TransportError, RequestRejected, RetryLater):
            return
        if reply.status == 200:
            self._known.add(workflow)
        elif response.denies(reply, workflow):
            self._unsure.drop(workflow)
            raise ResourceFailure(self._caller.redact(response.format_reason(reply)))

    def close(self) -> None:
        """Close every connection."""
        self._caller.close()
        self._callbacks.close()
