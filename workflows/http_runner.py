"""The ``http`` runner: any HTTP endpoint as a workflow, by zonda's contract, version 1.

Made by the plug-in's factory from a section of the settings. It never waits and keeps nothing
between calls: a retry is an answer (``Retry``), and what a poll needs is in the token::

    {"url": where to poll, "key": ..., "at": when it was accepted, "cancel": URL or absent}

URLs of the endpoint itself are kept without its host, so that it may move meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin

from zonda.hooks.errors import ResourceFailure, UsageError
from zonda.hooks.runner import (
    Cancelled,
    Failed,
    Finished,
    Lost,
    PollAnswer,
    Retry,
    Running,
    StartAnswer,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)

from . import http_answer, http_callbacks, http_request, http_retry
from .http_answer import Answer, WrongAnswer
from .http_callbacks import Awaited
from .http_settings import HttpSettings, is_url, origin, read_settings, shown
from .http_states import FINAL, STATES
from .http_transport import Reply, Transport, Unreachable, Unusable

ACCEPTED = (200, 201, 202, 204)
BUSY = frozenset({408, 425, 429, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_AUTHENTICATED = frozenset({401, 403, 407})
RETRIES_OF_ERRORS = 3
LONGEST_TOKEN_URL = 800
LONGEST_CHECK = 5.0
#: Seconds for which an endpoint is not asked again about a name that it had no word for.
ASKED_AGAIN = 30.0
#: What an attempt gets at least, in seconds.
LEAST_ATTEMPT = 0.1
_HOPS = 3
_CALLBACK = "the callback"


class HttpRunner(WorkflowRunner):
    """Starts, polls and cancels executions behind HTTP."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """``settings``: see http_settings. Raises UsageError for wrong ones."""
        self._settings: HttpSettings = read_settings(settings)
        self._transport = Transport(self._settings)
        self._callbacks = Awaited(self._settings)
        # A template may hold a name a thousand times: names that an endpoint knew once, and until
        # when one need not be asked again about a name that it had no word for.
        self._known: set[str] = set()
        self._unsure: dict[str, float] = {}

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a name without endpoint, or one the endpoint does not know.

        Only an endpoint that says so (as the bundled service does) is believed; one that cannot
        be reached or has never heard of the question may know the workflow all the same.
        """
        try:
            url = self._settings.url_of(workflow)
        except UsageError as error:
            raise ResourceFailure(error.message, hint=error.hint) from None
        now = self._settings.clock.monotonic()
        if is_url(workflow) or workflow in self._known or self._unsure.get(workflow, now) > now:
            return
        headers = http_request.later_headers(self._settings, workflow, url)
        self._unsure[workflow] = now + ASKED_AGAIN
        try:
            reply = self._transport.send("GET", url, headers, seconds=LONGEST_CHECK)
        except (Unreachable, Unusable):
            return
        if reply.status == 200:
            self._known.add(workflow)
        elif http_answer.denies(reply, workflow):
            self._unsure.pop(workflow, None)
            raise ResourceFailure(self._settings.redact(http_answer.reason(reply)))

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    # -- start ------------------------------------------------------------------------------

    def start(self, request: StartRequest) -> StartAnswer:
        """Send the request once. Whatever a later send can mend is a ``Retry``."""
        return self._callbacks.started(request, self._start(request))

    def _start(self, request: StartRequest) -> StartAnswer:
        heard = self._callbacks.heard(request.key, int(request.deadline))
        ended = None if heard is None else self._told({}, _CALLBACK, heard)
        if isinstance(ended, Succeeded | Failed):
            return Finished(ended, request.key)
        waiting = self._callbacks.waits(request)
        return waiting or self._send(http_callbacks.sent(request))

    def _send(self, request: StartRequest) -> StartAnswer:
        try:
            url = self._settings.url_of(request.workflow)
            content = http_request.body(request, self._callbacks.field(request))
        except UsageError as error:
            return self._failed(request, f"{error.message} {error.hint}")
        except ValueError:
            return self._failed(request, "The input holds a number that JSON has no word for.")
        headers = http_request.start_headers(self._settings, request, url, content)
        since = float(request.memory.get("since", self._settings.clock.now()))
        try:
            reply = self._transport.send(
                "POST", url, headers, content, seconds=self._left(request, since)
            )
        except Unreachable as error:
            return self._unreached(request, f"{shown(url)}: {error}", since)
        except Unusable as error:
            return self._failed(request, f"{shown(url)}: {error}")
        return self._judged(request, url, reply)

    def _judged(self, request: StartRequest, url: str, reply: Reply) -> StartAnswer:
        status = reply.status
        if status in ACCEPTED or (status == 409 and _has_outcome(reply)):
            return self._accepted(request, url, reply)
        if request.action == "DELETE" and http_answer.says_gone(reply):
            return Finished(Succeeded(), request.key)
        why = f"{shown(url)}: {http_answer.reason(reply)}"
        if status in BUSY or (status >= 500 and request.memory.get("accepted")):
            return self._again(request, why, asked=self._header_delay(reply))
        if status >= 500:
            return self._error(request, why, reply)
        if status in REDIRECTS:
            return self._failed(request, f"{why}: a redirect of a POST is not followed")
        if status == 404 and request.action == "DELETE":
            why += ' (it counts as deleted only if its JSON body says "contract": 1)'
        return self._failed(request, why)

    def _accepted(self, request: StartRequest, url: str, reply: Reply) -> StartAnswer:
        try:
            answer = _answer(reply)
            if _ended(answer, reply):
                return Finished(self._clean(http_answer.result(answer)), request.key)
            status_url = self._status_url(answer, url, reply)
        except WrongAnswer as error:
            return self._failed(request, f"{shown(url)}: {error}")
        if status_url:
            delay = self._asked(answer, reply)
            waited = self._callbacks.in_token(request, delay)
            return Started(
                {**self._token(request, answer, status_url, url), **waited},
                http_retry.poll_interval(0.0, self._settings.random) if delay is None else delay,
                request.key,
            )
        if answer.state in ("", "running"):
            return self._callbacks.asked_again(self._ask_again(request, answer, reply))
        return self._failed(request, f"{shown(url)}: {_unknown_state(answer)}")

    def _token(
        self, request: StartRequest, answer: Answer, status_url: str, url: str
    ) -> dict[str, Any]:
        token = {
            "url": self._settings.movable(status_url),
            "key": request.key,
            "at": int(self._settings.clock.now()),
        }
        cancel = urljoin(url, answer.text("cancel_url")) if answer.text("cancel_url") else ""
        if not cancel and answer.body.get("cancellable") is True:
            cancel = status_url
        if cancel and self._may_call(cancel, url) and len(cancel) <= LONGEST_TOKEN_URL:
            token["cancel"] = self._settings.movable(cancel)
        return token

    def _status_url(self, answer: Answer, url: str, reply: Reply) -> str:
        """Where to poll, absolute; empty where the answer says nothing. Raises WrongAnswer."""
        given = answer.text("status_url") or reply.headers.get("Location", "")
        if not given:
            return ""
        found = urljoin(url, given)
        if not self._may_call(found, url):
            raise WrongAnswer(
                f"the status URL {shown(found)} is of another origin, which poll_origins "
                "does not list"
            )
        if len(found) > LONGEST_TOKEN_URL:
            raise WrongAnswer(f"the status URL is longer than {LONGEST_TOKEN_URL} characters")
        return found

    def _may_call(self, url: str, base: str) -> bool:
        found = origin(url)
        return bool(found) and (found == origin(base) or found in self._settings.poll_origins)

    # -- retries ----------------------------------------------------------------------------

    def _ask_again(self, request: StartRequest, answer: Answer, reply: Reply) -> StartAnswer:
        """A 202 that names no place to poll: the same request again is the poll."""
        since = float(request.memory.get("accepted") or self._settings.clock.now())
        delay = self._asked(answer, reply)
        if delay is None:
            age = self._settings.clock.now() - since
            delay = http_retry.poll_interval(age, self._settings.random)
        message = self._settings.redact(answer.text("message")) or "running"
        return self._retry(request, delay, message, {"accepted": since})

    def _left(self, request: StartRequest, since: float) -> float | None:
        """Seconds that an attempt may take where nothing ever answered; None: as long as any."""
        if request.answered:
            return None
        now = self._settings.clock.now()
        left = max(since + self._settings.connect_give_up - now, LEAST_ATTEMPT)
        return min(left, self._settings.answer_timeout)

    def _unreached(self, request: StartRequest, why: str, since: float) -> StartAnswer:
        if request.answered:
            return self._again(request, why)
        now = self._settings.clock.now()
        left = since + self._settings.connect_give_up - now
        if left <= 0:
            tried = f"given up after {self._settings.connect_give_up:g} s without any answer"
            return self._failed(request, f"{why} ({tried})")
        failures = int(request.memory.get("failures", 0)) + 1
        delay = min(http_retry.backoff(failures, self._settings.random), left)
        message = f"{why} (given up in {left:.0f} s)"
        memory = {"since": since, "failures": failures}
        return self._retry(request, delay, message, memory, answered=False)

    def _again(self, request: StartRequest, why: str, asked: float | None = None) -> StartAnswer:
        """Retry until the deadline."""
        failures = int(request.memory.get("failures", 0)) + 1
        delay = http_retry.backoff(failures, self._settings.random) if asked is None else asked
        return self._retry(request, delay, why, {"failures": failures})

    def _error(self, request: StartRequest, why: str, reply: Reply) -> StartAnswer:
        """An error of the endpoint itself: a few retries."""
        errors = int(request.memory.get("errors", 0)) + 1
        if errors > RETRIES_OF_ERRORS:
            return self._failed(request, why)
        asked = self._header_delay(reply)
        delay = http_retry.backoff(errors, self._settings.random) if asked is None else asked
        return self._retry(request, delay, why, {"errors": errors})

    def _retry(
        self,
        request: StartRequest,
        delay: float,
        message: str,
        memory: Mapping[str, Any],
        *,
        answered: bool = True,
    ) -> StartAnswer:
        left = request.deadline - self._settings.clock.now()
        if left <= 0:
            return self._failed(request, f"the time is over: {message}")
        # The last send comes just before the deadline rather than never.
        soon = min(delay, left)
        text = http_answer.cut(self._settings.redact(message))
        return Retry(soon, text, answered, {**request.memory, **memory})

    def _failed(self, request: StartRequest, why: str) -> Finished:
        reason = http_answer.cut(self._settings.redact(why.strip()))
        return Finished(Failed(reason, by_runner=True), request.key)

    def _clean(self, result: Succeeded | Failed) -> Succeeded | Failed:
        if isinstance(result, Succeeded):
            return result
        return Failed(
            self._settings.redact(result.reason),
            result.output,
            result.resource_id,
            result.retryable,
        )

    def _header_delay(self, reply: Reply) -> float | None:
        return http_retry.retry_after(reply.headers.get("Retry-After"), self._settings.clock.now())

    def _asked(self, answer: Answer, reply: Reply) -> float | None:
        return self._header_delay(reply) if answer.retry_after is None else answer.retry_after

    # -- poll -------------------------------------------------------------------------------

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Look at what was told, or ask; only the endpoint's own word ends the execution."""
        heard = self._callbacks.heard(str(token["key"]), token.get("callback"))
        told = self._waiting(token, "") if heard is None else self._told(token, _CALLBACK, heard)
        if not isinstance(told, Running):
            return told
        if not self._callbacks.is_due(token):
            return self._callbacks.soon(told)
        return self._callbacks.polled(token, self._polled(token))

    def _polled(self, token: Mapping[str, Any]) -> PollAnswer:
        url = first = self._settings.absolute(str(token["url"]))
        for _ in range(_HOPS):
            headers = http_request.later_headers(self._settings, str(token["key"]), url)
            try:
                reply = self._transport.send("GET", url, headers)
            except Unreachable as error:
                return self._waiting(token, f"{shown(url)}: {error}")
            except Unusable as error:
                return self._poll_failed(f"{shown(url)}: {error}")
            if reply.status not in REDIRECTS or "Location" not in reply.headers:
                return self._judged_poll(token, url, reply)
            target = urljoin(url, reply.headers["Location"])
            if not self._may_call(target, first):
                return self._poll_failed(f"{shown(url)} redirects to another origin")
            url = target
        return self._poll_failed(f"{shown(url)}: too many redirects")

    def _judged_poll(self, token: Mapping[str, Any], url: str, reply: Reply) -> PollAnswer:
        status = reply.status
        if status in ACCEPTED:
            return self._told(token, url, reply)
        why = f"{shown(url)}: {http_answer.reason(reply)}"
        if status in (404, 410):
            return Lost(http_answer.cut(self._settings.redact(f"{why} (the execution is lost)")))
        if status >= 500 or status in BUSY or status in NOT_AUTHENTICATED:
            return self._waiting(token, why, self._header_delay(reply))
        return self._poll_failed(why)

    def _told(self, token: Mapping[str, Any], url: str, reply: Reply) -> PollAnswer:
        try:
            answer = _answer(reply)
        except WrongAnswer as error:
            return self._poll_failed(f"{shown(url)}: {error}")
        if _ended(answer, reply):
            return self._clean(http_answer.result(answer))
        known = answer.state in ("", "running")
        message = answer.text("message") if known else _unknown_state(answer)
        asked = self._asked(answer, reply)
        return self._waiting(token, message, asked, answer.progress)

    def _waiting(
        self,
        token: Mapping[str, Any],
        message: str,
        asked: float | None = None,
        progress: float | None = None,
    ) -> Running:
        age = self._settings.clock.now() - float(token.get("at", 0))
        delay = http_retry.poll_interval(age, self._settings.random) if asked is None else asked
        return Running(delay, http_answer.cut(self._settings.redact(message)), progress)

    def _poll_failed(self, why: str) -> Failed:
        return Failed(http_answer.cut(self._settings.redact(why)), by_runner=True)

    # -- cancel -----------------------------------------------------------------------------

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask for the end, where the endpoint offered that; never required of an endpoint."""
        if not token.get("cancel"):
            return Cancelled.UNSUPPORTED
        url = self._settings.absolute(str(token["cancel"]))
        headers = http_request.later_headers(self._settings, str(token["key"]), url)
        try:
            reply = self._transport.send("DELETE", url, headers)
        except (Unreachable, Unusable):
            return Cancelled.UNSUPPORTED
        if reply.status in (404, 410):
            return Cancelled.DONE
        return Cancelled.ACCEPTED if 200 <= reply.status < 300 else Cancelled.UNSUPPORTED


def _answer(reply: Reply) -> Answer:
    return Answer({}) if reply.status == 204 else http_answer.read(reply)


def _ended(answer: Answer, reply: Reply) -> bool:
    """A final state says so; without any state the status does (409: known, still running)."""
    if answer.state:
        return answer.state in FINAL
    return reply.status not in (202, 409)


def _has_outcome(reply: Reply) -> bool:
    body = http_answer.decoded(reply)
    if not isinstance(body, dict):
        return False
    return body.get("state") in STATES or bool(body.get("status_url"))


def _unknown_state(answer: Answer) -> str:
    known = ", ".join(STATES)
    return f"the state {answer.state[:60]!r} in the answer is none of {known}"
