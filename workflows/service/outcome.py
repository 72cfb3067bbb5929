"""The outcome of a run, from the result that its wrapper wrote: state, output and reason."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping
from typing import Any

from ..http_contract.states import TEXT

LONGEST_OUTPUT = 1024 * 1024
#: Characters of what a command said, or bytes: far more than the engine shows of it, which takes
#: out hidden values first and then its middle. Of one that was cut before, a part would be shown.
LONGEST_REASON = 64 * 1024
LIMITS = {"stdout": LONGEST_OUTPUT, "stderr": LONGEST_REASON}
#: The note that the wrapper puts in place of the middle, with the rests of lines around it.
_GAP = re.compile(r"[^\n]*\n(\[\.\.\. \d+ bytes left out \.\.\.\])\n[^\n]*\n?")
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
    if result["stderr_dropped"]:
        said = _drop_half_lines(said)
    _, marked, reason = said.partition(REASON_MARK)
    if marked:
        return reason
    said = said or _leave_out_middle(output.get(TEXT, ""))
    end = _describe_end(result["exit_code"])
    return f"{end}: {said}" if said else end


def _drop_half_lines(text: str) -> str:
    """``text`` without the rests of lines around what was left out: they may be half a secret."""
    return _GAP.sub(r"\1\n", text).strip()


def _leave_out_middle(text: str) -> str:
    lacking, half = len(text) - LONGEST_REASON, LONGEST_REASON // 2
    if lacking <= 0:
        return text
    gap = f"\n[... {lacking} bytes left out ...]\n"
    return _drop_half_lines(f"{text[:half]}{gap}{text[-half:]}")


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
