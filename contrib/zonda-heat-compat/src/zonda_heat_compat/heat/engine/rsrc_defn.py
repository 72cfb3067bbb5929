"""The definition of a resource, as Heat's plug-ins read it.

A method for each part, as since 2014, and a map with CloudFormation's keys, as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from heat.engine.properties import Properties

_FIELDS = {
    "Type": "resource_type",
    "Properties": "_properties",
    "Metadata": "_metadata",
    "DependsOn": "_depends",
    "DeletionPolicy": "_deletion_policy",
    "UpdatePolicy": "_update_policy",
    "Description": "description",
}
_HOT = {
    "type": "Type",
    "properties": "Properties",
    "metadata": "Metadata",
    "depends_on": "DependsOn",
    "deletion_policy": "DeletionPolicy",
    "update_policy": "UpdatePolicy",
    "description": "Description",
}


class ResourceDefinition(Mapping[str, Any]):
    """One resource of a template, functions resolved."""

    DELETION_POLICIES: ClassVar[tuple[str, ...]] = (
        DELETE := "Delete",
        RETAIN := "Retain",
        SNAPSHOT := "Snapshot",
    )

    def __init__(
        self,
        name: str,
        resource_type: str,
        properties: Any = None,
        metadata: Any = None,
        depends: Any = None,
        deletion_policy: Any = None,
        update_policy: Any = None,
        description: str | None = None,
        external_id: Any = None,
        condition: Any = None,
        *,
        raw: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.resource_type = resource_type
        self.description = description or ""
        self._properties = properties
        self._metadata = metadata
        self._depends = depends
        self._deletion_policy = deletion_policy
        self._update_policy = update_policy
        self._external_id = external_id
        self._condition = condition
        self._raw = raw

    def properties(self, schema: Mapping[str, Any], context: Any = None) -> Properties:
        """The values by ``schema``."""
        return Properties(
            schema,
            self._properties or {},
            parent_name=self.name,
            context=context,
            section="Properties",
            raw=self._raw,
        )

    def metadata(self) -> dict[str, Any]:
        """The metadata of the template."""
        return dict(self._metadata or {})

    def update_policy(self, schema: Mapping[str, Any], context: Any = None) -> Properties:
        """The update policy by ``schema``."""
        return Properties(
            schema,
            self._update_policy or {},
            parent_name=self.name,
            context=context,
            section="UpdatePolicy",
        )

    def deletion_policy(self) -> str:
        """``Delete``, ``Retain`` or ``Snapshot``."""
        return self._deletion_policy or self.DELETE

    def external_id(self) -> Any:
        """The id of the thing that is not made here, or None."""
        return self._external_id

    def condition(self) -> Any:
        """The name of the condition, or None."""
        return self._condition

    def dependencies(self, stack: Any) -> list[Any]:
        """The engine knows them; a plug-in adds others in ``add_dependencies``."""
        return []

    def required_resource_names(self) -> set[str]:
        """The names in ``depends_on``."""
        depends = self._depends or ()
        return {depends} if isinstance(depends, str) else set(depends)

    def dep_attrs(self, resource_name: str, load_all: bool = False) -> set[Any]:
        return set()

    def reparse(self, stack: Any, template: Any) -> ResourceDefinition:
        """This definition: there is nothing left to parse."""
        return self

    def freeze(self, **overrides: Any) -> ResourceDefinition:
        """A copy, with other parts where they are given."""
        given = {
            "properties": self._properties,
            "metadata": self._metadata,
            "deletion_policy": self._deletion_policy,
            "update_policy": self._update_policy,
            "external_id": self._external_id,
            **overrides,
        }
        properties = given["properties"]
        if isinstance(properties, Properties):
            given["properties"] = properties.data
        return ResourceDefinition(
            self.name,
            self.resource_type,
            depends=self._depends,
            description=self.description,
            condition=self._condition,
            raw=None if "properties" in overrides else self._raw,
            **given,
        )

    def render_hot(self) -> dict[str, Any]:
        """The definition as a template writes it."""
        return {hot: self[cfn] for hot, cfn in _HOT.items() if self.get(cfn)}

    def __getitem__(self, key: str) -> Any:
        name = _FIELDS[_HOT.get(key, key)]
        value = getattr(self, name)
        if value is None and name not in ("_properties", "_metadata", "_update_policy"):
            raise KeyError(key)
        return {} if value is None else value

    def __iter__(self) -> Iterator[str]:
        return (key for key, name in _FIELDS.items() if getattr(self, name))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __sub__(self, previous: Any) -> ResourceDefinitionDiff:
        return ResourceDefinitionDiff(previous, self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ResourceDefinition):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        # Names only: values may be secrets.
        return f"ResourceDefinition({self.name!r}, {self.resource_type!r})"


_COMPARED = (
    "name",
    "resource_type",
    "_properties",
    "_metadata",
    "_deletion_policy",
    "_update_policy",
    "_external_id",
)


class ResourceDefinitionDiff(dict[str, Any]):
    """What changed: asked by method since 2014, by key before."""

    def __init__(self, old_defn: Any, new_defn: Any) -> None:
        self.old_defn = old_defn
        self.new_defn = new_defn
        changed = {
            key: new_defn.get(key)
            for key in ("Properties", "Metadata", "UpdatePolicy", "DeletionPolicy")
            if (old_defn.get(key) or {}) != (new_defn.get(key) or {})
        }
        super().__init__(changed)

    def properties_changed(self) -> bool:
        """Whether the properties did."""
        return "Properties" in self

    def metadata_changed(self) -> bool:
        """Whether the metadata did."""
        return "Metadata" in self

    def update_policy_changed(self) -> bool:
        """Whether the update policy did."""
        return "UpdatePolicy" in self


# Nested, as Heat has it.
ResourceDefinition.Diff = ResourceDefinitionDiff  # type: ignore[attr-defined]
