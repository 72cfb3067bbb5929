"""A template as data: its sections and the definitions of its resources.

Nothing is resolved here: functions belong to the engine, which plug-ins do not reach.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.engine import output, rsrc_defn

_HOT, _CFN = "heat_template_version", ("AWSTemplateFormatVersion", "HeatTemplateFormatVersion")
_PARTS = {
    "type": "resource_type",
    "properties": "properties",
    "metadata": "metadata",
    "depends_on": "depends",
    "deletion_policy": "deletion_policy",
    "update_policy": "update_policy",
    "description": "description",
    "external_id": "external_id",
    "condition": "condition",
}


class Template(Mapping[str, Any]):
    """One template. Reads as a map of its sections."""

    PARAMETERS, RESOURCES, OUTPUTS = "parameters", "resources", "outputs"
    VERSION: ClassVar[str] = _HOT

    def __init__(
        self,
        template: Mapping[str, Any],
        template_id: Any = None,
        files: Any = None,
        env: Any = None,
    ) -> None:
        self.id = template_id
        self.t = template
        self.files = files or {}
        self.env = env
        self.maps: dict[str, Any] = {}
        self.version = get_version(template)

    @classmethod
    def create_empty_template(
        cls, version: Any = (_HOT, "2015-04-30"), from_template: Any = None
    ) -> Template:
        """A template without resources."""
        if from_template is not None:
            kept = {key: value for key, value in from_template.t.items() if key in (_HOT, *_CFN)}
            return cls({**kept, "resources": {}}, env=from_template.env)
        return cls({version[0]: version[1], "resources": {}})

    def get_section_name(self, section: str) -> str:
        """``Properties`` as this template has it: ``properties``."""
        return _hot(section)

    def merge_snippets(self, other: Template) -> None:
        """Take over what ``other`` has and this has not."""
        merged: dict[str, Any] = dict(copy.deepcopy(self.t))
        for section, entries in other.t.items():
            if isinstance(entries, Mapping):
                merged[section] = {**entries, **(merged.get(section) or {})}
        self.t = merged

    def resource_definitions(self, stack: Any = None) -> dict[str, rsrc_defn.ResourceDefinition]:
        """The definitions by name."""
        entries = self.t.get("resources") or self.t.get("Resources") or {}
        return {name: _definition(name, entry) for name, entry in entries.items()}

    def outputs(self, stack: Any = None) -> dict[str, output.OutputDefinition]:
        """The outputs by name."""
        entries = self.t.get("outputs") or self.t.get("Outputs") or {}
        return {
            name: output.OutputDefinition(
                name,
                entry.get("value", entry.get("Value")),
                entry.get("description", entry.get("Description")),
            )
            for name, entry in entries.items()
        }

    def add_resource(self, definition: Any, name: str | None = None) -> None:
        """Put a resource in."""
        resources = dict(self.t.get("resources") or {})
        resources[name or definition.name] = definition.render_hot()
        self.t = {**self.t, "resources": resources}

    def add_output(self, definition: Any) -> None:
        """Put an output in."""
        outputs = dict(self.t.get("outputs") or {})
        outputs[definition.name] = definition.render_hot()
        self.t = {**self.t, "outputs": outputs}

    def remove_resource(self, name: str) -> None:
        """Take a resource out."""
        kept = {key: each for key, each in (self.t.get("resources") or {}).items() if key != name}
        self.t = {**self.t, "resources": kept}

    def parse(self, stack: Any, snippet: Any, path: str = "") -> Any:
        """``snippet`` as it is."""
        return snippet

    def validate(self) -> None:
        """The engine validates templates."""

    def __getitem__(self, section: str) -> Any:
        return self.t[section]

    def __iter__(self) -> Iterator[str]:
        return iter(self.t)

    def __len__(self) -> int:
        return len(self.t)


def get_version(template_data: Mapping[str, Any], available_versions: Any = None) -> Any:
    for key in (_HOT, *_CFN):
        if key in template_data:
            return key, template_data[key]
    raise exception.InvalidTemplateVersion(explanation="it is missing")


def get_template_class(template_data: Mapping[str, Any]) -> type[Template]:
    return Template


def _definition(name: str, entry: Mapping[str, Any]) -> rsrc_defn.ResourceDefinition:
    plain = {_hot(key): value for key, value in entry.items()}
    given: dict[str, Any] = {argument: plain.get(key) for key, argument in _PARTS.items()}
    return rsrc_defn.ResourceDefinition(name, **given)


def _hot(key: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key).lstrip("_")
