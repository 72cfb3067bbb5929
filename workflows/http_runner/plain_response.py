"""What the answer of an API says that does not know the contract: its status, and its body.

Used by the runner for actions with ``answer = "plain"``. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks.http import Reply
from zonda.hooks.runners import Failed, Succeeded

from ..http_contract import response
from .actions import Action, found_at

#: Answers by which a server says that it has done nothing.
NOT_TAKEN = frozenset({425, 429, 503})
#: Said of a request that may have arrived and must not arrive twice.
UNCLEAR = (
    " (whether it has arrived is not known, and it is not sent again, since that might do it "
    "twice; repeat = true would allow it)"
)


def is_pending(reply: Reply) -> bool:
    """Whether it goes on, and there is a place to ask."""
    return reply.status == 202 and bool(reply.headers.get("Location"))


def result(
    name: str, action: Action, inputs: Mapping[str, Any] | None, reply: Reply
) -> Succeeded | Failed:
    """How the action ``name`` ended, by an answer that it ended well (or that there is nothing).

    ``inputs``: those that a check is about; None where they are not known (any more).
    """
    if reply.status in action.gone:
        if name == "CHECK":
            return Succeeded({"exists": False})
        if name == "DELETE":
            return Succeeded({})
        return Failed(f"HTTP {reply.status}: there is no such thing", by_runner=True)
    body = response.decoded(reply) if reply.body.strip() else {}
    output = _object(found_at(body, action.output_path))
    if name == "CHECK":
        return Succeeded(observed(output, inputs))
    if not action.id_path:
        return Succeeded(output)
    known_as = found_at(body, action.id_path)
    if isinstance(known_as, bool) or not isinstance(known_as, str | int) or known_as == "":
        path = ".".join(action.id_path)
        text = f"the answer (HTTP {reply.status}) has no id at {path}"
        return Failed(text, output or None, by_runner=True)
    return Succeeded(output, str(known_as))


def observed(output: Mapping[str, Any], inputs: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a check says: that the thing is there, and what its inputs are now."""
    seen = {name: output[name] for name in output if inputs is None or name in inputs}
    return {"exists": True, "inputs": seen} if seen else {"exists": True}


def hint(name: str, action: Action, reply: Reply) -> str:
    """What else could be meant by a refusal."""
    if name not in ("DELETE", "CHECK") or reply.status not in (404, 410):
        return ""
    return f" (gone = [{reply.status}] in actions.{name} would say that the thing is not there)"


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {} if value is None else {"result": value}
