"""The outcome of a run, from the result that its wrapper wrote: state, output and reason."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from typing import Any

from ..http_contract.states import TEXT

LONGEST_OUTPUT = 1024 * 1024
LONGEST_REASON = 3000
LIMITS = {"stdout": LONGEST_OUTPUT, "stderr": 2 * LONGEST_REASON}
#: On stderr, what follows this is the reason by itself.
REASON_MARK = "\x1e"
CANCELLED = "The run was cancelled."


def interpret(result: Mapping[str, Any]) -> dict[str, Any]:
    """The state, the output and the reason of a run that has ended."""
    if "state" in result:  # no wrapper has ended the run
        return {name: result.get(name) for name in ("state", "output", "reason")}
    if result["error"]:
        return _build("failed", None, f"The command cannot be run: {result['error']}")
    output, fault = _read_output(result)
    if result["ended_by"] == "cancelled":
        return _build("cancelled", output, CANCELLED)
    if result["ended_by"] == "timeout":
        reason = f"The run was ended after {result['timeout']:g} s (timeout)."
        return _build("failed", output, reason)
    if result["exit_code"] != 0:
        return _build("failed", output, _find_reason(result, output or {}))
    return _build("failed", None, fault) if fault else _build("succeeded", output, "")


def _build(state: str, output: Any, reason: str) -> dict[str, Any]:
    return {"state": state, "output": output, "reason": reason}


def _find_reason(result: Mapping[str, Any], output: Mapping[str, Any]) -> str:
    said = str(result["stderr"].strip())
    _, marked, reason = said.partition(REASON_MARK)
    if marked:
        return reason
    tail = _take_end(said) or _take_end(output.get(TEXT, ""))
    end = _describe_end(result["exit_code"])
    return f"{end}: {tail}" if tail else end


def _take_end(text: str) -> str:
    """The last lines of ``text``. Half a line may hold half a secret, which nobody would find."""
    return text if len(text) <= LONGEST_REASON else text[-LONGEST_REASON:].partition("\n")[2]


def _describe_end(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def _read_output(result: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The JSON object in what a command wrote (all of it, or its last line), or a fault.

    Text of another kind is the output ``stdout``; what begins as an object was meant as one.
    """
    if result["stdout_dropped"]:
        return None, f"The command wrote more than {LONGEST_OUTPUT} bytes of output."
    text = result["stdout"].strip()
    fault, last = "", text.rpartition("\n")[2]
    for candidate in (last, text):
        if candidate.startswith("{") and (candidate == last or text.endswith("}")):
            try:
                return json.loads(candidate, parse_constant=_refuse), ""
            except (ValueError, RecursionError) as error:
                fault = f"The command wrote no JSON object: {error}"
    return (None, fault) if fault or not text else ({TEXT: text}, "")


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
