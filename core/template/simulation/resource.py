"""The class that stands for a type in a simulated stack: it makes nothing, and tells what would be.

It has the declarations and the checks of the type that it stands for, whose handlers are never
called. The loader gives these classes to the registry of a simulated stack (``Bundle.simulated``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Final

from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import NotFound, RequestError, ResourceFailure
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.dependencies import Dependencies
from zonda.hooks.resources.resource import Resource, ResourceState
from zonda.hooks.schema.attributes import select
from zonda.hooks.schema.constraints import CustomConstraint
from zonda.hooks.schema.properties import Properties
from zonda.hooks.schema.property import Schema

from .values import make_attribute, make_physical_id

#: The entry of the data that holds the drift: what was changed behind zonda's back.
_WORLD: Final = "simulated_drift"
#: The declarations that are those of the type.
_DECLARED: Final = (
    *("properties_schema", "attributes_schema", "update_policy_schema", "support_status"),
    *("any_attribute", "unchecked", "never_update", "exposes_properties", "capabilities"),
)


class Simulated(Resource):
    """A resource that is not there. ``real``: the class of its type."""

    real: ClassVar[type[Resource]] = Resource
    start_policy = "idempotent"

    #: The schemas without rules of plug-ins, which ask clouds, and without what is required: a type
    #: may take an old name of it.
    lenient_schema: ClassVar[Mapping[str, Schema]] = {}

    def __init__(
        self,
        name: str,
        definition: ResourceDefinition,
        context: ResourceContext,
        state: ResourceState | None = None,
    ) -> None:
        self._is_planned = state is not None
        super().__init__(name, definition, context, state)

    # -- checks: those of the type, as long as only a template is looked at ----------------------

    def make_properties(self, definition: ResourceDefinition) -> Properties:
        """The properties as the type reads them; of what is planned or made no plug-in is asked."""
        if not self._is_planned or not self.properties_schema:  # it may take any, or old names
            return self.real(self.name, definition, self.context).properties
        raw = definition.raw.get("properties") or {}
        lenient = self.lenient_schema
        return Properties(lenient, definition.properties, raw=raw, context=self.context)

    def validate(self) -> None:
        """Run the type's own check."""
        self.real(self.name, self.t, self.context).validate()

    # -- life cycle -----------------------------------------------------------------------------

    def handle_create(self) -> None:
        """Give it a physical id."""
        self.resource_id_set(make_physical_id(self.uuid))

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        """Make it what the definition says: drift is gone."""
        self.data_delete(_WORLD)

    def handle_delete(self) -> None:
        """There is nothing to delete."""

    def handle_suspend(self) -> None:
        """It is suspended at once."""

    def handle_resume(self) -> None:
        """It is resumed at once."""

    def handle_check(self) -> None:
        """Raise ResourceFailure if it is gone."""
        if self._read_drift() is None:
            raise ResourceFailure("It is gone (simulated).")

    def handle_signal(self, details: Any = None) -> None:
        """Let it drift: ``{"drift": {PROPERTY: VALUE}}``, ``{"drift": "gone"}``, ``{}`` to undo it.

        Raises RequestError for anything else.
        """
        said = details.get("drift") if isinstance(details, Mapping) else None
        if said == "gone":
            self.data_set(_WORLD, json.dumps(None), redact=True)
        elif isinstance(said, Mapping) and said.keys() <= self.properties_schema.keys():
            self.data_set(_WORLD, json.dumps(dict(said)), redact=True)
        else:
            raise RequestError(
                f"{self.name} is simulated, and the signal is no drift.",
                hint='Send {"drift": {PROPERTY: VALUE}}, {"drift": "gone"}, or {"drift": {}} to '
                "undo it.",
            )

    def _read_drift(self) -> Mapping[str, Any] | None:
        """The properties that were changed; None where it is gone."""
        found: Mapping[str, Any] | None = json.loads(self.data().get(_WORLD, "{}"))
        return found

    # -- what others read -----------------------------------------------------------------------

    def get_live_state(self) -> Mapping[str, Any]:
        """The properties with what was changed; raises NotFound where it is gone."""
        drift = self._read_drift()
        if drift is None:
            raise NotFound("resource", self.name)
        return {**self.properties.get_sent_values(*self._list_given()), **drift}

    def _list_given(self) -> Sequence[str]:
        return [name for name in self.properties.get_stored_values() if name in self.properties]

    def _resolve_attribute(self, name: str) -> Any:
        if self.resource_id is None:
            return None
        known = self.properties.get_stored_values()
        return make_attribute(name, self.attributes_schema.get(name), known, self.resource_id)

    def _show_resource(self) -> Any:
        return {**self.properties.get_stored_values(), "id": self.resource_id, "status": "ACTIVE"}


def _require_edges(self: Simulated, deps: Dependencies) -> None:
    """The edges that the type adds."""
    self.real(self.name, self.t, self.context).add_dependencies(deps)


def _get_attribute(self: Simulated, key: str, *path: Any) -> Any:
    """An attribute of a type that has others than it declares: outputs of a deployment, say."""
    known = key in self.attributes
    return select(self.attributes[key] if known else self._resolve_attribute(key), path)


#: The classes by name and class of the type: a stack that is loaded again has the same ones.
_MADE: Final[dict[tuple[str, type[Any]], type[Simulated]]] = {}


class SimulatedTypes(Mapping[str, type[Resource]]):
    """Types by name, those that ``patterns`` cover simulated. Only what is asked for is imported.

    ``*`` alone covers what acts outside zonda, and no more; none covers nested stacks.
    """

    def __init__(self, types: Mapping[str, type[Resource]], patterns: Sequence[str]) -> None:
        self._types = types
        self._patterns = patterns

    def __getitem__(self, name: str) -> type[Resource]:
        cls = self._types[name]
        if not self._covers(name, cls):
            return cls
        known = _MADE.get((name, cls))
        return known or _MADE.setdefault((name, cls), _simulate(name, cls))

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)

    def _covers(self, name: str, cls: type[Resource]) -> bool:
        if cls.is_nested_stack:
            return False
        outside = cls.has_side_effects and "*" in self._patterns
        return outside or any(fnmatchcase(name, each) for each in self._patterns if each != "*")


def _drop_rules(declared: Mapping[str, Schema]) -> dict[str, Schema]:
    """Schemas without custom constraints, of which nothing is required."""
    return {name: _drop_rules_of(each) for name, each in declared.items()}


def _drop_rules_of(declared: Schema) -> Schema:
    made = copy(declared)
    made.required = False
    made.constraints = tuple(
        each for each in declared.constraints if not isinstance(each, CustomConstraint)
    )
    if isinstance(declared.schema, Mapping):
        made.schema = _drop_rules(declared.schema)
    elif declared.schema is not None:
        made.schema = _drop_rules_of(declared.schema)
    return made


def _simulate(name: str, cls: type[Resource]) -> type[Simulated]:
    """The class that stands for a type in simulated stacks."""
    body: dict[str, Any] = {each: getattr(cls, each) for each in _DECLARED}
    body["lenient_schema"] = _drop_rules(cls.properties_schema)
    if cls.add_dependencies is not Resource.add_dependencies:
        body["add_dependencies"] = _require_edges
    if cls.FnGetAtt is not Resource.FnGetAtt:
        body["FnGetAtt"] = _get_attribute
    told = {
        "__doc__": cls.__doc__,
        "__module__": __name__,
        "__qualname__": f"Simulated {name}",
        "real": cls,
        "simulates": name,
    }
    return type(cls.__name__, (Simulated,), {**body, **told})
