"""``OS::Mistral::ExternalResource``: a resource whose actions are workflows that a template names.

Made by the engine for one operation. What it sends and keeps: ``workflow_resource``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import (
    ResourceFailure,
    RunToken,
    TemplateError,
    UpdateReplace,
    UsageError,
    attributes,
    properties,
    resource,
    to_json,
)

from . import payload
from .base import ResumePart, SuspendPart
from .external_resource_schema import (
    ACTIONS,
    ALWAYS_UPDATE,
    ATTRIBUTES_SCHEMA,
    DESCRIPTION,
    INPUT,
    OUTPUT,
    PARAMS,
    PROPERTIES_SCHEMA,
    REPLACE_INPUTS,
    WORKFLOW,
)
from .workflow_call import WorkflowCall


class ExternalResource(SuspendPart, ResumePart):
    """A resource that is made, changed and removed by workflows."""

    properties_schema: ClassVar[Mapping[str, properties.Schema]] = PROPERTIES_SCHEMA
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = ATTRIBUTES_SCHEMA
    longest_id: ClassVar[int | None] = 255

    # -- validation -------------------------------------------------------------------------

    def validate(self) -> None:
        """Ask the runners about workflows that are known already."""
        raw = self.t.raw.get("properties") or self.t.properties
        for name, action in (self.properties[ACTIONS] or {}).items():
            written = payload.get_at_path(raw, ACTIONS, name, WORKFLOW)
            workflow = (action or {}).get(WORKFLOW)
            if workflow and not payload.reads_others(written):
                call = self._build_call(name, self.properties)
                self._check_workflow(name, call.workflow if call else workflow)

    def _check_workflow(self, action: str, workflow: str) -> None:
        try:
            runner, known_as = self.context.runner(workflow)
            runner.check(known_as)
        except (UsageError, ResourceFailure) as error:
            path = ("resources", self.name, "properties", ACTIONS, action, WORKFLOW)
            raise TemplateError(
                error.message, path=path, label="Property error", hint=error.hint
            ) from error

    # -- life cycle -------------------------------------------------------------------------

    def handle_update(
        self,
        json_snippet: resource.ResourceDefinition,
        tmpl_diff: Mapping[str, Any],
        prop_diff: Mapping[str, Any],
    ) -> RunToken | None:
        """Start UPDATE if the input changed, UPDATE failed before or runs always."""
        after = self.make_properties(json_snippet)
        record = self._read_record()
        known = record.get("input")
        new = to_json(after[INPUT] or {})
        if known is not None and payload.has_changed_input(after[REPLACE_INPUTS], known, new):
            raise UpdateReplace(self.name)
        token = None
        if INPUT in prop_diff or after[ALWAYS_UPDATE] or self._update_is_open():
            token = self._begin("UPDATE", after)
        if token is None and new != known:
            self._store_record({**record, "input": new, "update": self.data().get("update_key")})
        return token

    def needs_replace_with_prop_diff(
        self, changed: Sequence[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        """Whether an input changed that the new definition lists."""
        old, new = to_json(before[INPUT] or {}), to_json(after[INPUT] or {})
        return payload.has_changed_input(after[REPLACE_INPUTS], old, new)

    def always_update(self) -> bool:
        """Whether UPDATE runs on the next update, changes or not: asked for, or owed."""
        return bool(self.properties[ALWAYS_UPDATE]) or self._update_is_open()

    def _resolve_attribute(self, name: str) -> Any:
        return self._read_record().get("outputs") if name == OUTPUT else None

    # -- executions -------------------------------------------------------------------------

    def _build_call(self, action: str, props: properties.Properties) -> WorkflowCall | None:
        entry = (props[ACTIONS] or {}).get(action)
        if not entry or not entry.get(WORKFLOW):
            return None
        return WorkflowCall(
            entry[WORKFLOW],
            props[INPUT] or {},
            entry.get(PARAMS) or {},
            props[DESCRIPTION] or "",
        )
