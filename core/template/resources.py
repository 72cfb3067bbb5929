"""The ``resources`` section: from entries to nodes with parsed trees.

Called by ``stack.load``. ``parse_resource`` reads one entry in Heat's order of checks;
``ResourceNode`` is what the planner and every operation work with. A node is bound to no values:
``resolve`` takes the scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from zonda.hooks.definition import ResourceDefinition
from zonda.hooks.errors import Path, TemplateError
from zonda.hooks.function import ABSENT, Function, ResolveScope, resolve, resolve_value, validate
from zonda.hooks.resource import Resource

from .conditions import truth
from .faults import POLICY, RESOURCE_SHAPE, Poisoned, from_exception, near, wrapped
from .scope import Broken, Parser
from .sections import RESOURCES
from .versions import CONDITIONS_SINCE

_POLICIES = {"Delete": "Delete", "Retain": "Retain", "Snapshot": "Snapshot"}
_POLICIES_LATER = {**_POLICIES, **{name.lower(): name for name in _POLICIES}}

#: The sections that are resolved, with their names in Heat's messages about references.
SECTIONS = {"properties": "Properties", "metadata": "Metadata", "update_policy": "UpdatePolicy"}


class NoClass(Resource):
    """Stands for a type that could not be found, while further faults are collected."""

    any_attribute = True


ResourceClass = type[Resource]


class Owner(Protocol):
    """The stack definition, as far as a node asks it."""

    def fingerprint(self, name: str) -> str:
        """The fingerprint of a resource."""

    def secrecy_of(self, name: str) -> Mapping[str, str]:
        """The marks of a resource's properties."""


@dataclass(eq=False, slots=True)
class ResourceNode:
    """One resource that is enabled. ``type`` is as written, ``cls`` what the registry says.

    ``properties``, ``metadata``, ``update_policy`` and ``external_id`` are parsed trees.
    ``requires``: the names of all that it depends on, explicitly or by what it reads.
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

    @property
    def fingerprint(self) -> str:
        """Changes when the definition does. Holds secrets: only a keyed hash of it is kept."""
        assert self.owner is not None
        return self.owner.fingerprint(self.name)

    @property
    def secrecy(self) -> Mapping[str, str]:
        """``open``, ``sealed`` or ``hidden`` for each property that is given."""
        assert self.owner is not None
        return self.owner.secrecy_of(self.name)

    @property
    def path(self) -> Path:
        """Where the entry stands in the document."""
        return (RESOURCES, self.name)

    def resolve(self, scope: ResolveScope) -> ResourceDefinition:
        """The definition with every function replaced by its value.

        Raises TemplateError; a fault of a property is Heat's ``Property error`` at creation.
        """
        return self.definition(scope, self.resolved_properties(scope))

    def definition(self, scope: ResolveScope, properties: Mapping[str, Any]) -> ResourceDefinition:
        """The definition around ``properties`` that are resolved already."""
        return ResourceDefinition(
            name=self.name,
            type=self.type,
            properties=properties,
            metadata=self._map("metadata", self.metadata, scope),
            deletion_policy=self.deletion_policy,
            update_policy=self._map("update_policy", self.update_policy, scope),
            depends_on=self.depends_on,
            external_id=self.resolved_external_id(scope),
            description=self.description,
            raw=self.trees,
        )

    def _map(self, key: str, tree: Any, scope: ResolveScope) -> Mapping[str, Any]:
        """A resolved section, which must be a map."""
        if not tree:
            return {}
        try:
            value = resolve_value(tree, scope)
        except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise wrapped(error, path=(*self.path, key)) from error
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise _fault(f"Resource {self.name} {key} type must be object", (*self.path, key))
        return value

    def resolved_external_id(self, scope: ResolveScope) -> str | None:
        """The physical id of a resource that is managed elsewhere, else None."""
        if self.external_id is None:
            return None
        value = resolve_value(self.external_id, scope)
        return None if value is None else str(value)

    def resolved_properties(self, scope: ResolveScope) -> dict[str, Any]:
        """The properties' values, as given; raises TemplateError for the first fault."""
        values, faults = self.try_properties(scope, (self.name, "Properties"))
        for fault in faults.values():
            raise fault
        return values

    def try_properties(
        self, scope: ResolveScope, prefix: Path
    ) -> tuple[dict[str, Any], dict[str, TemplateError]]:
        """The properties' values, and the fault of each one that has none.

        ``prefix`` begins the path shown in a fault. Raises TemplateError where the properties as
        a whole are no map.
        """
        tree = self._property_trees(scope)
        values: dict[str, Any] = {}
        faults: dict[str, TemplateError] = {}
        for key, item in tree.items():
            if type(item) is str:
                values[key] = item
                continue
            try:
                value = resolve(item, scope)
            except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
                faults[key] = _property_fault(error, (*prefix, key), (*self._at, key))
                value = None
            if value is not ABSENT:
                values[key] = value
        return values, faults

    @property
    def _at(self) -> Path:
        return (*self.path, "properties")

    def _property_trees(self, scope: ResolveScope) -> Mapping[str, Any]:
        """The map of properties; an ``if`` may stand in its place."""
        tree = self.properties
        if isinstance(tree, Function):
            if not isinstance(tree, Broken) and tree.name != "if":
                text = f'Only "if" can stand for all properties of a resource, not "{tree.name}"'
                raise _fault(text, self._at)
            tree = resolve_value(tree, scope)
        if not isinstance(tree, Mapping):
            raise _fault("The properties of a resource must be a map", self._at)
        return tree

    def static_faults(self, scope: ResolveScope) -> Iterator[TemplateError]:
        """Faults of function calls that show without values."""
        for key in SECTIONS:
            for error in validate(getattr(self, key), scope):
                yield from_exception(error)


