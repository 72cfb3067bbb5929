"""The runner: begins runs of playbooks, follows them and reads what they report.

The token is ``{"key"}``: all else stands in the folder of the run, which a later zonda finds again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from zonda.hooks import ResourceFailure
from zonda.hooks.processes import DetachedRun, read_json
from zonda.hooks.runners import (
    Cancelled,
    Failed,
    Lost,
    PollAnswer,
    RetryPolicy,
    Running,
    StartAnswer,
    Started,
    StartRequest,
    WorkflowRunner,
)

from . import outcome
from .command import find_report, kill_rest, make_plan
from .names import find_target
from .runs import Runs
from .settings import Settings, read_settings

#: Ansible takes a second until it is at the first task.
_FIRST_POLL, _POLL = 1.0, 2.0


class AnsibleRunner(WorkflowRunner):
    """Executions are runs of ``ansible-playbook``."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Raises UsageError for wrong settings."""
        self._settings: Settings = read_settings(settings)
        self._clock = self._settings.clock
        self._runs = Runs(self._settings.state, self._settings.parallel)
        self._retries = RetryPolicy(
            self._clock.now, self._settings.random, 0.0, self._settings.redact
        )

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a playbook that is not there."""
        find_target(workflow, self._settings.folder)

    def start(self, request: StartRequest) -> StartAnswer:
        """Begin a run, or find the one that has this key."""
        started = Started({"key": request.key}, _FIRST_POLL, request.key)
        if self._runs.has_begun(request.key):
            return started
        now = self._clock.now()
        left = request.deadline - now
        if left <= 0:
            return self._retries.fail(request, "The time is over.")
        run = self._runs.find(request.key)
        try:
            plan = make_plan(request, self._settings, run.folder, left)
            self._runs.prune(now)
            if not self._runs.begin(request.key, plan):
                why = f"{self._settings.parallel} playbooks run already"
                return self._retries.retry_busy(request, why)
        except ResourceFailure as error:
            return self._retries.fail(request, f"{error.message} {error.hint}")
        except OSError as error:
            why = f"The run cannot be begun: {error.strerror} ({error.filename})"
            return self._retries.fail(request, f"{why}; see state_folder of the runner.")
        return started

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Look into the folder of the run."""
        run = self._runs.find(str(token["key"]))
        if not run.folder.is_dir():
            return Lost("The run of the playbook is not known here (any more).")
        goes_on = run.is_running()
        result = run.read_result()  # it may have ended just before
        report = read_json(find_report(run.folder))
        if result is None and goes_on:
            return Running(_POLL, self._settings.redact(outcome.describe_progress(report)))
        if result is None or result["exit_code"] < 0:
            kill_rest(run.folder)
        found = self._judge_loss(run, report) if result is None else None
        answer = found or outcome.interpret_end(report, result or {})
        if isinstance(answer, Failed):
            return replace(answer, reason=self._settings.redact(answer.reason))
        return answer

    def _judge_loss(self, run: DetachedRun, report: outcome.Report | None) -> PollAnswer:
        """The answer for a run whose watching process was killed."""
        if not run.was_started():
            return Lost(f"The run never began: {run.read_complaint() or 'it was killed'}")
        run.kill_command()  # it may have survived; nobody would learn how it ends
        if report is not None and report.get("ended"):
            return outcome.interpret_report(report, "the run was killed", outcome.is_well(report))
        reason = f"The run was killed; it was at {outcome.describe_progress(report)}"
        return Failed(reason, outcome.read_output(report), by_runner=True)

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """End Ansible and the modules that it runs on this machine."""
        run = self._runs.find(str(token["key"]))
        if not run.folder.is_dir() or not run.is_running():
            return Cancelled.DONE
        run.cancel()
        return Cancelled.ACCEPTED

    def forget(self, token: Mapping[str, Any]) -> None:
        """Remove what was written down, outputs among it."""
        self._runs.forget(str(token["key"]))
