"""A run of a workflow within one operation: sent, polled and cancelled, safe from crashes.

For types whose handlers have a workflow do the work. ``start`` in ``handle_X`` gives the token;
``poll`` in ``check_X_complete`` brings it on and gives what came of the run. All that has to be
known later stands in the token, which the engine stores::

    {"key", "action", "request": {...}}      what every send repeats, plus one of
    "run": the runner's token | "pending": {attempt, answered, memory} | "result": {...}
    "next": the time before which the first check has nothing to do
    "until": the deadline, where a type sets one before that of the operation

The key is made from the operation's id, so an interrupted send is repeated with the same key: the
type says ``start_policy = "idempotent"``.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from ..errors import NotReady, ResourceFailure
from ..runners import (
    Cancelled,
    Failed,
    Finished,
    Lost,
    PollAnswer,
    ResourceRef,
    Retry,
    Running,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)
from ..runners.deadline import keep_deadline
from ..runners.waking import get_waker
from ..runners.wrong_answers import NOT_RUN, check_answer
from .resource import Resource

#: Keys of executions are made in this namespace, from the operation's id.
KEY_NAMESPACE = uuid.UUID("6a0f3c52-43a1-5d5b-8a58-0f5ad1b6f7c9")
#: Codes of failures: the workflow's own, a run that is lost, and a runner that cannot run it.
WORKFLOW_FAILED, WORKFLOW_LOST = "ZON303", "ZON304"

_RESEND_LOST = 5.0
_LONGEST_WAIT = 300.0
#: Seconds between two questions how a cancelled run is doing.
_SOON = 2.0

RunToken = dict[str, Any]
#: Further arguments of a ``StartRequest``, asked for at each send.
More = Callable[[RunToken], Mapping[str, Any]]


def to_json(value: Any) -> Any:
    """``value`` as JSON gives it back: keys are texts, tuples are lists."""
    return json.loads(json.dumps(value))


def new_token(
    resource: Resource,
    action: str,
    workflow: str,
    inputs: Mapping[str, Any],
    params: Mapping[str, Any] | None = None,
    description: str = "",
) -> RunToken:
    """The token of a run that is about to be sent; raises ResourceFailure outside an operation."""
    operation = resource.context.operation
    if operation is None:
        raise ResourceFailure(f"{action} was called outside an operation")
    return {
        "key": str(uuid.uuid5(KEY_NAMESPACE, operation.id)),
        "action": action,
        "request": {
            "workflow": workflow,
            "params": to_json(params or {}),
            "inputs": to_json(inputs),
            "description": description,
        },
        "pending": {"attempt": 1, "answered": False, "memory": {}},
    }


def wait_until_next(token: RunToken, seconds: float, now: float) -> None:
    """Note in a token that the next call is due after ``seconds``."""
    token.update(next=now + seconds, pause=seconds)


class WorkflowRun:
    """The run behind a token. ``more`` adds to what is sent."""

    def __init__(self, resource: Resource, token: RunToken, more: More | None = None) -> None:
        self._resource = resource
        self._context = resource.context
        self._more = more or (lambda token: {})
        self.token = token
        #: The runner of a workflow. A type whose requests hold secrets of its own puts another one
        #: in between who lets none of them out again.
        self.runner_for: Callable[[str], tuple[WorkflowRunner, str]] = self._context.runner

    def start(self) -> RunToken:
        """Send the request once; return the token with the answer.

        Raises NotReady where it waits for its turn: the same token is to be sent again.
        """
        waker = get_waker()
        if waker is not None and waker.take_ring():
            self._context.progress("running")  # and not what it has waited for
        wait_until_next(self.token, self._send(), self._context.clock.now())
        return self.token

    def poll(self) -> Succeeded | Failed | Lost | None:
        """The result of the run; None while it goes on. Raises NotReady to be called later."""
        token, waker = self.token, get_waker()
        has_news = waker is not None and waker.take_ring()
        early = token["next"] - self._context.clock.now()
        if not has_news and 0 < early <= token.get(
            "pause", _LONGEST_WAIT
        ):  # farther away: a clock was set back
            raise NotReady(min(early, _LONGEST_WAIT))
        if "pending" in token:
            # A result is applied in the next call, when the token that has it is stored: what is
            # applied changes the request, which must not change as long as it may be sent again.
            raise NotReady(self._send())
        if "result" in token:
            return result_from_json(token["result"])
        answer = self._ask_runner()
        if not isinstance(answer, Running):
            return answer
        if answer.message:
            self._context.progress(answer.message)
        if answer.token is not None:
            token["run"] = dict(answer.token)
        if answer.poll_after is not None:
            raise NotReady(answer.poll_after, answer.message or "running")
        return None

    def send_again(self, lost: Lost) -> None:
        """Send a lost run once more with the same key, a little later. Raises NotReady."""
        del self.token["run"]
        self.token["pending"] = {"attempt": 2, "answered": True, "memory": {}}
        raise NotReady(_RESEND_LOST, lost.reason)

    def forget(self) -> None:
        """Let the runner tidy up, once the result is stored."""
        if "run" in self.token:
            runner, _ = self.runner_for(self.token["request"]["workflow"])
            runner.forget(self.token["run"])

    def cancel(self) -> None:
        """Ask the runner to end the run, where it can."""
        run = self.token.get("run")
        if run is not None:
            runner, _ = self.runner_for(self.token["request"]["workflow"])
            with keep_deadline(self._find_deadline()):
                answer = runner.cancel(run, "the operation was cancelled")
            self.token["cancel"] = str(answer)

    def poll_cancelled(self) -> Succeeded | Failed | Lost | None:
        """The result of a run that was cancelled; None where the runner cannot be asked.

        Raises NotReady while it goes on.
        """
        if self.token.get("cancel", Cancelled.UNSUPPORTED) == Cancelled.UNSUPPORTED:
            return None
        answer = self._ask_runner()
        if not isinstance(answer, Running):
            return answer
        if answer.token is not None:
            self.token["run"] = dict(answer.token)
        raise NotReady(min(answer.poll_after or _SOON, _SOON), "it is being cancelled")

    def _ask_runner(self) -> PollAnswer:
        runner, _ = self.runner_for(self.token["request"]["workflow"])
        with keep_deadline(self._find_deadline()):
            answer: PollAnswer = runner.poll(self.token["run"])
        check_answer(answer, "poll", describe_runner(runner, self.token["request"]["workflow"]))
        return answer

    def _find_deadline(self) -> float:
        operation = self._context.operation
        until: float = self.token.get("until", inf)
        return until if operation is None else min(operation.deadline, until)

    def _send(self) -> float:
        """Send the request once and note the answer in the token. Returns a delay."""
        token = self.token
        runner, name = self.runner_for(token["request"]["workflow"])
        pending = token.pop("pending")
        if pending["attempt"] > 1:
            self._context.progress("running")  # and not what it has waited for
        request = self._build_request(name, pending)
        with keep_deadline(request.deadline):
            answer = runner.start(request)
        check_answer(answer, "start", describe_runner(runner, token["request"]["workflow"]))
        if isinstance(answer, Retry):
            who = describe_runner(runner, token["request"]["workflow"])
            return self._put_off(answer, pending, who)
        token["execution"] = answer.execution_id
        if isinstance(answer, Finished):
            # Kept in the token and applied by the check: a crash in between finds it again.
            token["result"] = result_to_json(answer.result)
            return 0.0
        assert isinstance(answer, Started)
        token["run"] = dict(answer.token)
        return answer.poll_after or 0.0

    def _put_off(self, answer: Retry, pending: dict[str, Any], who: str) -> float:
        """Note that the request is to be sent again. Raises NotReady while it waits for a turn."""
        text = answer.message if answer.accepted else f"waiting for {who}: {answer.message}"
        if answer.queued:
            self.token["pending"] = pending
            self._context.progress(text)
            raise NotReady(answer.delay, text, queued=True)
        self.token["pending"] = {
            "attempt": pending["attempt"] + 1,
            "answered": pending["answered"] or answer.answered,
            "memory": dict(answer.memory),
        }
        when = "" if answer.accepted else f", next try in {max(1, round(answer.delay))} s"
        self._context.progress(f"{text}{when}")
        return answer.delay

    def _build_request(self, workflow: str, pending: Mapping[str, Any]) -> StartRequest:
        owner, operation = self._resource, self._context.operation
        assert operation is not None
        request = self.token["request"]
        known = {
            "workflow": workflow,
            "action": self.token["action"],
            "key": self.token["key"],
            "deadline": operation.deadline,
            "stack": self._context.stack,
            "resource": ResourceRef(owner.uuid, owner.name, owner.type(), owner.resource_id),
            "inputs": request["inputs"],
            "params": request["params"],
            "description": request["description"],
            "started_at": operation.started_at,
            **pending,
        }
        return StartRequest(**{**known, **self._more(self.token)})


def describe_runner(runner: WorkflowRunner, workflow: str) -> str:
    """The runner's name for people; an address may hold a password."""
    name, colon, rest = workflow.partition(":")
    named = name if colon and not rest.startswith("//") else getattr(runner, "label", "")
    return f"runner {named}" if named else "the runner"


def to_error(result: Failed | Lost) -> ResourceFailure:
    """The error that says why a run has failed, or that it is lost."""
    if isinstance(result, Lost):
        return ResourceFailure(result.reason, code=WORKFLOW_LOST)
    error = ResourceFailure(result.reason, code=NOT_RUN if result.by_runner else WORKFLOW_FAILED)
    error.heat_type = result.heat_type or error.heat_type
    return error


def result_to_json(result: Succeeded | Failed) -> dict[str, Any]:
    """A result as it is kept in a token."""
    common = {"output": result.output, "resource_id": result.resource_id}
    if isinstance(result, Succeeded):
        return common
    return {
        **common,
        "reason": result.reason,
        "retryable": result.retryable,
        "heat_type": result.heat_type,
        "by_runner": result.by_runner,
    }


def result_from_json(kept: Mapping[str, Any]) -> Succeeded | Failed:
    """The result that ``result_to_json`` wrote."""
    return Failed(**kept) if "reason" in kept else Succeeded(**kept)
