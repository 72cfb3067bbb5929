"""``OS::Mistral::CronTrigger``: a schedule at Mistral that runs a workflow.

No property may be updated, as in Heat: whatever changes makes a new trigger.
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
    constraints,
    properties,
)

from ..resources import payload
from .resource_base import MistralResource, RequestDeferred, Unanswered
from .workflow_schema import WORKFLOW_CONSTRAINT

NAME = "name"
PATTERN = "pattern"
WORKFLOW = "workflow"
INPUT = "input"
FIRST_TIME = "first_time"
COUNT = "count"
NEXT_TIME = "next_execution_time"
REMAINING = "remaining_executions"

_Schema = properties.Schema

_PROPERTIES: Mapping[str, _Schema] = {
    NAME: _Schema(_Schema.STRING, "The name of the trigger; one is made up where it is absent."),
    PATTERN: _Schema(
        _Schema.STRING,
        "When the workflow runs, as a cron expression; this or first_time is given.",
        constraints=[constraints.CustomConstraint("cron_expression")],
    ),
    WORKFLOW: _Schema(
        _Schema.MAP,
        "The workflow to run.",
        required=True,
        schema={
            NAME: _Schema(
                _Schema.STRING,
                "Name or id of the workflow.",
                required=True,
                constraints=[constraints.CustomConstraint(WORKFLOW_CONSTRAINT)],
            ),
            INPUT: _Schema(_Schema.MAP, "The input of the workflow."),
        },
    ),
    FIRST_TIME: _Schema(
        _Schema.STRING, 'When it runs for the first time (UTC), as "YYYY-MM-DD HH:MM".'
    ),
    COUNT: _Schema(_Schema.INTEGER, "How often it runs; then Mistral removes the trigger."),
}


class CronTrigger(MistralResource):
    """A schedule at Mistral that runs a workflow."""

    support_status = SupportStatus(version="5.0.0")
    properties_schema: ClassVar[Mapping[str, _Schema]] = _PROPERTIES
    attributes_schema: ClassVar[Mapping[str, attributes.Schema]] = {
        NEXT_TIME: attributes.Schema(
            'When it runs next (UTC), as "YYYY-MM-DD HH:MM:SS".', type=attributes.Schema.STRING
        ),
        REMAINING: attributes.Schema("How often it will run.", type=attributes.Schema.NUMBER),
    }
    example: ClassVar[Mapping[str, Any]] = {
        "pattern": "0 3 * * *",
        "workflow": {"name": "tidy", "input": {"days": 30}},
    }

    def validate(self) -> None:
        """Check that pattern or first_time is given."""
        if not self.properties[PATTERN] and not self.properties[FIRST_TIME]:
            both = f"{PATTERN}, {FIRST_TIME}"
            raise TemplateError(
                f"At least one of the following properties must be specified: {both}.",
                path=("resources", self.name, "properties"),
                label="Property error",
            )
        self.check_mistral_settings()

    def handle_create(self) -> None:
        """Make the trigger; one of the same name that was there before is an error."""
        repeated = self.mark_as_sent()
        if repeated and self._is_used_up_once():
            self._check_made()
            self.resource_id_set(self.physical_name())
            return
        try:
            self.ask("POST", "cron_triggers", content=self._build_content())
        except Conflict as error:
            if not (repeated and self.is_ours()):
                raise ResourceFailure(error.message) from error
        except (Unanswered, RequestDeferred) as error:
            if not repeated and not error.may_have_arrived:
                self.data_delete("name")
            raise
        except NotFound as error:
            workflow = self.properties[WORKFLOW][NAME]
            raise ResourceFailure(f"Mistral has no workflow {workflow}.") from error
        self.resource_id_set(self.physical_name())

    def handle_delete(self) -> None:
        """Remove the trigger; one that is used up is gone already."""
        name = self.resource_id or self.find_orphan()
        if name:
            self.remove("cron_triggers", name)

    def get_live_state(self) -> Mapping[str, Any] | None:
        """The trigger at Mistral. Raises ResourceFailure for one that may be used up."""
        if self.resource_id is None:
            raise NotFound("cron trigger", self.name)
        try:
            found = self._fetch_trigger(self.resource_id)
        except Unanswered as error:
            raise ResourceFailure(error.message) from error
        except NotFound:
            if self._is_used_up_once():
                raise ResourceFailure(
                    "The trigger is gone: used up, as its count says it once is, or removed."
                ) from None
            raise
        return {
            NAME: found.get("name"),
            PATTERN: found.get("pattern"),
            WORKFLOW: self._describe_workflow(found),
        }

    def _describe_workflow(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The workflow that it runs, named as the properties name it where it is that one."""
        wanted = self.properties.get_stored_values().get(WORKFLOW) or {}
        names = (found.get("workflow_name"), found.get("workflow_id"))
        given = payload.unpack_json(found.get("workflow_input"))
        same = given == (wanted.get(INPUT) or {})
        return {
            NAME: wanted.get(NAME) if wanted.get(NAME) in names else names[0],
            INPUT: wanted.get(INPUT) if same else given,
        }

    def _build_content(self) -> dict[str, Any]:
        workflow = self.properties[WORKFLOW]
        content = {
            "name": self.physical_name(),
            _choose_workflow_field(workflow[NAME]): workflow[NAME],
            "pattern": self.properties[PATTERN],
            "workflow_input": payload.to_json_text(workflow[INPUT] or {}),
            "first_execution_time": self.properties[FIRST_TIME],
            "remaining_executions": self.properties[COUNT],
        }
        return {key: value for key, value in content.items() if value}

    def _fetch_trigger(self, name: str, *, question: bool = False) -> Mapping[str, Any]:
        found = self.api().ask("GET", "cron_triggers", name, question=question)
        return found if isinstance(found, Mapping) else {}

    def _is_used_up_once(self) -> bool:
        """Whether Mistral removes it some day by itself."""
        return bool(self.properties[COUNT]) or not self.properties[PATTERN]

    def _check_made(self) -> None:
        """Raise ResourceFailure unless Mistral has the trigger that it never acknowledged.

        To ask once more might run the workflow more often than it should.
        """
        try:
            is_ours = self.is_ours()
        except NotFound:
            raise ResourceFailure(
                "Nobody can tell whether the trigger was made: Mistral never said so, and has none "
                "now, as it has none that is used up."
            ) from None
        if not is_ours:
            raise ResourceFailure(f"Mistral has another trigger {self.physical_name()}.")

    def is_ours(self) -> bool:
        """Whether Mistral has this very trigger, as after a request whose answer was lost."""
        found = self._fetch_trigger(self.physical_name())
        wanted = self.properties.get_stored_values().get(WORKFLOW) or {}
        pattern = self.properties[PATTERN] or None
        same = not pattern or found.get("pattern") == pattern
        return same and self._describe_workflow(found) == {INPUT: None, **wanted}

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        try:
            return self._fetch_trigger(self.resource_id, question=True).get(name)
        except ZondaError:
            return None  # used up, or nobody can say


def _choose_workflow_field(workflow: str) -> str:
    """The field of a request that names the workflow: by id or by name."""
    try:
        uuid.UUID(workflow)
    except ValueError:
        return "workflow_name"
    return "workflow_id"
