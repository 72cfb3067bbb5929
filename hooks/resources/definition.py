"""The resource definition: what a template says about one resource, without functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..records import dataclass, field, replace

_KEYS: Final = ("type", "properties", "metadata", "deletion_policy", "update_policy")

#: Every key that reads a field: the template's own, and CloudFormation's for it.
_FIELDS: Final = {
    **{name: name for name in (*_KEYS, "depends_on", "description")},
    "Type": "type",
    "Properties": "properties",
    "Metadata": "metadata",
    "DeletionPolicy": "deletion_policy",
    "UpdatePolicy": "update_policy",
    "DependsOn": "depends_on",
    "Description": "description",
}


@dataclass(frozen=True)
class ResourceDefinition(Mapping[str, Any]):
    """One entry of ``resources``: frozen, functions resolved in ``properties`` and ``metadata``.

    ``raw`` is the entry as the template has it, functions unresolved. As a mapping it offers the
    keys of the template (``type``, ``properties``, ...) and, for reading only, CloudFormation's
    (``Properties``), since plug-ins written for Heat read ``json_snippet["Properties"]``.
    """

    name: str
    type: str
    properties: Mapping[str, Any] = field(default_factory=dict, repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)
    deletion_policy: str = "Delete"
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    external_id: str | None = None
    description: str = ""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _FIELDS[key])

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    def freeze(self, **changes: Any) -> ResourceDefinition:
        """A copy with other fields, e.g. ``properties``: what ``handle_restore`` gives."""
        return replace(self, **changes)

    @property
    def resource_type(self) -> str:
        """The type's name (Heat's word for it)."""
        return self.type
