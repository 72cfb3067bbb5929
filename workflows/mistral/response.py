"""Parses Mistral's answers. Pure.

Mistral writes JSON within JSON (``input``, ``output``, ``params``), errors as ``faultstring`` and
unknown paths as a page of HTML; a workflow that does not exist is 404, or 500 with a text that
begins like one, as the transport between its parts has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks.http import Reply

from ..http_contract import response
from ..resources import payload

RUNNING = frozenset({"IDLE", "RUNNING", "PAUSED", "DELAYED", "WAITING"})
_MISSING = re.compile(r"^\w*(DBEntityNotFoundError|NotFoundException)\b|^\w+: 404: ")
_TRACEBACK = "Traceback (most recent call last):"
#: Words before Mistral's quote of the request, or of the statement that its database refused.
_QUOTES = re.compile(
    r"\s*(\bValue: |\[SQL: |\[parameters: |\(Background on this error).*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution as Mistral shows it. What was not asked for is empty."""

    id: str
    state: str
    state_info: str = field(default="", repr=False)
    workflow_name: str = ""
    workflow_id: str = ""
    input: dict[str, Any] = field(default_factory=dict, repr=False)
    output: dict[str, Any] = field(default_factory=dict, repr=False)


def parse_execution(reply: Reply) -> Execution | None:
    """The execution in an answer; None where there is none."""
    body = response.decode_json(reply)
    if not isinstance(body, dict) or not isinstance(body.get("state"), str):
        return None
    return Execution(
        id=str(body.get("id") or ""),
        state=body["state"],
        state_info=str(body.get("state_info") or ""),
        workflow_name=str(body.get("workflow_name") or ""),
        workflow_id=str(body.get("workflow_id") or ""),
        input=as_map(body.get("input")),
        output=as_map(body.get("output")),
    )


def as_map(value: Any) -> dict[str, Any]:
    """``value`` as a map; what is none stands in one as ``result``."""
    found = payload.unpack_json(value)
    if found is None:
        return {}
    return found if isinstance(found, dict) else {"result": found}


def format_fault(reply: Reply) -> str:
    """The reason of Mistral's refusal, without quotes of the request."""
    body = response.decode_json(reply)
    text = body.get("faultstring") if isinstance(body, Mapping) else None
    if isinstance(text, str) and text.strip():
        shown = response.replace_surrogates(_QUOTES.sub(" [...]", text.strip()))
        return f"HTTP {reply.status}: {shown}"
    if is_page(reply):
        page = f"HTTP {reply.status} with a page of HTML"
        return f"{page}: is the endpoint that of Mistral's API, with /v2 at its end?"
    return f"HTTP {reply.status}"


def is_page(reply: Reply) -> bool:
    """Whether the answer is a page of HTML, which does not come from Mistral's API."""
    return "html" in reply.headers.get("Content-Type", "").lower()


def is_missing(reply: Reply) -> bool:
    """Whether Mistral itself says that there is no such thing, in either of its ways."""
    body = response.decode_json(reply)
    text = body.get("faultstring") if isinstance(body, Mapping) else None
    if not isinstance(text, str):
        return False
    return reply.status == 404 or (reply.status == 500 and _MISSING.search(text) is not None)


def format_reason(found: Execution) -> str:
    """The reason of a failed execution, without the frames of Python's tracebacks."""
    text = response.replace_surrogates(found.state_info.strip())
    said, traceback, _ = text.partition(_TRACEBACK)
    if not text:
        ended = "was cancelled" if found.state == "CANCELLED" else "failed"
        return f"The workflow {ended} and gave no reason."
    if not traceback:
        return text
    error = text.rpartition("\n")[2].strip()
    known = error.partition(": ")[2] or error
    return said.strip() if known in said else f"{said.strip()}\n{error}".strip()


def find_difference(found: Execution, workflow: str, given: Mapping[str, Any]) -> str:
    """The difference between an execution and the request; empty where there is none.

    Mistral adds the defaults of inputs, so that it may have more of them than were given.
    """
    if workflow not in (found.workflow_name, found.workflow_id):
        return f"the workflow {found.workflow_name or found.workflow_id}"
    different = sorted(
        name for name, value in given.items() if found.input.get(name, _NOTHING) != value
    )
    return f"another value of the input {different[0]}" if different else ""


_NOTHING = object()


def list_declared_outputs(reply: Reply) -> list[str]:
    """The names of the outputs that a workflow declares; none where that cannot be told."""
    body = response.decode_json(reply)
    interface = payload.unpack_json(body.get("interface")) if isinstance(body, Mapping) else None
    names = interface.get("output") if isinstance(interface, Mapping) else None
    return [str(name) for name in names] if isinstance(names, list) else []


def read_environment(reply: Reply) -> dict[str, Any]:
    """The variables of a stored environment."""
    body = response.decode_json(reply)
    return as_map(body.get("variables")) if isinstance(body, Mapping) else {}


def build_failure_output(found: Execution) -> dict[str, Any]:
    """The result of ``output-on-error``: the output without Mistral's copy of the reason."""
    output = dict(found.output)
    if output.get("result") == found.state_info:
        del output["result"]
    return output
