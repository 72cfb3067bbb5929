"""Starts executions of the ``http`` runner: one request, and the meaning of its answer.

Called by the runner. Keeps nothing; whatever a later send can mend is a ``Retry``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zonda.hooks import UsageError
from zonda.hooks.http import Reply, RequestRejected, TransportError
from zonda.hooks.runners import (
    Failed,
    Finished,
    PollAnswer,
    StartAnswer,
    Started,
    StartRequest,
    Succeeded,
    http_contract,
)

from ..client.circuit_breaker import RetryLater
from ..client.poll_schedule import PollSchedule
from ..http_contract import response
from ..http_contract.response import ACCEPTED, BUSY, REDIRECTS, Answer, WrongAnswer
from . import actions, plain_response
from .actions import Action, NotNamed
from .callbacks import CallbackClient, number_attempt
from .links import Links
from .retry_policy import HttpRetryPolicy
from .session import Caller
from .settings import HttpSettings, redacted_url

CallbackReader = Callable[[Reply], PollAnswer]


class ExecutionStarter:
    """Starts executions for one runner."""

    def __init__(
        self,
        settings: HttpSettings,
        caller: Caller,
        callbacks: CallbackClient,
        schedule: PollSchedule,
        told: CallbackReader,
    ) -> None:
        """``told`` reads what came by a callback."""
        self._settings = settings
        self._caller = caller
        self._callbacks = callbacks
        self._schedule = schedule
        self._read_callback = told
        self._links = Links(settings)
        self._retries = HttpRetryPolicy(settings, caller.redact)

    def start(self, request: StartRequest) -> StartAnswer:
        """Send the request once, unless a callback has already given the result."""
        return self._callbacks.note_start(request, self._start(request))

    def _start(self, request: StartRequest) -> StartAnswer:
        heard = self._callbacks.find_callback_result(request.key, int(request.deadline))
        ended = None if heard is None else self._read_callback(heard)
        if isinstance(ended, Succeeded | Failed):
            return Finished(ended, request.key)
        waiting = self._callbacks.waits(request)
        return waiting or self._send(number_attempt(request))

    def _send(self, request: StartRequest) -> StartAnswer:
        action = self._settings.action(request.action)
        try:
            url = action.url_for(request) or self._settings.find_url(request.workflow)
            content = self._build_content(request, action)
        except NotNamed as error:
            if request.action == "DELETE" and action.needs_id and not request.resource.physical_id:
                return Finished(Succeeded(), request.key)  # what was never named is not there
            return self._retries.fail(request, f"{request.action}: {error}")
        except UsageError as error:
            return self._retries.fail(request, f"{error.message} {error.hint}")
        except ValueError:
            return self._retries.fail(
                request, "The input holds a number that JSON has no word for."
            )
        try:
            reply = self._caller.start(
                request,
                url,
                content,
                action,
                seconds=self._retries.compute_time_left(request),
                last=self._retries.is_last(request),
            )
        except RetryLater as error:
            return self._retries.put_off(request, error)
        except TransportError as error:
            why = f"{redacted_url(url)}: {error}"
            if error.may_have_arrived and not action.repeat:
                why = self._retries.explain(request, f"{why}{plain_response.UNCLEAR}")
                return self._retries.fail(request, why)
            return self._retries.retry_connection(request, why)
        except RequestRejected as error:
            return self._retries.fail(request, f"{redacted_url(url)}: {error}")
        if action.plain:
            return self._interpret_plain(request, action, url, reply)
        return self._interpret_reply(request, url, reply)

    def _build_content(self, request: StartRequest, action: Action) -> bytes | None:
        """The body. Raises ValueError."""
        if action.body == actions.NOTHING:
            return None
        if action.body == actions.INPUTS:
            return http_contract.encoded(dict(request.inputs))
        return http_contract.body(request, self._callbacks.field(request))

    def _interpret_plain(
        self, request: StartRequest, action: Action, url: str, reply: Reply
    ) -> StartAnswer:
        """The answer by the status, where the endpoint does not know the contract."""
        if plain_response.is_pending(reply):
            try:
                place = self._links.resolve_allowed_url(
                    reply.headers["Location"], url, "the Location"
                )
            except WrongAnswer as error:
                return self._retries.fail(request, f"{redacted_url(url)}: {error}")
            token = {**self._build_token(request, place), "plain": request.action}
            first = self._schedule.begin(request.key, f"{request.action} {request.workflow}")
            return Started(token, self._find_requested_delay(reply) or first, request.key)
        if reply.status in ACCEPTED or reply.status in action.gone:
            result = plain_response.to_result(request.action, action, request.inputs, reply)
            return Finished(self._redact_result(result), request.key)
        why = f"{redacted_url(url)}: {response.format_reason(reply)}"
        if reply.status in BUSY and (action.repeat or reply.status in plain_response.NOT_TAKEN):
            return self._retries.retry_busy(request, why, asked=self._find_requested_delay(reply))
        if reply.status >= 500 and action.repeat:
            return self._retries.retry_error(request, why, self._find_requested_delay(reply))
        return self._retries.fail(
            request, why + plain_response.format_hint(request.action, action, reply)
        )

    def _interpret_reply(self, request: StartRequest, url: str, reply: Reply) -> StartAnswer:
        status = reply.status
        if status in ACCEPTED or (status == 409 and response.has_outcome(reply)):
            return self._interpret_accepted(request, url, reply)
        action = self._settings.action(request.action)
        if request.action == "DELETE" and (response.says_gone(reply) or status in action.gone):
            return Finished(Succeeded(), request.key)
        why = f"{redacted_url(url)}: {response.format_reason(reply)}"
        if status in BUSY or (status >= 500 and request.memory.get("accepted")):
            return self._retries.retry_busy(request, why, asked=self._find_requested_delay(reply))
        if status >= 500:
            return self._retries.retry_error(request, why, self._find_requested_delay(reply))
        if status in REDIRECTS:
            return self._retries.fail(
                request, f"{why}: a redirect of a {action.method} is not followed"
            )
        if status == 404 and request.action == "DELETE":
            why += ' (it counts as deleted only if its JSON body says "contract": 1)'
        return self._retries.fail(request, why)

    def _interpret_accepted(self, request: StartRequest, url: str, reply: Reply) -> StartAnswer:
        try:
            answer = response.parse_answer(reply)
            if response.is_ended(answer, reply):
                return Finished(self._redact_result(response.to_result(answer)), request.key)
            status_url = self._links.find_status_url(answer, url, reply)
        except WrongAnswer as error:
            return self._retries.fail(request, f"{redacted_url(url)}: {error}")
        if status_url:
            delay = self._find_requested_delay(reply, answer)
            waited = self._callbacks.build_token_fields(request, delay)
            cancel = self._links.find_cancel_url(answer, status_url, url)
            first = self._schedule.begin(request.key, f"{request.action} {request.workflow}")
            return Started(
                {**self._build_token(request, status_url, cancel), **waited},
                first if delay is None else delay,
                request.key,
            )
        if answer.state in ("", "running"):
            message, delay = answer.message, self._find_requested_delay(reply, answer)
            return self._callbacks.delay_next_send(
                self._retries.poll_by_request(request, message, delay)
            )
        return self._retries.fail(
            request, f"{redacted_url(url)}: {response.describe_unknown_state(answer)}"
        )

    def _build_token(
        self, request: StartRequest, status_url: str, cancel: str = ""
    ) -> dict[str, Any]:
        token = {
            "url": self._settings.make_relative(status_url),
            "key": request.key,
            "at": int(self._settings.clock.now()),
        }
        if cancel:
            token["cancel"] = self._settings.make_relative(cancel)
        return token

    def _find_requested_delay(self, reply: Reply, answer: Answer | None = None) -> float | None:
        return response.find_requested_delay(self._settings.clock.now(), reply, answer)

    def _redact_result(self, result: Succeeded | Failed) -> Succeeded | Failed:
        return response.redact_result(result, self._caller.redact)
