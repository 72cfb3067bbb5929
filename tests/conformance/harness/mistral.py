"""A workflow service in memory that answers as a case's ``mistral`` section says.

Executions are called ``exec-1``, ``exec-2``, ... in order of creation. A list of results is used in
turn, the last one again and again; a list of states is seen at successive polls.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from zonda.hooks.runners import (
    Failed,
    PollAnswer,
    Running,
    Started,
    StartRequest,
    Succeeded,
    WorkflowRunner,
)

WAITING = {"IDLE", "RUNNING", "PAUSED"}
FAILED = {"ERROR", "CANCELLED"}


class FakeMistral(WorkflowRunner):
    """One case's workflow service; ``calls`` is what the case's ``mistral_calls`` lists."""

    def __init__(self) -> None:
        self.reset({})

    def reset(self, workflows: Mapping[str, Any]) -> None:
        """Forget everything and answer by ``workflows`` from now on."""
        self.workflows = {
            name: list(results) if isinstance(results, list) else [results]
            for name, results in workflows.items()
        }
        self.calls: list[dict[str, Any]] = []
        self.executions: dict[str, dict[str, Any]] = {}
        self.by_key: dict[str, str] = {}

    def start(self, request: StartRequest) -> Started:
        known = self.by_key.get(request.key)
        if known is None:
            known = self._create(request)
        return Started({"id": known}, execution_id=known)

    def _create(self, request: StartRequest) -> str:
        self.calls.append(
            {
                "workflow": request.workflow,
                "input": copy.deepcopy(dict(request.inputs)),
                "description": request.description,
                "params": copy.deepcopy(dict(request.params)),
            }
        )
        results = self.workflows.get(request.workflow) or [{}]
        result = results.pop(0) if len(results) > 1 else results[0]
        name = f"exec-{len(self.calls)}"
        states = (result or {}).get("state", "SUCCESS")
        self.executions[name] = {
            "states": list(states) if isinstance(states, list) else [states],
            "output": (result or {}).get("output", {}),
            "state_info": (result or {}).get("state_info"),
        }
        self.by_key[request.key] = name
        return name

    def poll(self, token: Mapping[str, Any]) -> PollAnswer:
        execution = self.executions[token["id"]]
        states = execution["states"]
        state = states.pop(0) if len(states) > 1 else states[0]
        if state in WAITING:
            return Running()
        if state == "SUCCESS":
            return Succeeded(copy.deepcopy(execution["output"]))
        if state in FAILED:
            return Failed(execution["state_info"] or state)
        reason = f'Mistral execution is in unknown state. - Unknown status {state} due to "Unknown"'
        return Failed(reason, heat_type="ResourceUnknownStatus")
