"""A resource of a template: its parsed trees, and how they become a definition.

``resource_parser`` makes nodes; the planner and every operation work with them. A node is bound to
no values: ``resolve`` takes the scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, cast

from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import ABSENT, Function, ResolveScope, resolve, validate
from zonda.hooks.records import dataclass, field
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource

from ..evaluation.scope import Broken, Scope
from ..evaluation.unknown_values import UNKNOWN
from ..source.bundle import Identity
from ..source.diagnostics import FAULTS, OF_ATTRIBUTES, RESOURCE_SHAPE, from_exception, wrap_error
from .redactor import Redactor
from .sections import RESOURCES

#: The sections that are resolved, with their names in Heat's messages about references.
SECTIONS = {"properties": "Properties", "metadata": "Metadata", "update_policy": "UpdatePolicy"}


class NoClass(Resource):
    """A placeholder for a type that could not be found, while further faults are collected."""

    any_attribute = True


ResourceClass = type[Resource]
#: Gives a tree its values: ``resolve``, or ``evaluate_partially``.
Resolving = Callable[[Any, ResolveScope], Any]
FULLY: Resolving = resolve


class Owner(Protocol):
    """The part of the stack definition that a node uses."""

    def fingerprint(self, name: str) -> str:
        """The fingerprint of a resource."""

    @property
    def masked(self) -> Redactor:
        """Takes hidden values out of a fault."""

    def classify_properties(self, name: str) -> Mapping[str, str]:
        """The marks of a resource's properties."""

    @property
    def identity(self) -> Identity:
        """The stack."""

    @property
    def root_stack(self) -> str:
        """The name of the stack at the top of the tree."""

    def referenced_attributes(self, name: str) -> frozenset[str | None]:
        """The attributes that the template reads of a resource; None: all of them."""

    def referenced_paths(self, name: str) -> frozenset[tuple[Any, ...]]:
        """The same with the keys and indices behind the attributes."""


