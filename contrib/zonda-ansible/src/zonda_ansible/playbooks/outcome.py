"""The outcome of a run: its report and how its process ended, as an answer of a runner. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from zonda.hooks.runners import Failed, Succeeded, http_contract

#: The name under which Ansible keeps the stats that belong to no host.
_ALL: Final = "_run"
_NO_JSON: Final = "what JSON has not: NaN, an infinity or half a character"
_ERROR: Final = re.compile(r"^\[?ERROR\]?[:!] ?(.*)", re.MULTILINE)

Report = Mapping[str, Any]


def describe_progress(report: Report | None) -> str:
    """The task that a run is at: ``task 3: install nginx``."""
    if not report or not report.get("number"):
        return "Ansible starts"
    return f"task {report['number']}: {report['task']}"


def interpret_end(report: Report | None, result: Mapping[str, Any]) -> Succeeded | Failed:
    """The answer of a run whose process has ended with ``result``."""
    if result["error"]:
        return Failed(f"Ansible cannot be run: {result['error']}", by_runner=True)
    output = read_output(report)
    if result["ended_by"]:
        how = "was cancelled" if result["ended_by"] == "cancelled" else "took too long"
        return _fail(f"The playbook {how}; it was at {describe_progress(report)}", output)
    if report is None or not report.get("ended"):
        return _fail(f"Ansible ended early: {_find_error(result)}", output, by_runner=not report)
    return interpret_report(report, _find_error(result), result["exit_code"] == 0)


def interpret_report(report: Report, error: str, ended_well: bool) -> Succeeded | Failed:
    """The answer of a run whose report is whole."""
    output = read_output(report)
    if report["stats"] is None:
        return _fail("The stats of the playbook are larger than 1 MiB", {})
    if not http_contract.is_json(output):
        return _fail(f"The stats of the playbook hold {_NO_JSON}", {})
    if report["failures"] and not ended_well:
        return _fail("; ".join(map(_describe_failure, report["failures"])), output)
    if not ended_well:
        return _fail(error, output)
    if not report["hosts"]:
        return _fail("The playbook ran on no host: none of the inventory matches", output)
    given = output.get("resource_id")
    return Succeeded(output, given if isinstance(given, str) else None)


def is_well(report: Report) -> bool:
    """Whether no host has failed."""
    return not any(host["failures"] or host["unreachable"] for host in report["hosts"].values())


def read_output(report: Report | None) -> dict[str, Any]:
    """The stats of ``set_stats``; those of single hosts stand below ``hosts``."""
    stats = dict((report or {}).get("stats") or {})
    output = dict(stats.pop(_ALL, {}))
    return {**output, "hosts": stats} if stats else output


def _fail(reason: str, output: dict[str, Any], *, by_runner: bool = False) -> Failed:
    given = output.get("resource_id")
    return Failed(
        reason,
        output,
        given if isinstance(given, str) else None,
        by_runner=by_runner,
    )


def _describe_failure(failure: Mapping[str, str]) -> str:
    where = f"{failure['host']} {failure['how']}"
    said = f": {failure['reason']}" if failure["reason"] else ""
    return f"{where} in the task {failure['task']}{said}"


def _find_error(result: Mapping[str, Any]) -> str:
    """The error that Ansible wrote; else its last line, or the exit code."""
    said = result.get("stderr", "").strip()
    if found := _ERROR.search(said):
        return found[1].strip()
    last = said.rpartition("\n")[2].strip()
    return last or f"exit code {result['exit_code']}, without a word"
