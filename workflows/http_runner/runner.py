"""The ``http`` runner: any HTTP endpoint as a workflow, by zonda's contract, version 1.

Made by the plug-in's factory from a section of the settings. It never waits and keeps nothing
about executions: a retry is an answer (``Retry``), and what a poll needs is in the token::

    {"url": where to poll, "key": ..., "at": when it was accepted, "cancel": URL or absent}

URLs of the endpoint itself are kept without its host, so that it may move meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from zonda.hooks import ResourceFailure, UsageError
from zonda.hooks.http import RequestRejected, TransportError
from zonda.hooks.runners import Cancelled, PollAnswer, StartAnswer, StartRequest, WorkflowRunner

from ..client.circuit_breaker import RetryLater
from ..client.ttl_set import TtlSet
from ..http_contract import response
from .callbacks import CallbackClient
from .poll import ExecutionPoller
from .session import Caller
from .settings import HttpSettings, is_url, read_settings
from .start import ExecutionStarter

LONGEST_CHECK = 5.0
#: Seconds for which an endpoint is not asked again about a name that it had no word for.
ASKED_AGAIN = 30.0


class HttpRunner(WorkflowRunner):
    """Starts, polls and cancels executions behind HTTP."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """``settings``: see http_settings. Raises UsageError for wrong ones."""
        self._settings: HttpSettings = read_settings(settings)
        self._caller = Caller(self._settings)
        callbacks = CallbackClient(self._settings)
        self._polling = ExecutionPoller(self._settings, self._caller, callbacks)
        self._starting = ExecutionStarter(
            self._settings, self._caller, callbacks, self._polling.interpret_callback
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
        return self._polling.poll(token)

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Ask the endpoint to cancel, where it offers that."""
        return self._polling.cancel(token)

    def forget(self, token: Mapping[str, Any]) -> None:
        """Let go of the address for a callback; endpoints keep their own records."""
        self._polling.forget(token)

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