def parse_resource(
    name: str, entry: Mapping[str, Any], parser: Parser
) -> tuple[ResourceNode, bool]:
    """One entry as a node, and whether it is enabled. Faults go to the parser's list.

    The class and the requirements are filled in later, once every entry is parsed.
    """
    reader = _Reader(name, entry, parser)
    type_ = reader.type()
    trees = {
        "properties": reader.mapping("properties"),
        "metadata": reader.mapping("metadata"),
    }
    depends_on = reader.depends_on()
    policy = reader.deletion_policy()
    trees["update_policy"] = reader.mapping("update_policy")
    description = reader.text("description") or ""
    external_id = reader.text("external_id", functions=True)
    if external_id is not None:
        # What is managed elsewhere is never deleted from here.
        policy = "Retain"
    node = ResourceNode(
        name=name,
        type=type_,
        raw=entry,
        properties=trees["properties"],
        metadata=trees["metadata"],
        update_policy=trees["update_policy"],
        depends_on=depends_on,
        deletion_policy=policy,
        external_id=external_id,
        description=description,
        trees={**entry, **{key: trees[key] for key in trees if key in entry}},
    )
    return node, reader.enabled()


class _Reader:
    """Reads the keys of one entry."""

    __slots__ = ("_entry", "_name", "_parser")

    def __init__(self, name: str, entry: Mapping[str, Any], parser: Parser) -> None:
        self._name = name
        self._entry = entry
        self._parser = parser

    def _path(self, key: str) -> Path:
        return (RESOURCES, self._name, key)

    def _wrong(self, key: str, wanted: str) -> None:
        text = f"Resource {self._name} {key} type must be {wanted}"
        self._parser.errors.append(_fault(text, self._path(key)))

    def type(self) -> str:
        """The type's name; empty where it is wrong."""
        value = self._entry.get("type", "")
        if isinstance(value, str) and value:
            return value
        if "type" in self._entry:
            if value is None or value == "":
                text = "Each Resource must contain a Type key."
                self._parser.errors.append(_fault(text, self._path("type")))
            else:
                self._wrong("type", "string")
        return ""

    def mapping(self, key: str) -> Any:
        """The tree of a map, or of a function that may give one; empty where it is wrong."""
        if key not in self._entry:
            return {}
        value = self._entry[key]
        if not isinstance(value, Mapping):
            self._wrong(key, "object")
            return {}
        return self._parser.parse(value, self._path(key)) if value else value

    def text(self, key: str, *, functions: bool = False) -> Any:
        """A text, or the tree of a function where ``functions`` may stand; None if absent."""
        if key not in self._entry:
            return None
        value = self._entry[key]
        if functions and isinstance(value, Mapping):
            value = self._parser.parse(value, self._path(key))
        if isinstance(value, str) or (functions and isinstance(value, Function)):
            return value
        self._wrong(key, "string")
        return None

    def depends_on(self) -> tuple[str, ...]:
        """The names, in the order written."""
        if "depends_on" not in self._entry:
            return ()
        value = self._entry["depends_on"]
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list):
            self._wrong("depends_on", "list or string")
            return ()
        if not all(isinstance(item, str) for item in value):
            text = f"Resource {self._name} depends_on must be a list of strings"
            self._parser.errors.append(_fault(text, self._path("depends_on")))
            return ()
        return tuple(dict.fromkeys(value))

    def deletion_policy(self) -> str:
        """``Delete``, ``Retain`` or ``Snapshot``."""
        tree = self.text("deletion_policy", functions=True)
        if tree is None:
            return "Delete"
        path = self._path("deletion_policy")
        try:
            value = resolve_value(tree, self._parser.scope)
        except Poisoned:
            return "Delete"
        except (TemplateError, TypeError, ValueError, KeyError, AttributeError) as error:
            self._parser.errors.append(wrapped(error, path=path))
            return "Delete"
        known = _POLICIES_LATER if self._parser.version >= CONDITIONS_SINCE else _POLICIES
        if value is None or (isinstance(value, str) and value in known):
            return known[value] if value else "Delete"
        self._parser.errors.append(
            TemplateError(
                f'Invalid deletion policy "{value}"',
                at=path,
                code=POLICY,
                hint=near(value, known) or f"One of {', '.join(known)}.",
            )
        )
        return "Delete"

    def enabled(self) -> bool:
        """Whether the resource's condition holds; a faulty one counts as true."""
        if "condition" not in self._entry:
            return True
        value = self._entry["condition"]
        path = self._path("condition")
        tree, faults = self._parser.condition_tree(value, path)
        self._parser.errors.extend(faults)
        if faults:
            return True
        if not isinstance(tree, str | bool | Function):
            self._wrong("condition", "string_or_boolean")
            return True
        try:
            return truth(tree, self._parser, path)
        except Poisoned:
            return True
        except TemplateError as error:
            self._parser.errors.append(error)
            return True


def _property_fault(error: Exception, path: Path, at: Path) -> TemplateError:
    fault = wrapped(error, path=path, label="Property error")
    if fault.at == path:
        fault.at = at
    return fault


def _fault(message: str, at: Path) -> TemplateError:
    return TemplateError(message, at=at, code=RESOURCE_SHAPE)
