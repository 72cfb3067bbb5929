"""Starts, watches, recovers and cancels the runs of the bundled service.

Called by the HTTP face. A run belongs to its wrapper process, which lives on when the service
ends; what is known about a run is in the journal, never only here. One thread watches each
running wrapper; what is more than ``parallel`` waits in order.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from zonda.hooks import Clock

from .. import atomic_files as files
from . import journal
from . import processes as process
from .config import ServiceConfig, Workflow
from .journal import Journal, Run

DAY = 86400.0
CANCELLED = "The run was cancelled."
#: Without site packages a wrapper starts in two thirds of the time; it needs none.
_WRAPPER = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    f"import sys; sys.path.append({str(Path(__file__).parents[3])!r}); "
    f"from {__package__}.wrapper import main; main(sys.argv[1])",
)
#: How often an idempotent run is started before its loss counts as its failure.
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
        result = run.result()
        if result is not None:
            found = {name: result.get(name) for name in ("state", "output", "reason")}
            return {"contract": 1, **{name: value for name, value in found.items() if value}}
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

    def listed(self) -> Iterator[dict[str, Any]]:
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
        run.ask_to_cancel()
        with self._lock:
            if run in self._waiting:
                self._waiting.remove(run)
                run.end("cancelled", CANCELLED, self._clock.now())
        process.end(run.processes().get("wrapper"), signal.SIGTERM)

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
            if run.result() is not None:
                run.tidy()
                continue
            descriptor = run.open_lock()
            if not journal.try_lock(descriptor):
                self._attach(run, descriptor)
                continue
            os.close(descriptor)
            if self._has_to_run(run):
                self._waiting.append(run)
        with self._lock:
            self._start_waiting()
        self._forget(self._clock.now(), always=True)

    def _attach(self, run: Run, descriptor: int) -> None:
        """Wait for a wrapper that is not a child of this process."""

        def wait() -> None:
            try:
                journal.wait_for_lock(descriptor)
            finally:
                os.close(descriptor)

        with self._lock:
            self._active[run.key] = run
        self._run_in_thread(run, lambda: wait)

    def _has_to_run(self, run: Run) -> bool:
        """Whether a run without wrapper has to be started (again); a lost one ends here."""
        if run.result() is not None:
            run.tidy()
            return False
        starts = run.starts()
        if starts == 0:
            return True
        # The command may have survived its wrapper; nobody would learn how it ends.
        process.end_group(run.processes().get("command"), signal.SIGKILL)
        if files.is_cancel_requested(run.folder):
            run.end("cancelled", CANCELLED, self._clock.now())
            return False
        workflow = self._config.workflows.get(run.workflow)
        if workflow is not None and workflow.idempotent and starts < MOST_STARTS:
            return True
        run.end("failed", _describe_loss(workflow, starts, run.complaint()), self._clock.now())
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
            if files.is_cancel_requested(run.folder):
                run.end("cancelled", CANCELLED, self._clock.now())
            elif workflow is None:
                reason = f"The workflow {run.workflow} is no longer in the workflow file."
                run.end("failed", reason, self._clock.now())
            else:
                return self._launch(run, workflow).wait
        except OSError as error:
            run.end("failed", f"The run cannot be started: {error}", self._clock.now())
        finally:
            with self._launches:
                self._launching -= 1
                self._launches.notify_all()
        return None

    def _launch(self, run: Run, workflow: Workflow) -> subprocess.Popen[bytes]:
        plan = run.folder / files.PLAN
        argv = [*workflow.argv, str(plan)] if workflow.http else list(workflow.argv)
        body = (run.folder / files.BODY).read_bytes()
        content = {
            "argv": argv,
            "cwd": workflow.cwd,
            "env": {**_build_variables(run, json.loads(body)), **workflow.env},
            "timeout": workflow.timeout,
            "http": workflow.http,
        }
        # Read at once by the wrapper and by nobody after a crash.
        files.write_json(plan, content, durable=False)
        run.note_start()
        descriptor = run.open_lock()
        try:
            # The wrapper inherits the locked descriptor: from before it begins until it is gone,
            # the lock is taken, and the pid of a stranger can never be mistaken for it.
            journal.try_lock(descriptor)
            with files.open_log(run.folder / journal.WRAPPER_LOG) as log:
                return subprocess.Popen(
                    [*_WRAPPER, str(run.folder)],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(descriptor,),
                    start_new_session=True,
                )
        finally:
            os.close(descriptor)

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


def _describe_loss(workflow: Workflow | None, starts: int, complaint: str) -> str:
    lost = "The run was lost: its process is gone and left no result."
    if complaint:
        lost += f" The last it said: {complaint}."
    if workflow is not None and workflow.idempotent:
        return f"{lost} It was started {starts} times."
    return f"{lost} It is not repeated, since the workflow does not say idempotent: true."
