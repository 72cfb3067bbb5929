"""Rules about answers: the first send, what it says, and the way to the end of the run.

One function per rule, in the order in which they are tried; each needs those before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.conformance import NotApplicable
from zonda.hooks.http import RequestRejected, TransportError

from ..client import backoff
from ..client.backoff import LONGEST_RETRY_AFTER
from ..http_contract import response
from ..http_contract.response import BUSY, REDIRECTS
from ..http_contract.states import STATES
from ..http_runner.settings import redacted_url
from .probe import TRY_CURL, Outcome, find_advice, read_answer
from .trial import Trial
from .violations import Hint, Violated

_MOST_PATIENCE = 5
TAKES_LONG = "Answer 202 with a Location at once where the work takes long"


def check_answers(trial: Trial) -> None:
    """A whole answer comes in time."""
    probe, seconds = trial.probe, trial.probe.target.timeout
    began = probe.clock.monotonic()
    try:
        trial.reply = probe.send(trial.first)
        for _ in range(_MOST_PATIENCE):
            if trial.reply.status not in BUSY:
                break
            probe.pause(min(probe.read_delay(None, trial.reply) or 1.0, seconds))
            trial.reply = probe.send(trial.first, attempt=2)
    except TransportError as error:
        raise Violated(
            f"a whole answer within {min(probe.settings.answer_timeout, seconds):g} s",
            f"{redacted_url(trial.first.url)}: {error}",
            TAKES_LONG if "whole answer" in str(error) else TRY_CURL,
        ) from None
    except RequestRejected as error:
        trial.trouble = error
    took = probe.clock.monotonic() - began
    if took > probe.settings.wait:
        raise Hint(
            f"an answer within {probe.settings.wait:g} s (Prefer: wait)",
            f"one after {took:.0f} s",
            "Answer 202 with a Location where the work takes longer",
        )


def check_size(trial: Trial) -> None:
    """The answer is small enough to be taken."""
    if trial.trouble is not None:
        raise Violated(
            f"an answer of at most {trial.probe.settings.max_body} bytes",
            str(trial.trouble),
            "Return where large things are kept, not the things",
        )


def check_no_redirect(trial: Trial) -> None:
    """The POST is answered where it was sent."""
    if trial.reply.status in REDIRECTS:
        target = trial.reply.headers.get("Location", "")
        raise Violated(
            "an answer at the URL itself",
            f"HTTP {trial.reply.status} to {redacted_url(target) or 'nowhere'}",
            "Give the URL that it leads to: a POST is not sent elsewhere",
        )


def check_status(trial: Trial) -> None:
    """The request is accepted."""
    if trial.reply.status in BUSY:
        raise Violated(
            "200, 201, 202 or 204",
            f"{response.format_reason(trial.reply)}, {_MOST_PATIENCE + 1} times",
            "Try again when the endpoint is less busy",
        )
    if trial.reply.status >= 500:
        raise Violated(
            "200, 201, 202 or 204", response.format_reason(trial.reply), find_advice(trial.reply)
        )
    trial.probe.read_accepted(trial.first, _drop_accepted_body(trial))


def _drop_accepted_body(trial: Trial) -> Any:
    """The reply; where it is accepted without its body, which the next rule looks at."""
    reply = trial.reply
    accepted = reply.status in (200, 201, 202, 204)
    return type(reply)(reply.status, reply.headers, b"") if accepted else reply


def check_json_object(trial: Trial) -> None:
    """The body is a JSON object and says so."""
    reply = trial.reply
    if reply.status == 204 or not reply.body.strip():
        raise NotApplicable(f"HTTP {reply.status} without a body: done, no output")
    trial.answer = read_answer(reply, "an answer")
    kind = reply.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Hint(
            "Content-Type: application/json", kind or "no Content-Type", "Say that it is JSON"
        )


def check_answer_fields(trial: Trial) -> None:
    """The fields of an answer are of the right kind."""
    body = trial.answer.body
    if not body:
        raise NotApplicable("the answer has no body")
    if "state" not in body:
        if trial.reply.status == 202:
            return
        raise Hint(
            '"state": "succeeded" or "failed"',
            "no state: the whole body is the output",
            "Answer a state, so that failures can be told with a reason",
        )
    check_fields(body)


def check_fields(body: Mapping[str, Any]) -> None:
    """Raise Violated for a field of an answer object that is not what it should be."""
    if body.get("state", "running") not in STATES:
        raise Violated(
            f"a state of {', '.join(STATES)}",
            f"the state {str(body['state'])[:60]!r}",
            "Use these words: others count as running",
        )
    for name, (fits, what) in _FIELDS.items():
        value = body.get(name)
        if value is not None and not fits(value):
            raise Violated(f"{name}: {what}", f"{type(value).__name__}", f"Give {name} as {what}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_FIELDS: Mapping[str, Any] = {
    "output": (lambda value: isinstance(value, dict), "an object"),
    "resource_id": (lambda value: isinstance(value, str) or _is_number(value), "a text"),
    "reason": (lambda value: isinstance(value, str), "a text"),
    "retryable": (lambda value: isinstance(value, bool), "true or false"),
    "status_url": (lambda value: isinstance(value, str), "a URL"),
    "cancel_url": (lambda value: isinstance(value, str), "a URL"),
    "cancellable": (lambda value: isinstance(value, bool), "true or false"),
    "retry_after": (lambda value: _is_number(value) and value >= 0, "a number of seconds"),
    "message": (lambda value: isinstance(value, str), "a text"),
    "progress": (lambda value: _is_number(value) and 0 <= value <= 1, "a number from 0 to 1"),
}


def check_place_to_poll(trial: Trial) -> None:
    """A run that goes on can be asked for, at the endpoint itself."""
    if trial.reply.status != 202 and trial.answer.state != "running":
        raise NotApplicable("the first answer was the last")
    if not trial.probe.place(trial.first, trial.reply, trial.answer):
        raise Hint(
            "202 with a Location or a status_url",
            "neither: the request itself is sent again instead of a poll",
            "Give a place to poll, which is cheaper for both",
        )


def check_retry_after(trial: Trial) -> None:
    """The time to the next request makes sense."""
    header = trial.reply.headers.get("Retry-After")
    given = trial.answer.body.get("retry_after")
    if header is None and given is None:
        raise NotApplicable("the endpoint leaves it to zonda")
    seconds = backoff.parse_retry_after(trial.reply.headers, trial.probe.clock.now())
    if header is not None and seconds is None:
        raise Violated(
            "Retry-After: SECONDS, or a date", f"Retry-After: {header[:60]}", "Give seconds"
        )
    asked = given if _is_number(given) else _parse_seconds(header)
    if asked is not None and asked > LONGEST_RETRY_AFTER:
        raise Hint(
            f"at most {LONGEST_RETRY_AFTER:g} s to the next request",
            f"{asked:g} s",
            "Longer times are cut to that",
        )


def _parse_seconds(header: str | None) -> float | None:
    try:
        return float(header or "")
    except ValueError:
        return None


def check_end(trial: Trial) -> None:
    """The run comes to an end, and every poll on the way is as the contract says."""
    trial.outcome = trial.keep_outcome(trial.first, trial.probe.outcome(trial.first, trial.reply))
    if trial.outcome.state != "succeeded":
        raise Hint(
            "a run that succeeds, so that the rest can be seen",
            f"it {_format_end(trial.outcome)}",
            "Give an input that it succeeds with: --input",
        )


def _format_end(outcome: Outcome) -> str:
    ended = "was cancelled" if outcome.state == "cancelled" else "failed"
    return f"{ended}: {outcome.reason}" if outcome.reason else f"{ended} without a reason"


def check_resource_id(trial: Trial) -> None:
    """A resource that was made has a name of its own."""
    if trial.outcome.state == "succeeded" and trial.outcome.resource_id is None:
        raise Hint(
            "a resource_id, in the answer or in its output",
            "none: the key of the CREATE becomes the physical id",
            "Return the id of what was made",
        )
