"""Sends requests of the ``http`` contract to one endpoint and follows them to their end.

The tools of ``zonda runner check``: what a runner would do, in single steps that can be looked at.
Raises ``Violated`` where the endpoint leaves the contract on the way. It waits, since it is no part
of the engine: a command's own thread follows one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from zonda.hooks import Clock
from zonda.hooks.http import Reply, RequestRejected, TransportError
from zonda.hooks.runners import Failed, ResourceRef, StackRef, StartRequest, http_contract

from ..client import backoff
from ..http_contract import response
from ..http_contract.response import ACCEPTED, BUSY, REDIRECTS, Answer, WrongAnswer
from ..http_contract.states import FINAL
from ..http_runner.links import LONGEST as LONGEST_TOKEN_URL
from ..http_runner.session import Caller
from ..http_runner.settings import HttpSettings, origin, redacted_url
from .violations import Violated

RESOURCE_TYPE = "Zonda::Runner::Check"
_FIRST_POLL, _LAST_POLL, _HOPS = 0.05, 2.0, 3


@dataclass(frozen=True, slots=True)
class Target:
    """The endpoint to check. ``workflow``: a name below the endpoint, or the endpoint's own URL."""

    workflow: str
    delete_workflow: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    failing_inputs: Mapping[str, Any] | None = field(default=None, repr=False)
    delete: bool = True
    timeout: float = 60.0
    listener: tuple[str, int] | None = None
    callback_url: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """A request that may be sent more than once. ``content`` is its body."""

    request: StartRequest
    url: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run. Two answers to one key must give the same one."""

    state: str
    output: Mapping[str, Any]
    resource_id: str | None
    reason: str = ""

    def differs(self, other: Outcome) -> str:
        """The first difference from ``other`` as text; empty where there is none."""
        if self.state != other.state:
            return f"it was {self.state} and is now {other.state}"
        if self.resource_id != other.resource_id:
            return f"resource_id was {self.resource_id!r} and is now {other.resource_id!r}"
        changed = [
            name
            for name in sorted({*self.output, *other.output})
            if self.output.get(name) != other.output.get(name)
        ]
        return f"output.{changed[0]} is another than before" if changed else ""


class Probe:
    """Requests to one endpoint."""

    def __init__(
        self,
        target: Target,
        settings: HttpSettings,
        pause: Callable[[float], object],
        new_id: Callable[[], str],
    ) -> None:
        self.target = target
        self.settings = settings
        self.clock: Clock = settings.clock
        self.pause = pause
        self.new_id = new_id
        self._caller = Caller(disable_breaker(settings))

    def close(self) -> None:
        """Close every connection."""
        self._caller.close()

    def clean(self, text: str) -> str:
        """``text`` without anything secret that is known here."""
        return self._caller.redact(text)

    # -- requests -----------------------------------------------------------------------------

    def operation(
        self,
        action: str = "CREATE",
        *,
        made: Operation | None = None,
        outcome: Outcome | None = None,
        workflow: str = "",
        deadline: float | None = None,
        callback: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> Operation:
        """A request with a key of its own; ``made`` and ``outcome`` tell which thing is meant."""
        resource_id = made.request.resource.id if made else self.new_id()
        physical = outcome.resource_id if outcome else None
        after = self.clock.now() + self.target.timeout if deadline is None else deadline
        request = StartRequest(
            workflow=workflow or self._choose_workflow(action),
            action=action,
            key=self.new_id(),
            deadline=after,
            stack=StackRef(self.new_id(), "zonda-runner-check", "default"),
            resource=ResourceRef(resource_id, "checked", RESOURCE_TYPE, physical),
            **{"inputs": self.target.inputs, **self._build_known_fields(made, outcome), **fields},
        )
        url = self.settings.find_url(request.workflow)
        return Operation(request, url, http_contract.body(request, callback))

    def _choose_workflow(self, action: str) -> str:
        named = self.target.delete_workflow if action == "DELETE" else ""
        return named or self.target.workflow

    def _build_known_fields(
        self, made: Operation | None, outcome: Outcome | None
    ) -> dict[str, Any]:
        if made is None:
            return {}
        data = dict(outcome.output) if outcome else {}
        params = {"env": {"heat_extresource_data": data}}
        return {"create_key": made.request.key, "data": data, "params": params}

    def change_body(self, made: Operation) -> Operation:
        """A request with the key of ``made`` and another body."""
        request = replace(made.request, description="another body under the same key")
        return Operation(request, made.url, http_contract.body(request))

    def send(
        self, operation: Operation, *, attempt: int = 1, settings: HttpSettings | None = None
    ) -> Reply:
        """Send a request once. Raises TransportError and RequestRejected."""
        request = replace(operation.request, attempt=attempt)
        caller = self._caller if settings is None else Caller(disable_breaker(settings))
        seconds = min(self.settings.answer_timeout, self.target.timeout)
        try:
            return caller.start(request, operation.url, operation.content, seconds=seconds)
        finally:
            if caller is not self._caller:
                caller.close()

    def send_once(self, operation: Operation, **more: Any) -> Reply:
        """Send a request once; raises Violated where no answer can be read."""
        try:
            return self.send(operation, **more)
        except (TransportError, RequestRejected) as error:
            raise Violated(
                "an answer", f"{redacted_url(operation.url)}: {error}", TRY_CURL
            ) from None

    def later(self, method: str, url: str, key: str) -> Reply:
        """Poll, or ask to cancel; redirects within the origin are followed for GET."""
        for _ in range(_HOPS):
            try:
                reply = self._caller.later(method, url, key)
            except (TransportError, RequestRejected) as error:
                raise Violated(
                    "an answer to a poll", f"{method} {redacted_url(url)}: {error}", TRY_CURL
                ) from None
            if method != "GET" or reply.status not in REDIRECTS:
                return reply
            url = self.check_url(urljoin(url, reply.headers.get("Location", "")), url, "a redirect")
        raise Violated("an answer to a poll", "redirects without end", "Answer at the status URL")

    def check_url(self, found: str, base: str, what: str) -> str:
        """Return the URL ``found``; raises Violated if a runner would not call it."""
        if origin(found) != origin(base) and origin(found) not in self.settings.poll_origins:
            raise Violated(
                f"{what} of the endpoint's own origin, {origin(base)}",
                f"{what} of another origin, {redacted_url(found)}",
                "Give a path (/runs/1), or list the origin in the section's poll_origins",
            )
        return found

    # -- the way to the end -------------------------------------------------------------------

    def outcome(self, operation: Operation, reply: Reply) -> Outcome:
        """The outcome of the run of ``operation``, by its first answer ``reply`` and polls."""
        end = self.clock.monotonic() + self.target.timeout
        attempt, wait = 1, _FIRST_POLL
        while True:
            answer = self.read_accepted(operation, reply)
            if answer is not None and is_ended(answer, reply):
                return to_outcome(answer)
            place = self.place(operation, reply, answer) if answer is not None else ""
            if place:
                return self.poll(operation, place, self.read_delay(answer, reply), end)
            wait = self._wait(wait, self.read_delay(answer, reply), end, "the same request again")
            attempt += 1
            reply = self.send_once(operation, attempt=attempt)

    def read_accepted(self, operation: Operation, reply: Reply) -> Answer | None:
        """The answer object; None where the endpoint asks to try again."""
        if reply.status in BUSY:
            return None
        if reply.status in ACCEPTED or has_outcome(reply):
            return read_answer(reply, "the answer")
        if operation.request.action == "DELETE" and response.says_gone(reply):
            return Answer({"state": "succeeded"}, "succeeded")
        if operation.request.action == "DELETE" and reply.status == 404:
            raise Violated(
                'success, 410, or 404 with "contract": 1 in its JSON body',
                response.format_reason(reply),
                "A thing that is not there is deleted: answer 204, or 410, so that a mistyped "
                "URL cannot be taken for it",
            )
        raise Violated("200, 201, 202 or 204", response.format_reason(reply), find_advice(reply))

    def place(self, operation: Operation, reply: Reply, answer: Answer) -> str:
        """The URL to poll, checked; empty where the answer names none."""
        given = answer.text("status_url") or reply.headers.get("Location", "")
        if not given:
            return ""
        found = self.check_url(urljoin(operation.url, given), operation.url, "a status URL")
        if len(found) > LONGEST_TOKEN_URL:
            raise Violated(
                f"a status URL of at most {LONGEST_TOKEN_URL} characters",
                f"one of {len(found)} characters",
                "Give a shorter one",
            )
        return found

    def poll(self, operation: Operation, url: str, asked: float | None, end: float) -> Outcome:
        """Poll ``url`` until a final state, and return the outcome."""
        wait = _FIRST_POLL
        while True:
            wait = self._wait(wait, asked, end, f"GET {redacted_url(url)}")
            reply = self.later("GET", url, operation.request.key)
            if reply.status >= 500 or reply.status in BUSY:
                asked = self.read_delay(None, reply)
                continue
            answer = read_poll_answer(reply, url)
            if is_ended(answer, reply):
                return to_outcome(answer)
            asked = self.read_delay(answer, reply)

    def _wait(self, wait: float, asked: float | None, end: float, what: str) -> float:
        """Wait for the next poll; returns the wait after that."""
        left = end - self.clock.monotonic()
        if left <= 0:
            raise Violated(
                f"a final state ({', '.join(FINAL)}) within {self.target.timeout:g} s",
                f"still running after {self.target.timeout:g} s ({what})",
                "Answer a final state once the work is over; if it takes longer, give --timeout",
            )
        self.pause(min(wait if asked is None else asked, left))
        return min(wait * 1.5, _LAST_POLL)

    def read_delay(self, answer: Answer | None, reply: Reply) -> float | None:
        """The delay that the endpoint asks for, or None."""
        if answer is not None and answer.retry_after is not None:
            return answer.retry_after
        return backoff.parse_retry_after(reply.headers, self.clock.now())

    def run(self, operation: Operation) -> Outcome:
        """Send ``operation`` and follow it to its end."""
        return self.outcome(operation, self.send_once(operation))


def disable_breaker(settings: HttpSettings) -> HttpSettings:
    """``settings`` of a runner that never pauses the endpoint."""
    return replace(settings, breaker_failures=1_000_000)


TRY_CURL = "See with curl -v what happens there"


def read_answer(reply: Reply, what: str) -> Answer:
    """The answer object of ``reply``; raises Violated for anything else."""
    try:
        return response.parse_answer(reply)
    except WrongAnswer as error:
        raise Violated(
            f"{what} as a JSON object", str(error), "Answer JSON, for errors and portals as well"
        ) from None


def read_poll_answer(reply: Reply, url: str) -> Answer:
    """The answer object of a poll."""
    if reply.status in (404, 410):
        raise Violated(
            "the run's state at its status URL",
            f"GET {redacted_url(url)}: {response.format_reason(reply)}, which "
            "means that the run is lost",
            "Keep a run until a day after its deadline",
        )
    if reply.status not in ACCEPTED:
        raise Violated(
            "200 or 202",
            f"GET {redacted_url(url)}: {response.format_reason(reply)}",
            find_advice(reply),
        )
    return read_answer(reply, "the answer to a poll")


def is_ended(answer: Answer, reply: Reply) -> bool:
    """Whether the run has ended: by its state, or by the status where there is none."""
    return answer.state in FINAL if answer.state else reply.status not in (202, 409)


def has_outcome(reply: Reply) -> bool:
    """Whether a 409 says how the run with this key stands."""
    body = response.decode_json(reply) if reply.status == 409 else None
    return isinstance(body, dict) and bool(body.get("state") or body.get("status_url"))


def to_outcome(answer: Answer) -> Outcome:
    """The outcome in an answer that has a final state, or none."""
    result = response.to_result(answer)
    found = None if answer.resource_id is None else str(answer.resource_id)
    reason = response.find_explanation(answer.body) if isinstance(result, Failed) else ""
    return Outcome(answer.state or "succeeded", result.output or {}, found, reason)


def find_advice(reply: Reply) -> str:
    """The advice for a status."""
    if reply.status in REDIRECTS:
        return "Check the URL that redirects lead to: a POST is not sent elsewhere"
    if reply.status in (401, 403):
        return "Give what the endpoint wants: --token, --header or --signing-key"
    if reply.status == 404:
        return "Check the URL and --workflow: with --workflow NAME it is URL/workflows/NAME"
    if reply.status in (400, 422):
        return "Give an input that the endpoint takes, with --input"
    if reply.status >= 500:
        return "Look into the endpoint's log"
    return "Answer as the contract says"
