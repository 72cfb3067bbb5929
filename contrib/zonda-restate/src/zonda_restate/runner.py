"""The runner: starts handlers through Restate's ingress, polls and cancels their invocations.

It keeps nothing between calls but connections. The token is ``{"id": invocation, "at": accepted}``.
What Restate answers, as far as it matters here:

* ``POST /SERVICE/HANDLER/send`` with an ``idempotency-key``: 202, ``Accepted`` first and
  ``PreviouslyAccepted`` later, with the same invocation id;
* ``GET /restate/invocation/ID/output``: 470 while it runs, then the handler's own answer; a failed
  handler chooses the status, and ``x-restate-error-source`` says that it was the handler's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks import ResourceFailure, UsageError
from zonda.hooks.http import Reply, RequestRejected, Transport, TransportError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Lost,
    PollAnswer,
    RetryPolicy,
    Running,
    StartAnswer,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
    http_contract,
)

from .names import Target, target_of
from .settings import Settings, read_settings

STILL_RUNNING = 470
SOURCE = "x-restate-error-source"
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_POLL = 15.0


class RestateRunner(WorkflowRunner):
    """Executions are invocations of handlers that are registered with a Restate server."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Raises UsageError for wrong settings."""
        self._settings: Settings = read_settings(settings)
        self._clock = self._settings.wire.clock
        self._retries = RetryPolicy(
            self._clock.now, self._settings.random, self._settings.give_up, self._settings.redact
        )
        self._transport = Transport(self._settings.wire)

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a handler that the admin API does not know.

        Without ``admin``, or while it cannot be reached, every well-formed name is fine.
        """
        try:
            target = target_of(workflow)
        except UsageError as error:
            raise ResourceFailure(error.message, hint=error.hint) from None
        if not self._settings.admin:
            return
        url = f"{self._settings.admin}/{_described(target)}"
        try:
            reply = self._send("GET", url)
        except (TransportError, RequestRejected):
            return
        if reply.status == 404 and _message(reply):
            raise ResourceFailure(
                f"Restate knows no {target.service}/{target.handler}: {_message(reply)}",
                hint="Register the deployment that serves it.",
            )

    # -- start ----------------------------------------------------------------------------------

    def start(self, request: StartRequest) -> StartAnswer:
        """Send the request; the same key finds the same invocation."""
        try:
            target = target_of(request.workflow)
            content = http_contract.body(request)
        except UsageError as error:
            return self._retries.fail(request, f"{error.message} {error.hint}")
        except ValueError:
            return self._retries.fail(
                request, "The input holds a number that JSON has no word for."
            )
        headers = {"Content-Type": "application/json"}
        if not target.is_keyed_by_operation:  # Restate refuses both at once
            headers["idempotency-key"] = request.key
        path = target.path(request.key, request.resource.id)
        try:
            reply = self._send("POST", f"{self._settings.endpoint}/{path}/send", headers, content)
        except TransportError as error:
            return self._retries.retry_connection(request, f"Restate: {error}")
        except RequestRejected as error:
            return self._retries.fail(request, f"Restate: {error}")
        return self._accepted(request, reply)

    def _accepted(self, request: StartRequest, reply: Reply) -> StartAnswer:
        found = _decoded(reply)
        invocation = found.get("invocationId") if isinstance(found, dict) else None
        if reply.status in (200, 202) and isinstance(invocation, str) and invocation:
            token = {"id": invocation, "at": self._clock.now()}
            return Started(token, self._pause(0.0), invocation)
        why = self._shown(reply)
        if reply.status in BUSY:
            return self._retries.retry_busy(request, why)
        return self._retries.fail(request, why)

    # -- poll -----------------------------------------------------------------------------------

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Ask for the output of the invocation."""
        url = f"{self._settings.endpoint}/restate/invocation/{token['id']}/output"
        pause = self._pause(self._clock.now() - float(token.get("at", 0.0)))
        try:
            reply = self._send("GET", url)
        except TransportError as error:
            return Running(pause, f"Restate: {error}")
        except RequestRejected as error:
            return Failed(f"Restate: {error}", by_runner=True)
        if reply.status == STILL_RUNNING:
            return Running(pause)
        if 200 <= reply.status < 300:
            return _result(reply)
        if reply.headers.get(SOURCE) == "invocation":
            # The handler has failed, whatever status it has chosen for that.
            return Failed(self._settings.redact(_message(reply) or self._shown(reply)))
        if reply.status in (404, 410):
            return Lost(f"{self._shown(reply)} (the invocation is lost)")
        return Running(pause, self._shown(reply))

    def _pause(self, age: float) -> float:
        """Seconds between polls: quick at first, at most 15 s."""
        most = min(max(age / 4, 0.25), _LONGEST_POLL)
        return self._settings.random.uniform(most / 2, most)

    # -- cancel ---------------------------------------------------------------------------------

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask the admin API to cancel the invocation, which may still compensate."""
        if not self._settings.admin:
            return Cancelled.UNSUPPORTED
        url = f"{self._settings.admin}/invocations/{token['id']}/cancel"
        try:
            reply = self._send("PATCH", url)
        except (TransportError, RequestRejected):
            return Cancelled.UNSUPPORTED
        if reply.status == 202:
            return Cancelled.ACCEPTED
        return Cancelled.DONE if reply.status in (200, 404, 409) else Cancelled.UNSUPPORTED

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Reply:
        known = {**self._settings.headers(), **(headers or {})}
        return self._transport.send(method, url, known, content)

    # -- words ----------------------------------------------------------------------------------

    def _shown(self, reply: Reply) -> str:
        said = _message(reply) or reply.body.decode("utf-8", "replace").strip() or "no reason given"
        return self._settings.redact(f"Restate answered {reply.status}: {said}")


def _described(target: Target) -> str:
    plain = Target(target.service, target.handler).path("", "")
    service, _, handler = plain.partition("/")
    return f"services/{service}/handlers/{handler}"


def _decoded(reply: Reply) -> Any:
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return None


def _message(reply: Reply) -> str:
    found = _decoded(reply)
    said = found.get("message") if isinstance(found, dict) else None
    return said if isinstance(said, str) else ""


def _result(reply: Reply) -> PollAnswer:
    """The result of the handler: a JSON object, or anything else as ``{"result": ...}``."""
    if not reply.body.strip():
        return Succeeded({})
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        return Failed("The handler's answer is not JSON.", by_runner=True)
    output = found if isinstance(found, dict) else {"result": found}
    if not http_contract.is_json(output):
        return Failed(
            "The handler's answer holds what JSON has not: NaN, an infinity or half a character."
        )
    given = output.get("resource_id")
    return Succeeded(output, given if isinstance(given, str) else None)
