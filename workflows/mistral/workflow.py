"""``OS::Mistral::Workflow``: a workflow at Mistral, written as properties.

It is its own name at Mistral, so that other resources run it by ``get_resource``. A signal starts
an execution. What its runs do is theirs; deleting it removes the executions that signals made.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from zonda.hooks import (
    Conflict,
    NotFound,
    ResourceFailure,
    SupportStatus,
    TemplateError,
    ZondaError,
    attributes,
    properties,
    resource,
)

from ..resources import payload
from . import definition_errors, workflow_definition
from .resource_base import AtMistral, Unanswered
from .workflow_schema import (
    ALARM_URL,
    ATTRIBUTES_SCHEMA,
    BODY_AS_INPUT,
    DATA,
    EXECUTIONS,
    INPUT,
    NAME,
    PARAMS,
    PROPERTIES_SCHEMA,
    TASKS,
)

_SHOWN = ("id", "workflow_name", "created_at", "updated_at", "state")


class Workflow(AtMistral):
    """A workflow at Mistral; a signal runs it."""

    support_status = SupportStatus(version="2015.1")
    repairs_in_place: ClassVar[bool] = True
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = PROPERTIES_SCHEMA
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = ATTRIBUTES_SCHEMA
    example: ClassVar[Mapping[str, Any]] = {
        "type": "direct",
        "input": {"size": 1},
        "output": {"resource_id": "<% $.id %>"},
        "tasks": [
            {
                "name": "make",
                "action": "std.echo",
                "input": {"output": "disk-<% $.size %>"},
                "publish": {"id": "<% task(make).result %>"},
            }
        ],
    }

    # -- validation -------------------------------------------------------------------------

    def validate(self) -> None:
        """Check what the schema cannot say, and ask Mistral where it can be reached."""
        definition_errors.check(self.name, self.properties.stored())
        self.no_fault_of_settings()
        raw = self.t.raw.get("properties") or self.t.properties
        if not payload.reads_others(raw):
            self._ask_about(self._written(self.properties))

    def _ask_about(self, text: str) -> None:
        """Raise TemplateError if Mistral says that it would not take the text."""
        try:
            said = self.api().ask("POST", "workflows", "validate", content=text, question=True)
        except (ZondaError, Unanswered):
            return  # who cannot be asked has not refused
        if isinstance(said, Mapping) and said.get("valid") is False:
            path = ("resources", self.name, "properties", TASKS)
            raise TemplateError(
                f"Mistral does not accept the workflow: {said.get('error')}",
                path=path,
                label="Property error",
            )

    # -- life cycle -------------------------------------------------------------------------

    def handle_create(self) -> None:
        """Make the workflow; one of the same name that was there before is an error."""
        name, text = self.physical_name(), self._written(self.properties)
        repeated = self.may_be_sent_already()
        try:
            self.ask("POST", "workflows", query=self.in_namespace(), content=text)
        except Conflict as error:
            if not (repeated and self._is_there(name, text)):
                raise ResourceFailure(error.message) from error
        self.resource_id_set(name)

    def handle_update(
        self,
        json_snippet: resource.ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Write the workflow anew, also where somebody has removed it meanwhile."""
        text = self._written(self.make_properties(json_snippet))
        query = self.in_namespace()
        try:
            self.ask("PUT", "workflows", query=query, content=text)
        except NotFound:
            self.ask("POST", "workflows", query=query, content=text)

    def handle_delete(self) -> None:
        """Remove the workflow and the executions that signals made."""
        for execution in self._executions():
            self._remove("executions", execution, force="true")
        name = self.resource_id or self._orphan()
        if name:
            self._remove("workflows", name, **self.in_namespace())
        self.data_delete(EXECUTIONS)

    def needs_replace_failed(self) -> bool:
        """One with a name of its own is put right in place, as in Heat."""
        return self.resource_id is None or not self.properties[NAME]

    def get_reference_id(self) -> str:
        """The name at Mistral."""
        return self.physical_name()

    def get_live_state(self) -> Mapping[str, Any] | None:
        """The properties as the definition at Mistral shows them."""
        if self.resource_id is None:
            raise NotFound("workflow", self.name)
        try:
            text = self._definition(self.resource_id)
        except Unanswered as error:
            raise ResourceFailure(error.message) from error
        return workflow_definition.observed(self.resource_id, text, self.properties.stored())

    def _written(self, props: properties.Properties) -> str:
        return workflow_definition.written(self.physical_name(), props.stored())

    def _definition(self, name: str) -> str:
        found = self.api().ask("GET", "workflows", name, query=self.in_namespace())
        return str(found.get("definition") or "") if isinstance(found, Mapping) else ""

    def _is_there(self, name: str, text: str) -> bool:
        """Whether Mistral has exactly this workflow, as after a request whose answer was lost."""
        return workflow_definition.same(name, self._definition(name), text)

    def _orphan(self) -> str | None:
        """The name of a workflow whose creation was sent and never answered, if it is ours."""
        name = self.data().get("name")
        try:
            ours = name is not None and self._is_there(name, self._written(self.properties))
        except NotFound:
            ours = False
        return name if ours else None

    def _remove(self, *parts: str, **query: str) -> None:
        try:
            self.ask("DELETE", *parts, query=query)
        except NotFound:
            return

    # -- signals ----------------------------------------------------------------------------

    def handle_signal(self, details: Mapping[str, Any] | None = None) -> None:
        """Start an execution with what the signal gives, the properties behind it."""
        given, params = self._of_signal(details or {})
        execution = str(uuid.UUID(int=self.context.random.getrandbits(128), version=4))
        content = {
            "id": execution,
            "workflow_id": self.physical_name(),
            "workflow_namespace": self.api().namespace,
            "input": payload.json_text({**(self.properties[INPUT] or {}), **given}),
            "params": payload.json_text({**(self.properties[PARAMS] or {}), **params}),
        }
        self._run(execution, {key: value for key, value in content.items() if value})

    def _run(self, execution: str, content: Mapping[str, Any]) -> None:
        """Send it, noted before, so that what was made and never acknowledged is known, too."""
        known = self._executions()
        self.data_set(EXECUTIONS, ",".join([execution, *known]))
        try:
            self.api().ask("POST", "executions", content=content, urgent=True)
        except Unanswered as error:
            raise ResourceFailure(f"{error.message} (it may run nevertheless)") from error
        except ZondaError:
            self.data_set(EXECUTIONS, ",".join(known))
            raise

    def _of_signal(self, details: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        given: Any = details
        params: Any = None
        if not self.properties[BODY_AS_INPUT]:
            given, params = details.get("input"), details.get("params")
        definition_errors.check_signal(given, params, self.properties[INPUT] or {})
        return given or {}, params or {}

    def _executions(self) -> list[str]:
        return [one for one in self.data().get(EXECUTIONS, "").split(",") if one]

    # -- attributes -------------------------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        if name == DATA:
            return {"name": self.resource_id, "input": self.properties.stored().get(INPUT)}
        if name == EXECUTIONS:
            return [one for one in map(self._shown, self._executions()) if one]
        assert name == ALARM_URL
        return None

    def _shown(self, execution: str) -> dict[str, Any] | None:
        try:
            found = self.api().ask("GET", "executions", execution, question=True)
        except ZondaError:
            return None
        texts = {key: found.get(key) for key in _SHOWN}
        return {
            **texts,
            **{key: payload.unpacked(found.get(key)) for key in ("input", "output")},
        }
