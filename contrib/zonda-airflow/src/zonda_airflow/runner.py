"""The runner: triggers DAG runs, follows them and reads what one task has returned.

The run's id is zonda's key, so a repeated start meets the first run (409). The token is
``{"dag", "task", "id", "at"}``. Airflow's REST API keeps no result of a run; by convention the
task ``zonda_output`` (or another, see ``names``) returns it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks import ResourceFailure, UsageError
from zonda.hooks.http import Reply, RequestRejected, TransportError
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
    Succeeded,
    WorkflowRunner,
    http_contract,
)

from .names import Target, target_of
from .session import LoginRefused, Session, decoded, said
from .settings import Settings, read_settings

WAITING = frozenset({"queued", "running"})
BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_POLL = 15.0
_TROUBLE = (TransportError, RequestRejected, LoginRefused)


class AirflowRunner(WorkflowRunner):
    """Executions are runs of DAGs."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Raises UsageError for wrong settings."""
        self._settings: Settings = read_settings(settings)
        self._clock = self._settings.wire.clock
        self._retries = RetryPolicy(
            self._clock.now, self._settings.random, self._settings.give_up, self._settings.redact
        )
        self._session = Session(self._settings)

    def check(self, workflow: str) -> None:
        """Raise ResourceFailure for a DAG that Airflow does not know."""
        try:
            target = target_of(workflow, self._settings.output_task)
        except UsageError as error:
            raise ResourceFailure(error.message, hint=error.hint) from None
        try:
            reply = self._session.send("GET", target.path)
        except _TROUBLE:
            return
        if reply.status == 404 and said(reply):
            raise ResourceFailure(
                f"Airflow knows no DAG {target.dag}: {said(reply)}",
                hint="Put it into the folder of DAGs and wait until Airflow has read it.",
            )

    # -- start ----------------------------------------------------------------------------------

    def start(self, request: StartRequest) -> StartAnswer:
        """Trigger a run, or find the one that has this key."""
        try:
            target = target_of(request.workflow, self._settings.output_task)
            conf = json.loads(http_contract.body(request))
        except UsageError as error:
            return self._retries.fail(request, f"{error.message} {error.hint}")
        except ValueError:
            return self._retries.fail(
                request, "The input holds a number that JSON has no word for."
            )
        run = {"dag_run_id": request.key, "logical_date": None, "conf": conf}
        try:
            reply = self._session.send(
                "POST", f"{target.path}/dagRuns", json.dumps(run, sort_keys=True).encode()
            )
        except TransportError as error:
            return self._retries.retry_connection(request, f"Airflow: {error}")
        except (RequestRejected, LoginRefused) as error:
            return self._retries.fail(request, f"Airflow: {error}")
        return self._triggered(request, target, reply)

    def _triggered(self, request: StartRequest, target: Target, reply: Reply) -> StartAnswer:
        if reply.status in (200, 201) or reply.status == 409:  # 409: the run is there already
            token = {
                "dag": target.dag,
                "task": target.task,
                "id": request.key,
                "at": self._clock.now(),
            }
            return Started(token, self._pause(0.0), request.key)
        why = self._shown(reply)
        if reply.status in BUSY:
            return self._retries.retry_busy(request, why)
        return self._retries.fail(request, why)

    # -- poll -----------------------------------------------------------------------------------

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        """Ask how the run is doing; once it has ended, for what its task returned."""
        target, key = Target(str(token["dag"]), str(token["task"])), str(token["id"])
        pause = self._pause(self._clock.now() - float(token.get("at", 0.0)))
        try:
            reply = self._session.send("GET", target.run(key))
            if reply.status == 404 and said(reply):
                return Lost(f"{self._shown(reply)} (the run is lost)")
            state = _state(reply)
            if state == "success":
                return self._result(target, key, pause)
            if state == "failed":
                return self._failure(target, key)
        except _TROUBLE as error:
            return Running(pause, self._settings.redact(f"Airflow: {error}"))
        if state in WAITING:
            return Running(pause, "" if state == "running" else state)
        return Running(pause, f"in state {state[:60]}" if state else self._shown(reply))

    def _result(self, target: Target, key: str, pause: float) -> PollAnswer:
        reply = self._session.send("GET", target.result(key))
        if reply.status == 404 and said(reply):
            return Succeeded({})  # no such task in this DAG, or it returned nothing
        found = decoded(reply)
        if reply.status != 200 or not isinstance(found, dict) or "value" not in found:
            return Running(pause, self._shown(reply))
        output = _object(found["value"])
        if not http_contract.is_json(output):
            return Failed(
                f"the task {target.task} returned what JSON has not: NaN, an infinity or half a "
                "character"
            )
        given = output.get("resource_id")
        return Succeeded(output, given if isinstance(given, str) else None)

    def _failure(self, target: Target, key: str) -> Failed:
        """The failure: tasks that failed, and what the output's task had returned before."""
        reply = self._session.send("GET", f"{target.run(key)}/taskInstances?state=failed")
        failed = ", ".join(_tasks(reply)) or "no task of its own"
        kept = decoded(self._session.send("GET", target.result(key)))
        output = _object(kept["value"]) if isinstance(kept, dict) and "value" in kept else None
        return Failed(
            self._settings.redact(f"the DAG run {key} of {target.dag} failed: {failed}"),
            output if http_contract.is_json(output) else None,
        )

    def _pause(self, age: float) -> float:
        """Seconds between polls; a run takes Airflow some seconds at least."""
        most = min(max(age / 4, 1.0), _LONGEST_POLL)
        return self._settings.random.uniform(most / 2, most)

    # -- cancel ---------------------------------------------------------------------------------

    def cancel(self, token: Mapping[str, Any], reason: str) -> Cancelled:
        """Have the run marked as failed, which is Airflow's way to end one."""
        target = Target(str(token["dag"]), str(token["task"]))
        try:
            reply = self._session.send("PATCH", target.run(str(token["id"])), b'{"state":"failed"}')
        except _TROUBLE:
            return Cancelled.UNSUPPORTED
        return Cancelled.DONE if reply.status in (200, 404) else Cancelled.UNSUPPORTED

    def close(self) -> None:
        """Close every connection."""
        self._session.close()

    # -- words ----------------------------------------------------------------------------------

    def _shown(self, reply: Reply) -> str:
        return self._settings.redact(
            f"Airflow answered {reply.status}: {said(reply) or 'no reason given'}"
        )


def _state(reply: Reply) -> str:
    found = decoded(reply)
    state = found.get("state") if reply.status == 200 and isinstance(found, dict) else None
    return state if isinstance(state, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"result": value}


def _tasks(reply: Reply) -> list[str]:
    found = decoded(reply)
    rows = found.get("task_instances") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        return []
    named = (row for row in rows if isinstance(row, dict) and row.get("task_id"))
    return [f"task {row['task_id']} (try {row.get('try_number')})" for row in named]
