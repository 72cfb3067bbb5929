"""The properties and attributes of ``OS::Mistral::ExternalResource``, as data."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import attributes, properties

ACTIONS = "actions"
INPUT = "input"
DESCRIPTION = "description"
REPLACE_INPUTS = "replace_on_change_inputs"
ALWAYS_UPDATE = "always_update"
WORKFLOW = "workflow"
PARAMS = "params"
OUTPUT = "output"

ACTION_NAMES = ("CREATE", "UPDATE", "SUSPEND", "RESUME", "DELETE")

_ACTION_SCHEMA: Mapping[str, properties.Schema] = {
    WORKFLOW: properties.Schema(
        properties.Schema.STRING, "Name or id of the workflow.", required=True
    ),
    PARAMS: properties.Schema(
        properties.Schema.MAP,
        "Parameters for the execution of the workflow. They depend on the kind of workflow.",
        default={},
    ),
}

#: Every property may be updated in place; a listed input is what replaces the resource.
PROPERTIES_SCHEMA: Mapping[str, properties.Schema] = {
    ACTIONS: properties.Schema(
        properties.Schema.MAP,
        "The workflow that carries out each action of the resource.",
        required=True,
        update_allowed=True,
        schema={
            name: properties.Schema(
                properties.Schema.MAP, f"The workflow that runs on {name}.", schema=_ACTION_SCHEMA
            )
            for name in ACTION_NAMES
        },
    ),
    INPUT: properties.Schema(
        properties.Schema.MAP, "The input of the workflows.", update_allowed=True
    ),
    DESCRIPTION: properties.Schema(
        properties.Schema.STRING,
        "The description of the executions.",
        default="Heat managed",
        update_allowed=True,
    ),
    REPLACE_INPUTS: properties.Schema(
        properties.Schema.LIST,
        "Names of inputs whose change replaces the resource instead of updating it.",
        default=[],
        update_allowed=True,
    ),
    ALWAYS_UPDATE: properties.Schema(
        properties.Schema.BOOLEAN,
        "Whether UPDATE runs on every update of the stack, changes or not.",
        default=False,
        update_allowed=True,
    ),
}

ATTRIBUTES_SCHEMA: Mapping[str, attributes.Schema] = {
    OUTPUT: attributes.Schema(
        "The outputs of the executions so far, merged.",
        cache_mode=attributes.Schema.CACHE_NONE,
        type=attributes.Schema.MAP,
    )
}
