"""The ``mistral`` runner: workflows of OpenStack Mistral, through its REST API, version 2.

Made by the plug-in's factory from a section of the settings. The key of an operation is the id of
its execution, so that a start which is repeated finds what the first one made. The token::

    {"id": the execution, "at": when it was accepted}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import ResourceFailure
from zonda.hooks.http import Reply, RequestRejected, TransportError
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Lost,
    PollAnswer,
    Running,
    StartAnswer,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)

from ..client import backoff
from ..client.circuit_breaker import RetryLater
from ..client.ttl_set import TtlSet
from ..http_contract.response import BUSY, NOT_AUTHENTICATED
from ..http_runner.retry_policy import HttpRetryPolicy
from ..resources import payload
from . import response
from .api import MistralApi
from .client import ASKED_AGAIN, MistralClient
from .keystone import LoginFailed
from .response import Execution
from .settings import read_settings

SUCCESS, ERROR, CANCELLED = "SUCCESS", "ERROR", "CANCELLED"
#: Names that Mistral's own client takes out of ``params``: for the request, not the workflow.
OF_THE_REQUEST = {"namespace": "workflow_namespace", "source_execution_id": "source_execution_id"}
#: The fields that a poll asks for: input and parameters may be large.
FIELDS = "state,state_info,output,workflow_id,workflow_name"
#: Seconds to the first poll: most short workflows have ended by then.
FIRST_POLL = 0.5


class MistralRunner(WorkflowRunner):
    """Starts, polls and cancels executions at one Mistral."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """``settings``: see mistral_settings. Raises UsageError for wrong ones."""
        self._settings = read_settings(settings)
        self._http = self._settings.http
        self._client = MistralClient(self._settings)
        self._retries = HttpRetryPolicy(self._http, self._client.redact)
        self._unasked = TtlSet(self._http.clock, ASKED_AGAIN)
        #: For resource types that live at this Mistral.
        self.mistral = MistralApi(self._client)

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a workflow that Mistral says it does not have.

        Whatever else becomes of the question, the workflow may exist all the same.
        """
        if workflow in self._unasked:
            return
        query = {"namespace": self._settings.namespace, "fields": "name"}
        try:
            reply = self._client.question("GET", "workflows", workflow, query=query)
        except (TransportError, RequestRejected, LoginFailed, RetryLater):
            reply = None
        if reply is not None and response.is_missing(reply):
            raise ResourceFailure(self._client.redact(response.format_fault(reply)))
        self._unasked.add(workflow)

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    # -- start ------------------------------------------------------------------------------

    def start(self, request: StartRequest) -> StartAnswer:
        """Send the request once. A failure that another send may repair is a ``Retry``."""
        how: dict[str, Any] = {
            "seconds": self._retries.compute_time_left(request),
            "last": self._retries.is_last(request),
        }
        try:
            params = self._build_params(request, how)
            if not isinstance(params, dict):
                return self._interpret_refusal(request, params, "environments")
            content = self._build_content(request, params)
            reply = self._client.send("POST", "executions", content=content, **how)
        except RetryLater as error:
            return self._retries.put_off(request, error)
        except TransportError as error:
            return self._retries.retry_connection(request, self._add_url(str(error)))
        except (RequestRejected, LoginFailed) as error:
            return self._retries.fail(request, self._add_url(str(error)))
        except ValueError:
            why = "The input holds a number that JSON has no word for."
            return self._retries.fail(request, why)
        if reply.status in (200, 201):
            return self._interpret_accepted(request, reply)
        return self._interpret_refusal(request, reply, "executions")

    def _build_params(
        self, request: StartRequest, how: Mapping[str, Any]
    ) -> dict[str, Any] | Reply:
        """The parameters, outputs so far included; the answer of Mistral where that has none.

        A text as ``env`` is the name of an environment at Mistral, which nothing can be added to
        without changing it for everybody: so it is fetched, and what it holds is sent.
        """
        params = dict(request.params)
        name = params.get("env")
        if request.data is None or not isinstance(name, str):
            return params
        reply = self._client.send("GET", "environments", name, **how)
        if reply.status != 200:
            return reply
        variables = response.read_environment(reply)
        return {**params, "env": {**variables, payload.DATA_KEY: request.data}}

    def _build_content(self, request: StartRequest, params: dict[str, Any]) -> dict[str, Any]:
        content: dict[str, Any] = {
            "id": request.key,
            "workflow_id": request.workflow,  # takes names as well
            "workflow_namespace": self._settings.namespace,
            "description": request.description,
        }
        for name, field in OF_THE_REQUEST.items():
            if name in params:
                content[field] = params.pop(name)
        content["input"] = payload.to_json_text(request.inputs)
        content["params"] = payload.to_json_text(params)
        return {name: value for name, value in content.items() if value}

    def _interpret_accepted(self, request: StartRequest, reply: Reply) -> StartAnswer:
        found = response.parse_execution(reply)
        if found is None or found.id != request.key:
            why = f"HTTP {reply.status} with a body that is no execution of the id that was asked"
            return self._retries.fail(request, self._add_url(why))
        # Mistral gives the execution that has the id, whatever else was asked for.
        other = response.find_difference(found, request.workflow, request.inputs)
        if other:
            why = f"the execution {found.id} exists already and has {other}"
            return self._retries.fail(request, self._add_url(why))
        token = {"id": found.id, "at": int(self._http.clock.now())}
        return Started(token, FIRST_POLL, found.id)

    def _interpret_refusal(self, request: StartRequest, reply: Reply, at: str) -> StartAnswer:
        why = self._add_url(response.format_fault(reply), at)
        asked = self._find_requested_delay(reply)
        if reply.status in BUSY:
            return self._retries.retry_busy(request, why, asked)
        if reply.status >= 500 and not response.is_missing(reply):
            return self._retries.retry_error(request, why, asked)
        if reply.status == 401:
            why += ": Mistral does not accept the token"
        return self._retries.fail(request, why)

    def _add_url(self, why: str, part: str = "executions") -> str:
        return f"{self._client.format_url(part)}: {why}"

    def _find_requested_delay(self, reply: Reply) -> float | None:
        return backoff.parse_retry_after(reply.headers, self._http.clock.now())

    # -- poll -------------------------------------------------------------------------------

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Ask how the execution stands; only Mistral's own word ends it."""
        execution = str(token["id"])
        try:
            reply = self._client.send("GET", "executions", execution, query={"fields": FIELDS})
        except RetryLater as error:
            return self._build_running(token, str(error), error.delay)
        except (TransportError, LoginFailed) as error:
            return self._build_running(token, self._add_url(str(error)))
        except RequestRejected as error:
            return Failed(self._client.redact(self._add_url(str(error))), by_runner=True)
        found = response.parse_execution(reply) if reply.status == 200 else None
        if found is not None:
            return self._interpret_execution(token, found)
        why = self._add_url(response.format_fault(reply))
        if response.is_missing(reply):
            return Lost(self._client.redact(f"{why} (the execution is lost)"))
        if 400 <= reply.status < 500 and not self._may_pass(reply):
            return Failed(self._client.redact(why), by_runner=True)
        return self._build_running(token, why, self._find_requested_delay(reply))

    def _may_pass(self, reply: Reply) -> bool:
        """Whether a refusal comes from what stands before Mistral, or may be over soon."""
        status = reply.status
        return status in BUSY or status in NOT_AUTHENTICATED or response.is_page(reply)

    def _interpret_execution(self, token: Mapping[str, Any], found: Execution) -> PollAnswer:
        if found.state == SUCCESS:
            return self._interpret_success(token, found)
        if found.state in (ERROR, CANCELLED):
            output = response.build_failure_output(found)
            return Failed(self._client.redact(response.format_reason(found)), output or None)
        if found.state == "PAUSED":
            return self._build_running(token, "paused: goes on when somebody resumes it at Mistral")
        known = found.state in response.RUNNING
        return self._build_running(
            token, "" if known else f"in the unknown state {found.state[:60]}"
        )

    def _interpret_success(self, token: Mapping[str, Any], found: Execution) -> PollAnswer:
        """The output, unless Mistral has lost it: it drops one that is too large for it."""
        if found.output:
            return Succeeded(found.output)
        try:
            reply = self._client.send("GET", "workflows", found.workflow_id)
        except RetryLater as error:
            return self._build_running(token, str(error), error.delay)
        except (TransportError, LoginFailed) as error:
            return self._build_running(token, self._add_url(str(error), "workflows"))
        except RequestRejected:
            return Succeeded({})
        if reply.status in BUSY or (reply.status >= 500 and not response.is_missing(reply)):
            return self._build_running(
                token, self._add_url(response.format_fault(reply), "workflows")
            )
        declared = response.list_declared_outputs(reply) if reply.status == 200 else []
        if not declared:
            return Succeeded({})
        return Failed(
            f"Mistral has lost the output of the execution {found.id}: it ended well, but none of "
            f"its outputs ({', '.join(declared[:5])}) came. They are most likely larger than "
            "Mistral keeps (1 MiB; execution_field_size_limit_kb in its settings)."
        )

    def _build_running(
        self, token: Mapping[str, Any], message: str, asked: float | None = None
    ) -> Running:
        age = self._http.clock.now() - float(token.get("at", 0))
        delay = backoff.compute_poll_interval(age, self._http.random) if asked is None else asked
        return Running(delay, self._client.redact(message))

    # -- the end ----------------------------------------------------------------------------

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """End the execution at once; what its running action does is ignored by Mistral."""
        content = {"state": CANCELLED, "state_info": reason}
        try:
            reply = self._client.send(
                "PUT", "executions", str(token["id"]), content=content, urgent=True
            )
        except (TransportError, RequestRejected, LoginFailed, RetryLater):
            return Cancelled.UNSUPPORTED
        over = reply.status in (200, 201) or response.is_missing(reply)
        return Cancelled.DONE if over else Cancelled.UNSUPPORTED

    def forget(self, token: Mapping[str, Any]) -> None:
        """Remove the execution from Mistral, where the settings ask for that and it can be had."""
        if self._settings.forget and not self._client.is_paused():
            try:
                self._client.send("DELETE", "executions", str(token["id"]), urgent=True)
            except (TransportError, RequestRejected, LoginFailed, RetryLater):
                return
