"""CHECK: a workflow tells how a resource really is, for drift checks, ``stack check`` and imports.

For the types of this room that have a CHECK. Within a drift check the run's token lives in
``context.observation`` and nothing is stored; a check that begins anew has another key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zonda.hooks import (
    NotFound,
    NotReady,
    OpaqueState,
    ResourceFailure,
    RunToken,
    compare_live_state,
    properties,
    to_error,
    to_json,
)
from zonda.hooks.runners import Failed, Lost, Succeeded

from . import differences
from .base import WorkflowResource

#: Between two looks at a CHECK that says nothing about it.
_POLL = 1.0
#: What the last ``stack check`` has found, as an entry of the resource's data.
_GONE, _DIFFERS = "gone", "differs"
#: What the run of this key gave, kept until the next run begins: the runner may have forgotten it.
_SEEN = "seen"


class DriftCheckMixin(WorkflowResource):
    """A resource that a workflow can look at. A subclass says what the output means."""

    _adopted: Mapping[str, Any] | None = None

    def _live_of(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        """The properties as CHECK tells them; raises ResourceFailure where it tells nothing."""
        raise NotImplementedError

    # -- drift checks -----------------------------------------------------------------------

    def get_live_state(self) -> Mapping[str, Any] | None:
        """What CHECK tells; None without one. Raises NotFound where the thing is gone."""
        operation = self.context.operation
        if operation is None or operation.action == "ADOPT":
            return self._adopted
        run = self._run_of("CHECK", self.properties)
        if run is None:
            return None
        kept = self.context.observation
        token = kept.get("token")
        if token is None:
            # kept once it was sent: a runner may have no room for it just now
            token = self._execution(self._token("CHECK", run)).start()
        try:
            result = self._awaited(token)
        finally:
            kept["token"] = token
        self._execution(token).forget()
        return self._told(result)

    def cancel_observation(self) -> None:
        """Ask the runner to end a CHECK that is not awaited any more."""
        token = self.context.observation.get("token")
        if token:
            self._execution(token).cancel()

    def _awaited(self, token: RunToken) -> Succeeded:
        """The result of a CHECK; raises NotReady while it runs."""
        execution = self._execution(token)
        result = self._result(token, execution)
        if result is None:
            raise NotReady(_POLL)
        if isinstance(result, Lost):
            raise to_error(result)
        if isinstance(result, Failed):
            if token.get("retries"):
                self._failed(token, result)
            raise to_error(result)
        return result

    def _seen(self, token: RunToken) -> Succeeded:
        """The same for an operation, which may be taken up again: stored, and then forgotten."""
        text = self.data().get(_SEEN)
        kept = json.loads(text) if text else {}
        if kept.get("key") == token["key"]:
            result = Succeeded(kept["output"])
        else:
            result = self._awaited(token)
            kept = {"key": token["key"], "output": result.output or {}}
            self.data_set(_SEEN, json.dumps(kept), redact=True)
        self._execution(token).forget()
        return result

    def _begin(self, action: str, props: properties.Properties) -> RunToken | None:
        self.data_delete(_SEEN)
        return super()._begin(action, props)

    def _told(self, result: Succeeded) -> Mapping[str, Any]:
        output = result.output or {}
        if flag(output, "exists") is False:
            raise NotFound("physical resource", str(self.resource_id or self.name))
        return self._live_of(output)

    # -- stack check ------------------------------------------------------------------------

    def _handle_check(self) -> RunToken | None:
        return self._begin("CHECK", self.properties)

    def _check_check_complete(self, token: RunToken | None) -> bool:
        """Whether it is there and as it should be; raises ResourceFailure where not."""
        if token is None:
            return True
        result = self._seen(token)
        try:
            live = self._told(result)
        except NotFound as gone:
            self.data_set(_GONE, "1")
            raise ResourceFailure(f"It is gone: {gone.message}") from gone
        if not self._record():
            self._take_over(result)  # it has an external_id
        self._is_well()
        different = self._different(live)
        if different:
            self.data_set(_DIFFERS, "1")
            raise ResourceFailure(f"It is not as the template says: {', '.join(different)}")
        return True

    def _different(self, live: Mapping[str, Any]) -> list[str]:
        if isinstance(live, OpaqueState):
            return [] if live.in_sync else [live.reason]
        schemas = self.properties_schema
        own = {name for name in live if name in schemas and schemas[name].hidden}
        hidden = own | self.context.hidden_properties()
        found = compare_live_state(self.properties, live)
        if live and found.is_blind:
            raise ResourceFailure("CHECK told nothing of what was sent.")
        return differences.in_words(found.differing, found.sent, found.live, hidden)

    def _is_unwell(self) -> bool:
        """Whether a check has found a difference that was not put right."""
        return _DIFFERS in self.data()

    def _is_well(self) -> None:
        for name in (_GONE, _DIFFERS):
            self.data_delete(name)

    def _merge(self, token: RunToken, output: Mapping[str, Any]) -> None:
        super()._merge(token, output)
        if token["action"] == "UPDATE":
            self._is_well()

    def needs_replace_failed(self) -> bool:
        """What CHECK found to be different is put right by UPDATE, what is gone is made again."""
        if self.action != "CHECK":
            return super().needs_replace_failed()
        if self.drift:
            return self.drift == "MISSING"
        cannot = self._is_unwell() and self._run_of("UPDATE", self.properties) is None
        return cannot or _GONE in self.data()

    # -- imports ----------------------------------------------------------------------------

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> RunToken | None:
        """Bind what exists, and have CHECK look at it."""
        super().handle_adopt(resource_data)
        return self._begin("CHECK", self.properties)

    handle_adopt_cancel = WorkflowResource.handle_create_cancel

    def check_adopt_complete(self, token: RunToken | None) -> bool:
        """Whether it was looked at; what CHECK gave is known from then on."""
        if token is None:
            return True
        result = self._seen(token)
        self._adopted = self._told(result)
        self._take_over(result)
        return True

    def _take_over(self, result: Succeeded) -> None:
        """What was made elsewhere has the outputs that CHECK gave."""
        record = self._record()
        known = {**(record.get("outputs") or {}), **self._known_of(result.output or {})}
        self._store({**record, "outputs": known, "input": self._sent()})

    def _known_of(self, output: Mapping[str, Any]) -> Mapping[str, Any]:
        """What an import takes over of the output of CHECK."""
        return {key: value for key, value in output.items() if key not in ("exists", "in_sync")}

    def _sent(self) -> Any:
        """The input with which it would have been made."""
        run = self._run_of("CREATE", self.properties)
        return {} if run is None else to_json(run.inputs)


def flag(output: Mapping[str, Any], name: str) -> bool | None:
    """A yes or no of CHECK, None where it says neither. Raises ResourceFailure for all else."""
    value = output.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise ResourceFailure(
        f"CHECK told nothing: {name} is {json.dumps(value)}, neither true nor false."
    )
