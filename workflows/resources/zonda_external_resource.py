"""``Zonda::Workflow::ExternalResource``: the same as Heat's type, with all that zonda can do.

A runner by name, CHECK for drift, timeouts, retries, and a say in what another ``resource_id``
means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from zonda.hooks import (
    OpaqueState,
    Partial,
    ResourceFailure,
    RunToken,
    constraints,
    is_same_value,
    properties,
    resource,
    to_json,
)

from . import external_resource_schema as names
from . import workflow_call
from .drift_check import DriftCheckMixin, read_flag
from .external_resource import ExternalResource
from .workflow_call import WorkflowCall

RUNNER = "runner"
TIMEOUTS = "timeouts"
ON_TIMEOUT = "on_timeout"
RETRIES = "retries"
RETRY_DELAY = "retry_delay"
ALLOW_ID_CHANGE = "allow_id_change"
ACTION_NAMES = (*names.ACTION_NAMES, "CHECK")

_S = properties.Schema
_ACTION: Mapping[str, properties.Schema] = {
    names.WORKFLOW: _S(_S.STRING, "Name or id of the workflow.", required=True),
    names.PARAMS: _S(_S.MAP, "Parameters for the execution of the workflow.", default={}),
    RUNNER: _S(_S.STRING, "The runner of this action, where it is another one."),
}


def _make_action_map_schema(
    kind: str, description: str, *rules: constraints.Constraint
) -> properties.Schema:
    inside = {name: _S(kind, f"Of {name}.", constraints=rules) for name in ACTION_NAMES}
    return _S(_S.MAP, description, schema=inside, update_allowed=True)


PROPERTIES_SCHEMA: Mapping[str, properties.Schema] = {
    names.ACTIONS: _S(
        _S.MAP,
        "The workflow that carries out each action. CHECK tells how the thing really is, and "
        "changes nothing.",
        required=True,
        update_allowed=True,
        schema={
            name: _S(_S.MAP, f"The workflow that runs on {name}.", schema=_ACTION)
            for name in ACTION_NAMES
        },
    ),
    RUNNER: _S(
        _S.STRING,
        "The runner that the workflows go to, a section [runners.NAME] of the settings. Without it "
        "the workflow's name says who runs it.",
        update_allowed=True,
    ),
    **{
        name: names.PROPERTIES_SCHEMA[name]
        for name in (names.INPUT, names.REPLACE_INPUTS, names.ALWAYS_UPDATE)
    },
    names.DESCRIPTION: _S(
        _S.STRING, "The description of the executions.", default="", update_allowed=True
    ),
    TIMEOUTS: _make_action_map_schema(
        _S.NUMBER, "Seconds after which an action is given up.", constraints.Range(min=1)
    ),
    ON_TIMEOUT: _S(
        _S.STRING,
        "What happens to a run whose time is over: fail leaves it alone, cancel asks the runner to "
        "end it first. The action has failed either way.",
        default=workflow_call.FAIL,
        constraints=[constraints.AllowedValues([*workflow_call.ON_TIMEOUT])],
        update_allowed=True,
    ),
    RETRIES: _make_action_map_schema(
        _S.INTEGER,
        "How many more runs an action may have after one that has failed.",
        constraints.Range(min=0, max=100),
    ),
    RETRY_DELAY: _S(
        _S.NUMBER,
        "Seconds between two runs.",
        default=workflow_call.RETRY_DELAY,
        constraints=[constraints.Range(min=0, max=3600)],
        update_allowed=True,
    ),
    ALLOW_ID_CHANGE: _S(
        _S.BOOLEAN,
        "Whether UPDATE may answer with another resource_id. DELETE removes what had the former "
        "one then; otherwise such an answer is a failure.",
        default=False,
        update_allowed=True,
    ),
}

_OUT_OF_SYNC = "CHECK says that it is not in sync, and not in what"


class ZondaExternalResource(DriftCheckMixin, ExternalResource):
    """A resource that is made, changed, looked at and removed by workflows."""

    longest_id = None
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = PROPERTIES_SCHEMA
    repairs_in_place: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {
        "actions": {
            "CREATE": {"workflow": "make-disk"},
            "UPDATE": {"workflow": "change-disk"},
            "DELETE": {"workflow": "remove-disk"},
            "CHECK": {"workflow": "look-at-disk"},
        },
        "input": {"size": 10},
        "timeouts": {"CREATE": 600},
    }

    handle_check = DriftCheckMixin._handle_check
    check_check_complete = DriftCheckMixin._check_check_complete
    handle_check_cancel = DriftCheckMixin.handle_create_cancel

    def handle_update(
        self,
        json_snippet: resource.ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> RunToken | None:
        """Start UPDATE as Heat's type does, and where a CHECK has found a difference."""
        if self._has_difference():
            prop_diff = {**prop_diff, names.INPUT: None}
        return super().handle_update(json_snippet, tmpl_diff, prop_diff)

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Whether a replacement is needed; also to repair drift where there is no UPDATE."""
        if self.drift == "DRIFTED" and self._build_call("UPDATE", after) is None:
            return True
        return super().needs_replace_with_prop_diff(changed, after, before)

    def _build_call(self, action: str, props: properties.Properties) -> WorkflowCall | None:
        call = super()._build_call(action, props)
        if call is None:
            return None
        runner = props[names.ACTIONS][action].get(RUNNER) or props[RUNNER]
        return replace(
            call,
            workflow=f"{runner}:{call.workflow}" if runner else call.workflow,
            timeout=(props[TIMEOUTS] or {}).get(action) or None,
            on_timeout=props[ON_TIMEOUT],
            retries=(props[RETRIES] or {}).get(action) or 0,
            delay=props[RETRY_DELAY],
        )

    def _takes_new_id(self) -> bool:
        return bool(self.properties[ALLOW_ID_CHANGE])

    def _deletes_old_id(self) -> bool:
        return True

    def _build_live_state(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        """``inputs`` of CHECK's output as the property ``input``, or ``in_sync`` as it is.

        What is said not to be in sync is not, whatever was observed of the inputs.
        """
        wanted = to_json(self.properties[names.INPUT] or {})
        observed, in_sync = output.get("inputs"), read_flag(output, "in_sync")
        if observed is not None and not isinstance(observed, Mapping):
            raise ResourceFailure(f"CHECK told nothing: inputs is {json.dumps(observed)}, no map.")
        seen = Partial(observed) if isinstance(observed, Mapping) else Partial()
        if in_sync is False and is_same_value(wanted, {**wanted, **seen}):
            other = {names.INPUT: self._change_input(wanted)}
            return OpaqueState(other, in_sync=False, reason=_OUT_OF_SYNC)
        if seen:
            return {names.INPUT: seen}
        if in_sync is True:
            return OpaqueState({names.INPUT: wanted}, in_sync=True)
        raise ResourceFailure(
            "CHECK told nothing: its output has neither exists: false nor inputs nor in_sync.",
            hint="Let it answer {exists: false}, {inputs: {...}} or {in_sync: true or false}.",
        )

    def _change_input(self, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
        """A changed input, so that an UPDATE is sent.

        It differs in a name that means nothing to anybody, least of all a replacement.
        """
        known = {*wanted, *map(str, self.properties[names.REPLACE_INPUTS] or ())}
        free = "in_sync"
        while free in known:
            free += "_"
        return {**wanted, free: False}
