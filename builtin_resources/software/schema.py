"""Schemas that the types of software configuration share: inputs, outputs, options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zonda.hooks import constraints, properties

from ..schema import make_text_schema

GROUP, CONFIG, OPTIONS, INPUTS, OUTPUTS = "group", "config", "options", "inputs", "outputs"
NAME, DESCRIPTION, TYPE, DEFAULT = "name", "description", "type", "default"
REPLACE, ERROR_OUTPUT, VALUE = "replace_on_change", "error_output", "value"
UNGROUPED, COMPONENT = "Heat::Ungrouped", "component"
ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME")
DEFAULT_ACTIONS = ["CREATE", "UPDATE"]

_Schema = properties.Schema


def _make_type_schema(what: str) -> properties.Schema:
    allowed = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"]
    return make_text_schema(
        f"The type of the {what}.",
        default="String",
        constraints=[constraints.AllowedValues(allowed)],
    )


def _make_declarations_schema(
    what: str, description: str, **more: properties.Schema
) -> properties.Schema:
    fields = {
        NAME: make_text_schema(f"The name of the {what}.", required=True),
        DESCRIPTION: make_text_schema(f"What the {what} is, for people."),
        TYPE: _make_type_schema(what),
        **more,
    }
    return _Schema(_Schema.LIST, description, schema=_Schema(_Schema.MAP, schema=fields))


INPUTS_SCHEMA = _make_declarations_schema(
    "input",
    "The inputs that the configuration expects.",
    default=_Schema(_Schema.ANY, "The value where a deployment gives none."),
    replace_on_change=_Schema(
        _Schema.BOOLEAN,
        "Whether another value replaces the deployment instead of updating it.",
        default=False,
    ),
)
OUTPUTS_SCHEMA = _make_declarations_schema(
    "output",
    "The outputs that the configuration gives.",
    error_output=_Schema(
        _Schema.BOOLEAN,
        "Whether the deployment has failed if this output is given.",
        default=False,
    ),
)
OPTIONS_SCHEMA = _Schema(_Schema.MAP, "Options of the tool that applies the configuration.")
GROUP_SCHEMA = make_text_schema(
    "The kind of configuration: which tool applies it, e.g. script.", default=UNGROUPED
)


def drop_unset(entries: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The declared inputs or outputs, without fields that have no value."""
    return [
        {key: value for key, value in entry.items() if value is not None} for entry in entries or ()
    ]
