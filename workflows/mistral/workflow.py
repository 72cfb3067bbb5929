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
from .resource_base import MistralResource, Unanswered
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


class Workflow(MistralResource):
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
        definition_errors.check_definition(self.name, self.properties.get_stored_values())
        self.check_mistral_settings()
        raw = self.t.raw.get("properties") or self.t.properties
        if not payload.reads_others(raw):
            self._validate_at_mistral(self._build_definition(self.properties))

    def _validate_at_mistral(self, text: str) -> None:
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
        name, text = self.physical_name(), self._build_definition(self.properties)
        repeated = self.mark_as_sent()
        try:
            self.ask("POST", "workflows", query=self.build_namespace_query(), content=text)
        except Conflict as error:
            if not (repeated and self.is_ours()):
                raise ResourceFailure(error.message) from error
        self.resource_id_set(name)

    def handle_update(
        self,
        json_snippet: resource.ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> None:
        """Write the workflow anew, also where somebody has removed it meanwhile."""
        text = self._build_definition(self.make_properties(json_snippet))
        query = self.build_namespace_query()
        try:
            self.ask("PUT", "workflows", query=query, content=text)
        except NotFound:
            self.ask("POST", "workflows", query=query, content=text)

    def handle_delete(self) -> None:
        """Remove the workflow and the executions that signals made."""
        for execution in self._list_executions():
            self.remove("executions", execution, force="true")
        name = self.resource_id or self.find_orphan()
        if name:
            self.remove("workflows", name, **self.build_namespace_query())
        self.data_delete(EXECUTIONS)

    def needs_replace_failed(self) -> bool:
        """Whether a failed one is replaced; one with the property name is repaired in place."""
        return self.resource_id is None or not self.properties[NAME]

    def get_reference_id(self) -> str:
        """The name at Mistral."""
        return self.physical_name()

    def get_live_state(self) -> Mapping[str, Any] | None:
        """The properties as the definition at Mistral shows them."""
        if self.resource_id is None:
            raise NotFound("workflow", self.name)
        try:
            text = self._load_definition(self.resource_id)
        except Unanswered as error:
            raise ResourceFailure(error.message) from error
        return workflow_definition.read_properties(
            self.resource_id, text, self.properties.get_stored_values()
        )

    def _build_definition(self, props: properties.Properties) -> str:
        return workflow_definition.format_definition(
            self.physical_name(), props.get_stored_values()
        )

    def _load_definition(self, name: str) -> str:
        found = self.api().ask("GET", "workflows", name, query=self.build_namespace_query())
        return str(found.get("definition") or "") if isinstance(found, Mapping) else ""

    def is_ours(self) -> bool:
        """Whether Mistral has exactly this workflow, as after a request whose answer was lost."""
        name = self.physical_name()
        text = self._build_definition(self.properties)
        return workflow_definition.is_same_workflow(name, self._load_definition(name), text)

    # -- signals ----------------------------------------------------------------------------

    def handle_signal(self, details: Mapping[str, Any] | None = None) -> None:
        """Start an execution with what the signal gives, the properties behind it."""
        given, params = self._read_signal(details or {})
        execution = str(uuid.UUID(int=self.context.random.getrandbits(128), version=4))
        content = {
            "id": execution,
            "workflow_id": self.physical_name(),
            "workflow_namespace": self.api().namespace,
            "input": payload.to_json_text({**(self.properties[INPUT] or {}), **given}),
            "params": payload.to_json_text({**(self.properties[PARAMS] or {}), **params}),
        }
        self._run(execution, {key: value for key, value in content.items() if value})

    def _run(self, execution: str, content: Mapping[str, Any]) -> None:
        """Start an execution; its id is stored before, as the answer may be lost."""
        known = self._list_executions()
        self.data_set(EXECUTIONS, ",".join([execution, *known]))
        try:
            self.api().ask("POST", "executions", content=content, urgent=True, fresh=True)
        except Unanswered as error:
            raise ResourceFailure(f"{error.message} (it may run nevertheless)") from error
        except ZondaError:
            self.data_set(EXECUTIONS, ",".join(known))
            raise

    def _read_signal(
        self, details: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        given: Any = details
        params: Any = None
        if not self.properties[BODY_AS_INPUT]:
            given, params = details.get("input"), details.get("params")
        definition_errors.check_signal(given, params, self.properties[INPUT] or {})
        return given or {}, params or {}

    def _list_executions(self) -> list[str]:
        return [one for one in self.data().get(EXECUTIONS, "").split(",") if one]

    # -- attributes -------------------------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        if name == DATA:
            return {
                "name": self.resource_id,
                "input": self.properties.get_stored_values().get(INPUT),
            }
        if name == EXECUTIONS:
            return [one for one in map(self._fetch_execution, self._list_executions()) if one]
        assert name == ALARM_URL
        return None if self.resource_id is None else self.context.signal_url()

    def _fetch_execution(self, execution: str) -> dict[str, Any] | None:
        try:
            found = self.api().ask("GET", "executions", execution, question=True)
        except ZondaError:
            return None
        texts = {key: found.get(key) for key in _SHOWN}
        return {
            **texts,
            **{key: payload.unpack_json(found.get(key)) for key in ("input", "output")},
        }
