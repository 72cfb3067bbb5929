"""CHECK: a workflow reports the live state, for drift checks, ``stack check`` and imports.

For the types of this room that have a CHECK. Within a drift check the run's token lives in
``context.observation`` and nothing is stored; a check that begins anew has another key.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from zonda.hooks import (
    NotFound,
    NotReady,
    OpaqueState,
    ResourceFailure,
    RunToken,
    compare_live_state,
    properties,
    redact,
    secret_texts,
    to_error,
    to_json,
    truncate_middle,
)
from zonda.hooks.runners import Failed, Lost, Succeeded

from .base import WorkflowResource

#: Between two looks at a CHECK that says nothing about it.
_POLL = 1.0
#: The result of the last ``stack check``, as an entry of the resource's data.
_GONE, _DIFFERS = "gone", "differs"
#: The output of the run of this key, kept until the next: the runner may have forgotten it.
_SEEN = "seen"


class DriftCheckMixin(WorkflowResource):
    """A resource with a CHECK workflow. A subclass interprets the output."""

    _adopted: Mapping[str, Any] | None = None

    def _build_live_state(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        """The live properties in CHECK's output; raises ResourceFailure where it has none."""
        raise NotImplementedError

    # -- drift checks -----------------------------------------------------------------------

    def get_live_state(self) -> Mapping[str, Any] | None:
        """The result of CHECK; None without one. Raises NotFound where the resource is gone."""
        operation = self.context.operation
        if operation is None or operation.action == "ADOPT":
            return self._adopted
        run = self._build_call("CHECK", self.properties)
        if run is None:
            return None
        kept = self.context.observation
        token = kept.get("token")
        if token is None:
            # kept once it was sent: a runner may have no room for it just now
            token = self._open_run(self._build_token("CHECK", run)).start()
        try:
            result = self._poll_check(token)
        finally:
            kept["token"] = token
        self._open_run(token).forget()
        return self._interpret_check(result)

    def cancel_observation(self) -> None:
        """Ask the runner to end a CHECK that is no longer needed."""
        token = self.context.observation.get("token")
        if token:
            self._open_run(token).cancel()

    def _poll_check(self, token: RunToken) -> Succeeded:
        """The result of a CHECK; raises NotReady while it runs."""
        execution = self._open_run(token)
        result = self._poll_result(token, execution)
        if result is None:
            raise NotReady(_POLL)
        if isinstance(result, Lost):
            raise to_error(result)
        if isinstance(result, Failed):
            if token.get("retries"):
                self._handle_failure(token, result)
            raise to_error(result)
        return result

    def _poll_and_store_check(self, token: RunToken) -> Succeeded:
        """The result of a CHECK within an operation: stored, as the call may be repeated."""
        text = self.data().get(_SEEN)
        kept = json.loads(text) if text else {}
        if kept.get("key") == token["key"]:
            result = Succeeded(kept["output"])
        else:
            result = self._poll_check(token)
            kept = {"key": token["key"], "output": result.output or {}}
            self.data_set(_SEEN, json.dumps(kept), redact=True)
        self._open_run(token).forget()
        return result

    def _begin(self, action: str, props: properties.Properties) -> RunToken | None:
        self.data_delete(_SEEN)
        return super()._begin(action, props)

    def _interpret_check(self, result: Succeeded) -> Mapping[str, Any]:
        output = result.output or {}
        if read_flag(output, "exists") is False:
            raise NotFound("physical resource", str(self.resource_id or self.name))
        return self._build_live_state(output)

    # -- stack check ------------------------------------------------------------------------

    def _handle_check(self) -> RunToken | None:
        return self._begin("CHECK", self.properties)

    def _check_check_complete(self, token: RunToken | None) -> bool:
        """Whether the resource is as it should be; raises ResourceFailure where it is not."""
        if token is None:
            return True
        result = self._poll_and_store_check(token)
        try:
            live = self._interpret_check(result)
        except NotFound as gone:
            self.data_set(_GONE, "1")
            raise ResourceFailure(f"It is gone: {gone.message}") from gone
        if not self._read_record():
            self._take_over(result)  # it has an external_id
        self._clear_differences()
        different = self._list_differences(live)
        if different:
            self.data_set(_DIFFERS, "1")
            raise ResourceFailure(f"It is not as the template says: {', '.join(different)}")
        return True

    def _list_differences(self, live: Mapping[str, Any]) -> list[str]:
        if isinstance(live, OpaqueState):
            return [] if live.in_sync else [live.reason]
        schemas = self.properties_schema
        own = {name for name in live if name in schemas and schemas[name].hidden}
        hidden = own | self.context.hidden_properties()
        found = compare_live_state(self.properties, live)
        if live and found.is_blind:
            raise ResourceFailure("CHECK told nothing of what was sent.")
        return _describe_differences(found.differing, found.sent, found.live, hidden)

    def _has_difference(self) -> bool:
        """Whether a check has found a difference that was not repaired."""
        return _DIFFERS in self.data()

    def _clear_differences(self) -> None:
        for name in (_GONE, _DIFFERS):
            self.data_delete(name)

    def _merge_output(self, token: RunToken, output: Mapping[str, Any]) -> None:
        super()._merge_output(token, output)
        if token["action"] == "UPDATE":
            self._clear_differences()

    def needs_replace_failed(self) -> bool:
        """Whether a failed resource is replaced: one that differs is repaired by UPDATE."""
        if self.action != "CHECK":
            return super().needs_replace_failed()
        if self.drift:
            return self.drift == "MISSING"
        cannot = self._has_difference() and self._build_call("UPDATE", self.properties) is None
        return cannot or _GONE in self.data()

    # -- imports ----------------------------------------------------------------------------

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> RunToken | None:
        """Bind what exists, and have CHECK look at it."""
        super().handle_adopt(resource_data)
        return self._begin("CHECK", self.properties)

    handle_adopt_cancel = WorkflowResource.handle_create_cancel

    def check_adopt_complete(self, token: RunToken | None) -> bool:
        """Whether CHECK has ended; its output is stored then."""
        if token is None:
            return True
        result = self._poll_and_store_check(token)
        self._adopted = self._interpret_check(result)
        self._take_over(result)
        return True

    def _take_over(self, result: Succeeded) -> None:
        """Store the outputs of CHECK for a resource that was made elsewhere."""
        record = self._read_record()
        known = {**(record.get("outputs") or {}), **self._select_known_output(result.output or {})}
        self._store_record({**record, "outputs": known, "input": self._build_create_input()})

    def _select_known_output(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        """The outputs of CHECK that an import stores."""
        return {key: value for key, value in output.items() if key not in ("exists", "in_sync")}

    def _build_create_input(self) -> Any:
        """The input that CREATE would have been sent."""
        run = self._build_call("CREATE", self.properties)
        return {} if run is None else to_json(run.inputs)


def read_flag(output: Mapping[str, Any], name: str) -> bool | None:
    """A boolean of CHECK, None where there is none. Raises ResourceFailure for all else."""
    value = output.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise ResourceFailure(
        f"CHECK told nothing: {name} is {json.dumps(value)}, neither true nor false."
    )


def _describe_differences(
    names: Collection[str],
    sent: Mapping[str, Any],
    live: Mapping[str, Any],
    hidden: Collection[str],
) -> list[str]:
    """One text for each of the properties ``names``, which differ, to be stored and shown.

    Of hidden ones only the name is told; what was seen in them is masked wherever else it stands.
    """
    texts = secret_texts(value[name] for name in hidden for value in (sent, live) if name in value)

    def show(value: Any) -> str:
        return truncate_middle(redact(json.dumps(value), texts))

    return [
        f"{name} (hidden)"
        if name in hidden
        else f"{name} (template {show(sent[name])}, there {show(live[name])})"
        for name in names
    ]
