"""What the types of software configuration have in common, as data: inputs, outputs, options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zonda.hooks import constraints, properties

from ..schema import text

GROUP, CONFIG, OPTIONS, INPUTS, OUTPUTS = "group", "config", "options", "inputs", "outputs"
NAME, DESCRIPTION, TYPE, DEFAULT = "name", "description", "type", "default"
REPLACE, ERROR_OUTPUT, VALUE = "replace_on_change", "error_output", "value"
UNGROUPED, COMPONENT = "Heat::Ungrouped", "component"
ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME")
DEFAULT_ACTIONS = ["CREATE", "UPDATE"]

_Schema = properties.Schema


def _typed(what: str) -> properties.Schema:
    allowed = ["String", "Number", "CommaDelimitedList", "Json", "Boolean"]
    return text(
        f"The type of the {what}.",
        default="String",
        constraints=[constraints.AllowedValues(allowed)],
    )


def _declared(what: str, description: str, **more: properties.Schema) -> properties.Schema:
    fields = {
        NAME: text(f"The name of the {what}.", required=True),
        DESCRIPTION: text(f"What the {what} is, for people."),
        TYPE: _typed(what),
        **more,
    }
    return _Schema(_Schema.LIST, description, schema=_Schema(_Schema.MAP, schema=fields))


INPUTS_SCHEMA = _declared(
    "input",
    "The inputs that the configuration expects.",
    default=_Schema(_Schema.ANY, "The value where a deployment gives none."),
    replace_on_change=_Schema(
        _Schema.BOOLEAN,
        "Whether another value replaces the deployment instead of updating it.",
        default=False,
    ),
)
OUTPUTS_SCHEMA = _declared(
    "output",
    "The outputs that the configuration gives.",
    error_output=_Schema(
        _Schema.BOOLEAN,
        "Whether the deployment has failed if this output is given.",
        default=False,
    ),
)
OPTIONS_SCHEMA = _Schema(_Schema.MAP, "Options of the tool that applies the configuration.")
GROUP_SCHEMA = text(
    "The kind of configuration: which tool applies it, e.g. script.", default=UNGROUPED
)


def said(entries: Iterable[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """Declared inputs or outputs, without what was not said."""
    return [
        {key: value for key, value in entry.items() if value is not None} for entry in entries or ()
    ]
