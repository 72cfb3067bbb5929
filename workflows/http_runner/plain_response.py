"""Answers of an API that does not know the contract: by status and body.

Used by the runner for actions with ``answer = "plain"``. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.http import Reply
from zonda.hooks.runners import Failed, Succeeded

from ..http_contract import response
from .actions import Action, find_at_path

#: Answers by which a server says that it has done nothing.
NOT_TAKEN = frozenset({425, 429, 503})
#: Said of a request that may have arrived and must not arrive twice.
UNCLEAR = (
    " (whether it has arrived is not known, and it is not sent again, since that might do it "
    "twice; repeat = true would allow it)"
)


def is_pending(reply: Reply) -> bool:
    """Whether the action goes on, and there is a URL to poll."""
    return reply.status == 202 and bool(reply.headers.get("Location"))


def to_result(
    name: str, action: Action, inputs: Mapping[str, Any] | None, reply: Reply
) -> Succeeded | Failed:
    """The result of the action ``name``, by an answer that is a success (or says: gone).

    ``inputs``: those that a check is about; None where they are not known (any more).
    """
    if reply.status in action.gone:
        if name == "CHECK":
            return Succeeded({"exists": False})
        if name == "DELETE":
            return Succeeded({})
        return Failed(f"HTTP {reply.status}: there is no such thing", by_runner=True)
    body = response.decode_json(reply) if reply.body.strip() else {}
    output = _to_object(find_at_path(body, action.output_path))
    if name == "CHECK":
        return Succeeded(build_check_output(output, inputs))
    if not action.id_path:
        return Succeeded(output)
    known_as = find_at_path(body, action.id_path)
    if isinstance(known_as, bool) or not isinstance(known_as, str | int) or known_as == "":
        path = ".".join(action.id_path)
        text = f"the answer (HTTP {reply.status}) has no id at {path}"
        return Failed(text, output or None, by_runner=True)
    return Succeeded(output, str(known_as))


def build_check_output(
    output: Mapping[str, Any], inputs: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The output of a check: the resource exists, and its inputs now."""
    seen = {name: output[name] for name in output if inputs is None or name in inputs}
    return {"exists": True, "inputs": seen} if seen else {"exists": True}


def format_hint(name: str, action: Action, reply: Reply) -> str:
    """The hint for a refusal, or an empty text."""
    if name not in ("DELETE", "CHECK") or reply.status not in (404, 410):
        return ""
    return f" (gone = [{reply.status}] in actions.{name} would say that the thing is not there)"


def _to_object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {} if value is None else {"result": value}
