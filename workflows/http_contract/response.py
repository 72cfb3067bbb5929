"""Parses an endpoint's answer by the ``http`` contract, version 1. Pure.

``parse_answer`` reads the answer object, which is the same after a start and a poll; ``to_result``
says how the execution ended; ``format_reason`` finds the text that explains a refusal.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from zonda.hooks.http import Reply
from zonda.hooks.runners import Failed, Succeeded
from zonda.hooks.runners.http_contract import CONTRACT

from ..client.backoff import limit_delay, parse_retry_after
from .states import FINAL, STATES

ACCEPTED = (200, 201, 202, 204)
BUSY = frozenset({408, 425, 429, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_AUTHENTICATED = frozenset({401, 403, 407})
_REASONS = ("reason", "detail", "title", "message", "error")


class WrongAnswer(Exception):
    """The answer does not follow the contract; the text says how."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer object. ``state`` is empty where it has none; ``body`` is all of it."""

    body: Mapping[str, Any]
    state: str = ""

    def text(self, name: str) -> str:
        """A text of the answer, empty where there is none."""
        value = self.body.get(name)
        return value if isinstance(value, str) else ""

    @property
    def message(self) -> str:
        """The endpoint's words for people while a run goes on; may be empty."""
        return replace_surrogates(self.text("message"))

    @property
    def retry_after(self) -> float | None:
        """Seconds to the next poll, where the endpoint says."""
        return limit_delay(_to_number(self.body.get("retry_after")))

    @property
    def progress(self) -> float | None:
        """The progress, from 0 to 1."""
        value = _to_number(self.body.get("progress"))
        return value if value is not None and 0 <= value <= 1 else None

    @property
    def output(self) -> dict[str, Any]:
        """The output: of an answer without ``state`` all of the body."""
        if not self.state:
            return dict(self.body)
        value = self.body.get("output")
        if value is None:
            return {}
        return value if isinstance(value, dict) else {"result": value}

    @property
    def resource_id(self) -> Any:
        """The physical id that the endpoint gave, or what it gave in its place; None if nothing."""
        value = self.body.get("resource_id") or self.output.get("resource_id")
        return str(value) if isinstance(value, int | float) and value else value or None


def _to_number(value: Any) -> float | None:
    wrong = isinstance(value, bool) or not isinstance(value, (int, float))
    return None if wrong or abs(value) > 1e9 else float(value)


def parse_answer(reply: Reply) -> Answer:
    """The answer object of ``reply``; an empty body is an empty object. Raises WrongAnswer."""
    if reply.status == 204 or not reply.body.strip():
        return Answer({})
    body = decode_json(reply)
    if body is None:
        raise WrongAnswer(
            f"HTTP {reply.status} with a body that is not JSON{_format_content_type(reply)}"
        )
    if not isinstance(body, dict):
        found = {list: "a list", str: "a text", bool: "a boolean"}.get(type(body), "a number")
        raise WrongAnswer(f"HTTP {reply.status} with {found}, where a JSON object is wanted")
    state = body.get("state")
    if state is not None and not isinstance(state, str):
        raise WrongAnswer("the state in the answer is not a text")
    return Answer(body, state or "")


def decode_json(reply: Reply) -> Any:
    """The JSON value of the body; None where it is no JSON (and for ``null``)."""
    try:
        return json.loads(reply.body, parse_constant=_refuse, parse_float=_parse_finite)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _parse_finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        _refuse(text)
    return number


def _format_content_type(reply: Reply) -> str:
    kind = reply.headers.get("Content-Type", "").partition(";")[0].strip()
    return f" ({kind[:60]})" if kind else ""


def to_result(answer: Answer) -> Succeeded | Failed:
    """The result of an execution whose answer has a final state, or none."""
    if answer.state in ("", "succeeded"):
        return Succeeded(answer.output, answer.resource_id)
    ended = "was cancelled" if answer.state == "cancelled" else "failed"
    return Failed(
        find_explanation(answer.body) or f"The workflow {ended} and gave no reason.",
        output=answer.output or None,
        resource_id=answer.resource_id,
        retryable=answer.body.get("retryable") is True,
    )


def find_explanation(body: Any) -> str:
    """The text in a JSON body that explains a failure, by the usual names of such a text."""
    if not isinstance(body, Mapping):
        return ""
    for name in _REASONS:
        value = body.get(name)
        if isinstance(value, Mapping):
            value = find_explanation(value)
        if isinstance(value, str) and value.strip():
            return replace_surrogates(value.strip())
    return ""


def replace_surrogates(text: str) -> str:
    """``text`` for people with ``?`` for each half of a surrogate pair, which is no text."""
    return text.encode("utf-8", "replace").decode()


def format_reason(reply: Reply) -> str:
    """The reason of a refusal: from a JSON body, else the body's text.

    Whole, as all that an endpoint says: the engine cuts it once hidden values are taken out of it.
    One that crossed the cut would not be found.
    """
    text = find_explanation(decode_json(reply))
    if not text and "html" not in reply.headers.get("Content-Type", "").lower():
        text = reply.body.decode("utf-8", "replace").strip()
    return (
        f"HTTP {reply.status}: {text}"
        if text
        else f"HTTP {reply.status}{_format_content_type(reply)}"
    )


def says_gone(reply: Reply) -> bool:
    """Whether a DELETE may take this for success: 410, or a 404 that speaks the contract."""
    if reply.status == 410:
        return True
    body = decode_json(reply) if reply.status == 404 else None
    return isinstance(body, dict) and body.get("contract") == CONTRACT


def denies(reply: Reply, workflow: str) -> bool:
    """Whether the endpoint says that it has no such workflow, and not just some 404."""
    body = decode_json(reply) if reply.status == 404 else None
    return isinstance(body, dict) and body.get("unknown_workflow") == workflow


def is_ended(answer: Answer, reply: Reply) -> bool:
    """Whether the run has ended: by its state, else by the status (409: still running)."""
    if answer.state:
        return answer.state in FINAL
    return reply.status not in (202, 409)


def has_outcome(reply: Reply) -> bool:
    """Whether a 409 says how the run of this key stands."""
    body = decode_json(reply)
    if not isinstance(body, dict):
        return False
    return body.get("state") in STATES or bool(body.get("status_url"))


def describe_unknown_state(answer: Answer) -> str:
    """The error text for a state that the contract does not have."""
    known = ", ".join(STATES)
    return f"the state {answer.state[:60]!r} in the answer is none of {known}"


def find_requested_delay(now: float, reply: Reply, answer: Answer | None = None) -> float | None:
    """The seconds from ``now`` that the endpoint asks to wait, or None."""
    if answer is not None and answer.retry_after is not None:
        return answer.retry_after
    return parse_retry_after(reply.headers, now)


def redact_result(result: Succeeded | Failed, redact: Callable[[str], str]) -> Succeeded | Failed:
    """``result`` without a secret in its reason."""
    if isinstance(result, Succeeded):
        return result
    return replace(result, reason=redact(result.reason))
