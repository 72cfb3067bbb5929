"""The workflow call of one action: input, time limit and retries.

Pure: plain data and tokens in, the same out. Used by the types of this room; a token is that of
``zonda.hooks.resources.workflow_run`` with what stands here added::

    "until": when the action is given up   "timeout": seconds that it has
    "on_timeout": "fail" | "cancel"        "cancelled": when
    "retries": how many more runs          "try": number of this run         "delay": between them
    "secrets": [[place, path, what]]       which values are only put in when it is sent
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import KEY_NAMESPACE, RunToken, wait_until_next

FAIL, CANCEL = "fail", "cancel"
#: The ends of a run whose time is over.
ON_TIMEOUT = (FAIL, CANCEL)
#: So long a cancelled run may take to end.
CANCEL_GRACE = 60.0
RETRY_DELAY = 10.0

#: A secret by its reference, or a text with some in it: ``["Bearer ", {"secret": "env:NAME"}]``.
What = str | list[str | dict[str, str]]
#: The place of a secret: ("inputs" or "params", the path in it, what).
Secret = tuple[str, tuple[str | int, ...], What]


@dataclass(frozen=True, slots=True)
class WorkflowCall:
    """The workflow call of one action. ``workflow`` is a reference for ``context.runner``.

    ``timeout`` in seconds; None leaves it to the operation. ``secrets``: what stands in ``inputs``
    and ``params`` as null and is only known when it is sent.
    """

    workflow: str
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    description: str = ""
    timeout: float | None = None
    on_timeout: str = FAIL
    retries: int = 0
    delay: float = RETRY_DELAY
    secrets: Sequence[Secret] = ()


def set_limits(token: RunToken, run: WorkflowCall, now: float) -> None:
    """Note the time limit and the retries in a new token."""
    if run.timeout is not None:
        token["until"] = now + run.timeout
        token["timeout"] = run.timeout
        token["on_timeout"] = run.on_timeout
    if run.retries:
        token.update(retries=run.retries, delay=run.delay)
    if run.secrets:
        token["secrets"] = [[place, list(path), name] for place, path, name in run.secrets]


def clamp_times(token: RunToken, now: float) -> None:
    """Reduce times in a token that are too far away, as after a clock was set back.

    What is still to be sent stays the same: its deadline stands in the request.
    """
    if "timeout" in token and "pending" not in token:
        token["until"] = min(token["until"], now + token["timeout"])
    if "cancelled" in token:
        token["cancelled"] = min(token["cancelled"], now)


def insert_secrets(token: RunToken, secret: Callable[[str], str]) -> dict[str, Any]:
    """``inputs`` and ``params`` of a token with their secrets: only for sending."""
    found = {place: token["request"][place] for place in ("inputs", "params")}
    if not token.get("secrets"):
        return found
    found = copy.deepcopy(found)
    for place, path, name in token["secrets"]:
        inside: Any = found[place]
        for step in path[:-1]:
            inside = inside[step]
        inside[path[-1]] = _resolve_secret(name, secret)
    return found


def _resolve_secret(what: What, secret: Callable[[str], str]) -> str:
    """The secret, or the text with its secrets inserted."""
    if isinstance(what, str):
        return secret(what)
    return "".join(part if isinstance(part, str) else secret(part["secret"]) for part in what)


def list_references(token: RunToken) -> set[str]:
    """The secrets that are sent with a token."""
    found = set[str]()
    for _, _, what in token.get("secrets", ()):
        parts = [{"secret": what}] if isinstance(what, str) else what
        found.update(part["secret"] for part in parts if not isinstance(part, str))
    return found


def prepare_next_try(token: RunToken, operation_id: str, now: float) -> float:
    """Make the token one of a new run, with a key of its own; gives the seconds until then."""
    number = token.get("try", 1) + 1
    for key in ("run", "result", "execution"):
        token.pop(key, None)
    delay = float(token["delay"])
    token.update(
        {
            "try": number,
            "retries": token["retries"] - 1,
            "key": str(uuid.uuid5(KEY_NAMESPACE, f"{operation_id}/{number}")),
            "pending": {"attempt": 1, "answered": False, "memory": {}},
        }
    )
    wait_until_next(token, delay, now)
    return delay
