"""``OS::Heat::SoftwareComponent``: a configuration for each action of a life."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from zonda.hooks import SupportStatus, TemplateError, constraints, properties

from ..schema import make_text_schema
from .config import Configuration
from .schema import (
    COMPONENT,
    CONFIG,
    DEFAULT_ACTIONS,
    GROUP,
    INPUTS,
    INPUTS_SCHEMA,
    OPTIONS,
    OPTIONS_SCHEMA,
    OUTPUTS,
    OUTPUTS_SCHEMA,
)

CONFIGS, ACTIONS, TOOL = "configs", "actions", "tool"

_Schema = properties.Schema


class SoftwareComponent(Configuration):
    """Configurations for the actions of a component's life, in one place.

    A deployment of it acts on just those actions, whatever its own property says. Heat gives no
    value for the attribute, so neither does zonda: the configurations stand in the template.
    """

    support_status = SupportStatus(version="2014.2")
    exposes_properties: ClassVar[Mapping[str | None, Sequence[str]]] = {CONFIG: (CONFIGS,)}
    properties_schema: ClassVar[Mapping[str, properties.Schema]] = {
        CONFIGS: _Schema(
            _Schema.LIST,
            "A configuration for each action; none of them may be named twice.",
            required=True,
            constraints=[constraints.Length(min=1)],
            schema=_Schema(
                _Schema.MAP,
                schema={
                    ACTIONS: _Schema(
                        _Schema.LIST,
                        "The actions that it is for; others than zonda's own never come.",
                        default=DEFAULT_ACTIONS,
                        schema=_Schema(_Schema.STRING),
                        constraints=[constraints.Length(min=1)],
                    ),
                    CONFIG: make_text_schema("The script, or whatever the tool takes."),
                    TOOL: make_text_schema("The tool that applies it, e.g. script.", required=True),
                },
            ),
        ),
        INPUTS: INPUTS_SCHEMA,
        OUTPUTS: OUTPUTS_SCHEMA,
        OPTIONS: OPTIONS_SCHEMA,
    }

    def validate(self) -> None:
        """Check that an action has one configuration at most."""
        seen: set[str] = set()
        for entry in self.properties[CONFIGS] or ():
            actions = entry[ACTIONS]
            if seen.intersection(actions):
                raise TemplateError(
                    "Defining more than one configuration for the same action in "
                    f'SoftwareComponent "{self.name}" is not allowed.',
                    path=("resources", self.name, "properties", CONFIGS),
                )
            seen.update(actions)

    def configuration(self) -> dict[str, Any]:
        """The list, as a deployment takes it."""
        return {CONFIGS: self.properties.convert(CONFIGS)}

    def software_config(self) -> dict[str, Any]:
        """The configuration for a deployment; its group says that it is a component."""
        return {**super().software_config(), GROUP: COMPONENT}

    def _resolve_attribute(self, name: str) -> Any:
        return None
