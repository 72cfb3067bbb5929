"""The resource definition: what a template says about one resource, without functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ResourceDefinition(Mapping[str, Any]):
    """One entry of ``resources``: frozen, functions resolved in ``properties`` and ``metadata``.

    ``raw`` is the entry as the template has it, functions unresolved. As a mapping it offers the
    keys of the template (``type``, ``properties``, ...), since plug-ins of the guide read
    ``json_snippet["Properties"]`` or ``json_snippet.properties(...)``.
    """

    name: str
    type: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    deletion_policy: str = "Delete"
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    external_id: str | None = None
    description: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict)

    _KEYS = {
        "type": "type",
        "properties": "properties",
        "metadata": "metadata",
        "deletion_policy": "deletion_policy",
        "update_policy": "update_policy",
        "depends_on": "depends_on",
        "description": "description",
        "Type": "type",
        "Properties": "properties",
        "Metadata": "metadata",
        "DeletionPolicy": "deletion_policy",
        "UpdatePolicy": "update_policy",
        "DependsOn": "depends_on",
        "Description": "description",
    }

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._KEYS[key])

    def __iter__(self) -> Iterator[str]:
        return iter(("type", "properties", "metadata", "deletion_policy", "update_policy"))

    def __len__(self) -> int:
        return 5

    @property
    def resource_type(self) -> str:
        """The type's name (Heat's word for it)."""
        return self.type
