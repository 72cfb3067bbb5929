"""Starts, watches, recovers and cancels the runs of the bundled service.

Called by the HTTP face. A run belongs to its wrapper process, which lives on when the service
ends; what is known about a run is in the journal, never only here. One thread watches each
running wrapper; what is more than ``parallel`` waits in order.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from zonda.hooks import Clock
from zonda.hooks.processes import Plan, own_environment, write_json

from . import outcome
from .config import ServiceConfig, Workflow
from .journal import BODY, HTTP, Journal, Run

DAY = 86400.0
#: The number of starts of a run that may be repeated before its loss counts as its failure.
MOST_STARTS = 3
_PASSED_ON = {
    "ZONDA_ACTION": ("action",),
    "ZONDA_STACK_ID": ("stack", "id"),
    "ZONDA_STACK_NAME": ("stack", "name"),
    "ZONDA_PROJECT": ("stack", "project"),
    "ZONDA_RESOURCE_ID": ("resource", "id"),
    "ZONDA_RESOURCE_NAME": ("resource", "name"),
    "ZONDA_RESOURCE_TYPE": ("resource", "type"),
    "ZONDA_PHYSICAL_ID": ("resource", "physical_id"),
}


Wait = Callable[[], object]


class UnknownWorkflow(Exception):
    """The workflow file has no such name."""


class TooLate(Exception):
    """The deadline of a new request is over."""


class Runs:
    """The runs of one service. Many threads may call."""

    def __init__(self, config: ServiceConfig, journal_: Journal, clock: Clock) -> None:
        self._config = config
        self._journal = journal_
        self._clock = clock
        self._lock = threading.Lock()
        self._launches = threading.Condition(self._lock)
        self._launching = 0
        self._active: dict[str, Run] = {}
        self._waiting: deque[Run] = deque()
        self._forgot_at = clock.now()
        self._stopped = False

    # -- for the HTTP face --------------------------------------------------------------------

    def submit(self, workflow: str, key: str, body: bytes) -> Run:
        """The run of ``key``, accepted now or before.

        Raises UnknownWorkflow, KeyReused and TooLate.
        """
        request = json.loads(body)
        now = self._clock.now()
        if self._journal.find(key) is None:
            if workflow not in self._config.workflows:
                raise UnknownWorkflow(workflow)
            if _read_deadline(request, now) < now:
                raise TooLate(key)
        run, new = self._journal.accept(
            key,
            workflow,
            str(request.get("action", "")),
            body,
            now,
            _compute_forget_at(request, now),
        )
        if new:
            with self._lock:
                self._waiting.append(run)
                self._start_waiting()
        self._forget(now)
        return run

    def knows(self, workflow: str) -> bool:
        """Whether the workflow file has this name."""
        return workflow in self._config.workflows

    def find(self, key: str) -> Run | None:
        """The run of ``key``."""
        return self._journal.find(key)

    def answer(self, run: Run) -> dict[str, Any]:
        """The answer object of the contract for ``run``."""
        ended = run.read_outcome()
        if ended is not None:
            return {"contract": 1, **{name: value for name, value in ended.items() if value}}
        age = max(0.0, self._clock.now() - run.accepted_at)
        with self._lock:
            message = "running" if run.key in self._active else "waiting for a free place"
        return {
            "contract": 1,
            "state": "running",
            "message": message,
            "cancellable": True,
            "retry_after": round(min(5.0, 0.1 + age / 4), 2),
        }

    def list_runs(self) -> Iterator[dict[str, Any]]:
        """The known runs, oldest first."""
        for run in self._journal.runs():
            yield {
                "key": run.key,
                "workflow": run.workflow,
                "action": run.action,
                "state": self.answer(run)["state"],
                "starts": run.starts(),
                "accepted_at": run.accepted_at,
            }

    def cancel(self, run: Run) -> None:
        """Ask ``run`` to end; it may still end otherwise first."""
        run.cancel()
        with self._lock:
            if run in self._waiting:
                self._waiting.remove(run)
                run.end("cancelled", outcome.CANCELLED)

    def stop(self) -> None:
        """Start nothing more. What runs goes on without this service."""
        with self._launches:
            self._stopped = True
            self._waiting.clear()
            # The next service must see the lock of every wrapper that this one has started.
            self._launches.wait_for(lambda: not self._launching)

    # -- recovery -----------------------------------------------------------------------------

    def recover(self) -> None:
        """Take up what an earlier service left: wait for what runs, decide about what is lost."""
        for run in self._journal.runs():
            if run.is_running():
                with self._lock:
                    self._active[run.key] = run
                self._run_in_thread(run, lambda run=run: run.wait)  # type: ignore[misc]
            elif self._has_to_run(run):
                self._waiting.append(run)
        with self._lock:
            self._start_waiting()
        self._forget(self._clock.now(), always=True)

    def _has_to_run(self, run: Run) -> bool:
        """Whether a run without wrapper has to be started (again); a lost one ends here."""
        if run.read_result() is not None:
            run.tidy()
            return False
        # The command may have survived its wrapper; nobody would learn how it ends.
        run.kill_command()
        if run.is_cancelled():
            run.end("cancelled", outcome.CANCELLED)
            return False
        workflow = self._config.workflows.get(run.workflow)
        may_run = not run.was_started() or (workflow is not None and workflow.idempotent)
        if may_run and run.starts() < MOST_STARTS:
            return True
        run.end("failed", _describe_loss(run, workflow))
        return False

    # -- running ------------------------------------------------------------------------------

    def _start_waiting(self) -> None:
        """Start waiting runs as long as there is room. The lock is held."""
        while self._waiting and len(self._active) < self._config.parallel and not self._stopped:
            run = self._waiting.popleft()
            self._active[run.key] = run
            self._run_in_thread(run, lambda run=run: self._start_wrapper(run))  # type: ignore[misc]

    def _run_in_thread(self, run: Run, begin: Callable[[], Wait | None]) -> None:
        def carry_out() -> None:
            wait = begin()
            if wait is not None:
                wait()
            self._finish_run(run)

        threading.Thread(target=carry_out, name=f"run {run.key}", daemon=True).start()

    def _finish_run(self, run: Run) -> None:
        """Handle the end of a wrapper, or its failed start."""
        again = not self._stopped and self._has_to_run(run)
        with self._lock:
            del self._active[run.key]
            if again and not self._stopped:
                self._waiting.append(run)
            self._start_waiting()

    def _start_wrapper(self, run: Run) -> Wait | None:
        """Start the wrapper of ``run``; returns the call that waits for it, or None."""
        with self._lock:
            if self._stopped:
                return None
            self._launching += 1
        try:
            workflow = self._config.workflows.get(run.workflow)
            if run.is_cancelled():
                run.end("cancelled", outcome.CANCELLED)
            elif workflow is None:
                reason = f"The workflow {run.workflow} is no longer in the workflow file."
                run.end("failed", reason)
            else:
                child = self._launch(run, workflow)
                return child.wait if child else None
        except OSError as error:
            run.end("failed", f"The run cannot be started: {error}")
        finally:
            with self._launches:
                self._launching -= 1
                self._launches.notify_all()
        return None

    def _launch(self, run: Run, workflow: Workflow) -> subprocess.Popen[bytes] | None:
        argv = list(workflow.argv)
        if workflow.http:
            # Read at once by the command and by nobody after a crash.
            write_json(run.folder / HTTP, workflow.http, durable=False)
            argv.append(str(run.folder / HTTP))
        body = (run.folder / BODY).read_bytes()
        variables = {**_build_variables(run, json.loads(body)), **workflow.env}
        run.note_start()
        plan: Plan = {
            "argv": argv,
            "cwd": workflow.cwd,
            "env": {**own_environment(), **variables},
            "stdin": body.decode("utf-8", "surrogateescape"),
            "timeout": workflow.timeout,
            "limits": outcome.LIMITS,
            "hold_lock": False,
            "forget_cancelled": False,
        }
        return run.start(plan, again=True)

    def _forget(self, now: float, *, always: bool = False) -> None:
        with self._lock:
            if not always and now - self._forgot_at < DAY / 24:
                return
            self._forgot_at = now
        self._journal.forget(now)


def _compute_forget_at(request: Mapping[str, Any], now: float) -> float:
    """A day after the deadline of the request, which may be sent again until then."""
    return max(now, min(_read_deadline(request, now), now + 365 * DAY)) + DAY


def _read_deadline(request: Mapping[str, Any], now: float) -> float:
    """The deadline of the request; ``now`` where it has none."""
    try:
        return datetime.fromisoformat(str(request.get("deadline"))).timestamp()
    except (ValueError, OverflowError):
        return now


def _build_variables(run: Run, request: Mapping[str, Any]) -> dict[str, str]:
    found = {"ZONDA_WORKFLOW": run.workflow, "ZONDA_REQUEST_KEY": run.key}
    for name, path in _PASSED_ON.items():
        value: Any = request
        for step in path:
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            found[name] = str(value)
    return found


def _describe_loss(run: Run, workflow: Workflow | None) -> str:
    lost = "The run was lost: its process is gone and left no result."
    if complaint := run.read_complaint():
        lost += f" The last it said: {complaint}."
    if not run.was_started() or (workflow is not None and workflow.idempotent):
        return f"{lost} It was started {run.starts()} times."
    return f"{lost} It is not repeated, since the workflow does not say idempotent: true."
