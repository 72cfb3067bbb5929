"""The report of a run of Ansible to zonda: what it is at, what has failed, and its stats.

Loaded by Ansible in its own process as the callback that would write to the screen. Nothing of a
task's result is kept but the reason of a failure. That is whole: zonda shortens it once hidden
values are taken out, since of one that is cut before the rest would be shown.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: zonda_report
type: stdout
short_description: reports a run to zonda
description: Writes the state of a run into the file that ZONDA_ANSIBLE_REPORT names.
"""
_MOST_FAILURES = 5
#: Characters of a reason; of a longer one nothing is passed on.
_MOST_REASON = 64 * 1024
#: Characters of all stats as JSON.
_MOST_STATS = 1024 * 1024
#: The entries in which modules of commands say what went wrong.
_SAID = ("stderr", "module_stderr", "stdout")


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """The report: one JSON object, written anew at each task."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "zonda_report"

    def __init__(self) -> None:
        super().__init__()
        self._path = os.environ["ZONDA_ANSIBLE_REPORT"]
        self._state: dict[str, Any] = {
            "task": "",
            "number": 0,
            "failures": [],
        }

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        """Ansible begins with a task."""
        self._state["task"] = str(task.get_name())
        self._state["number"] += 1
        self._write()

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        """Ansible begins with a handler."""
        self.v2_playbook_on_task_start(task, False)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task has failed on a host."""
        if not ignore_errors:
            self._note(result, "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host could not be reached for a task."""
        self._note(result, "cannot be reached")

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """All plays have ended."""
        hosts = {str(name): stats.summarize(name) for name in sorted(stats.processed)}
        custom = {str(name): values for name, values in stats.custom.items()}
        text = json.dumps(custom, default=str)
        if len(text) > _MOST_STATS:
            text = "null"
        self._state.update(hosts=hosts, stats=json.loads(text), ended=True)
        self._write()

    def _note(self, result: Any, how: str) -> None:
        task = getattr(result, "task", None) or result._task
        host = getattr(result, "host", None) or result._host
        found = getattr(result, "result", None) or result._result
        if len(self._state["failures"]) < _MOST_FAILURES:
            self._state["failures"].append(
                {
                    "host": str(host.get_name()),
                    "task": str(task.get_name()),
                    "how": how,
                    "reason": self._find_reason(found),
                }
            )

    @staticmethod
    def _find_reason(found: Any) -> str:
        reason = find_reason(found)
        if len(reason) > _MOST_REASON:
            return f"the reason has {len(reason):,} characters, and is left out"
        return reason

    def _write(self) -> None:
        beside = f"{self._path}.new"
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self._state, file)
        os.replace(beside, self._path)


def find_reason(result: Any) -> str:
    """The reason that a module gives; of a traceback or an output the last line."""
    if result.get("censored"):
        return "the task has `no_log`, which hides its reason"
    items = [each for each in result.get("results") or () if each.get("failed")]
    items += (result.get("failed_modules") or {}).values()  # of facts that were gathered
    if items:
        return find_reason(items[0])
    reason = str(result.get("msg") or "").strip()
    if "Traceback (most recent call last)" in reason:
        reason = reason.splitlines()[-1]
    for name in _SAID:
        lines = str(result.get(name) or "").strip().splitlines()
        if lines:
            return reason if lines[-1] in reason else f"{reason}: {lines[-1]}".lstrip(": ")
    return reason
