"""The meaning of a reply in the ``http`` contract: by its status, and by its answer object.

Between ``http_answer``, which reads the object, and the parts of the runner, which act on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zonda.hooks.http import Reply
from zonda.hooks.runners import Failed, Succeeded

from ..client import backoff
from . import response
from .response import Answer
from .states import FINAL, STATES

ACCEPTED = (200, 201, 202, 204)
BUSY = frozenset({408, 425, 429, 502, 503, 504})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_AUTHENTICATED = frozenset({401, 403, 407})


def read_answer(reply: Reply) -> Answer:
    """The answer object; an empty one of 204. Raises WrongAnswer."""
    return Answer({}) if reply.status == 204 else response.parse_answer(reply)


def is_ended(answer: Answer, reply: Reply) -> bool:
    """Whether the run has ended: by its state, else by the status (409: still running)."""
    if answer.state:
        return answer.state in FINAL
    return reply.status not in (202, 409)


def has_outcome(reply: Reply) -> bool:
    """Whether a 409 says how the run of this key stands."""
    body = response.decode_json(reply)
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
    return backoff.parse_retry_after(reply.headers.get("Retry-After"), now)


def redact_result(result: Succeeded | Failed, redact: Callable[[str], str]) -> Succeeded | Failed:
    """``result`` without a secret in its reason."""
    if isinstance(result, Succeeded):
        return result
    return replace(result, reason=redact(result.reason))