@dataclass(eq=False, slots=True)
class ResourceNode:
    """One resource that is enabled. ``type`` is as written, ``cls`` what the registry says.

    ``properties``, ``metadata``, ``update_policy`` and ``external_id`` are parsed trees.
    ``requires``: the names of all that it depends on, explicitly or by what it reads.
    ``is_certain``: whether its condition is known; it counts as enabled where it is not.
    """

    name: str
    type: str
    raw: Mapping[str, Any]
    properties: Any
    metadata: Any
    update_policy: Any
    depends_on: tuple[str, ...]
    deletion_policy: str
    external_id: Any
    description: str
    cls: ResourceClass = NoClass
    requires: frozenset[str] = frozenset()
    trees: Mapping[str, Any] = field(default_factory=dict)
    owner: Owner | None = field(default=None, repr=False)
    is_certain: bool = True

    @property
    def fingerprint(self) -> str:
        """Changes when the definition does. Holds secrets: only a keyed hash of it is kept."""
        assert self.owner is not None
        return self.owner.fingerprint(self.name)

    @property
    def secrecy(self) -> Mapping[str, str]:
        """``open``, ``sealed`` or ``hidden`` for each property that is given."""
        assert self.owner is not None
        return self.owner.classify_properties(self.name)

    @property
    def path(self) -> Path:
        """The path of the entry in the document."""
        return (RESOURCES, self.name)

    def resolve(self, scope: Scope, resolving: Resolving = FULLY) -> ResourceDefinition:
        """Resolve the definition: every function is replaced by its value.

        ``resolving``: another way to give a tree its values. Raises TemplateError; a
        fault of a property is Heat's ``Property error`` at creation.
        """
        properties = self.resolve_properties(scope, resolving)
        return self.definition(scope, properties, resolving)

    def definition(
        self, scope: Scope, properties: Mapping[str, Any], resolving: Resolving = FULLY
    ) -> ResourceDefinition:
        """Build the definition around ``properties`` that are resolved already."""
        return ResourceDefinition(
            name=self.name,
            type=self.type,
            properties=properties,
            metadata=self._resolve_map("metadata", self.metadata, scope, resolving),
            deletion_policy=self.deletion_policy,
            update_policy=self._resolve_map("update_policy", self.update_policy, scope, resolving),
            depends_on=self.depends_on,
            external_id=self.resolve_external_id(scope, resolving),
            description=self.description,
            raw=self.trees,
        )

    def _resolve_map(
        self, key: str, tree: Any, scope: Scope, resolving: Resolving
    ) -> Mapping[str, Any]:
        """Resolve a section, which must be a map."""
        if not tree:
            return {}
        value = self._resolve_section(key, tree, scope, resolving)
        if value is None or value is ABSENT:
            return {}
        if value is not UNKNOWN and not isinstance(value, Mapping):
            raise _make_fault(f"Resource {self.name} {key} type must be object", (*self.path, key))
        return cast(Mapping[str, Any], value)

    def _resolve_section(self, key: str, tree: Any, scope: Scope, resolving: Resolving) -> Any:
        """Resolve a section; a fault of an update policy names the part of it."""
        if key != "update_policy" or not isinstance(tree, Mapping):
            return self._resolve_part(tree, (key,), "", scope, resolving)
        if self.cls.unchecked:
            return {}
        label = "Property error"
        parts = {
            part: self._resolve_part(tree[part], (key, part), label, scope, resolving)
            for part in tree
        }
        return {part: value for part, value in parts.items() if value is not ABSENT}

    def _resolve_part(
        self, tree: Any, path: Path, label: str, scope: Scope, resolving: Resolving
    ) -> Any:
        try:
            return resolving(tree, scope)
        except FAULTS as error:
            raise wrap_error(error, path=(*self.path, *path), label=label) from error

    def resolve_external_id(self, scope: Scope, resolving: Resolving = FULLY) -> str | None:
        """Resolve the physical id of a resource that is managed elsewhere, else None."""
        if self.external_id is None:
            return None
        try:
            value = resolving(self.external_id, scope)
        except FAULTS as error:
            raise wrap_error(error, path=(*self.path, "external_id")) from error
        return None if value is None or value is ABSENT else str(value)

    def resolve_properties(self, scope: Scope, resolving: Resolving = FULLY) -> dict[str, Any]:
        """Resolve the properties, as given; raises TemplateError for the first fault."""
        values, faults = self.try_properties(scope, (self.name, "Properties"), resolving)
        for fault in () if self.cls.unchecked else faults.values():
            raise (self.owner.masked(fault) if self.owner else fault)
        return values

    def try_properties(
        self, scope: Scope, prefix: Path, resolving: Resolving = FULLY
    ) -> tuple[dict[str, Any], dict[str, TemplateError]]:
        """The properties' values, and the fault of each one that has none.

        ``prefix`` begins the path shown in a fault. Raises TemplateError where the properties as
        a whole are no map.
        """
        scope.begin()
        tree = self._resolve_property_map(scope, resolving)
        values: dict[str, Any] = {}
        faults: dict[str, TemplateError] = {}
        for key, item in tree.items():
            if type(item) is str:
                values[key] = item
                continue
            try:
                value = resolving(item, scope)
            except FAULTS as error:
                faults[key] = _make_property_fault(error, (*prefix, key), (*self._at, key))
                value = None
            if value is not ABSENT:
                values[key] = value
        return values, faults

    @property
    def _at(self) -> Path:
        return (*self.path, "properties")

    def _resolve_property_map(self, scope: Scope, resolving: Resolving) -> Mapping[str, Any]:
        """The map of properties; an ``if`` may stand in its place."""
        tree = self.properties
        if isinstance(tree, Function):
            if not isinstance(tree, Broken) and tree.name != "if":
                text = f'Only "if" can stand for all properties of a resource, not "{tree.name}"'
                raise _make_fault(text, self._at)
            tree = resolving(tree, scope)
        if not isinstance(tree, Mapping):
            raise _make_fault("The properties of a resource must be a map", self._at)
        return tree

    def find_static_faults(self, scope: Scope) -> Iterator[TemplateError]:
        """Find faults of function calls that show without values."""
        scope.begin()
        for key in SECTIONS:
            for error in validate(getattr(self, key), scope):
                yield from_exception(error)


def _make_property_fault(error: Exception, path: Path, at: Path) -> TemplateError:
    inner = from_exception(error)
    if inner.heat_type in OF_ATTRIBUTES:
        inner.at = inner.at or at
        return inner
    fault = wrap_error(error, path=path, label="Property error")
    if fault.at == path:
        fault.at = at
    return fault


def _make_fault(message: str, at: Path) -> TemplateError:
    return TemplateError(message, at=at, code=RESOURCE_SHAPE)
