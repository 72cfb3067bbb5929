"""Validation of nested templates, before anything is made: one resource after the other.

Called by ``stack.load`` for a root. Every nested template is loaded as the engine will load it, as
far as the values are known by then; each of its faults stands in its own file and knows the way
that led there. The same file with the same values is looked at once. A template that stands for a
plug-in's type must fit it; a fault of a generated template is shown at its owner's entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from zonda.hooks.errors import Path, TemplateError, TooManyResources, ZondaError
from zonda.hooks.records import replace
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.properties import Schema
from zonda.hooks.schema.values import WRONG_KIND
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import escape_control_chars, safe_str, truncate_middle

from ..definition.child_spec import ChildSpec
from ..definition.stack_definition import ContextFor, StackDefinition
from ..evaluation.unknown_values import UNKNOWN, has_unknown, resolve_static
from ..source.bundle import Limits
from ..source.diagnostics import (
    FACADE,
    NESTED_DEPTH,
    OUTPUT_SHAPE,
    OWN_CHECK,
    SECTION,
    SILENT,
    TYPE_UNKNOWN,
    FollowUpError,
)
from ..syntax.resource import ResourceNode
from ..types.registry import is_template
from ..types.template_types import TemplateResource
from ..validation.report import add_trace, attach_locations
from ..validation.resource import NullValues, complete_fault
from . import validation_cache
from .signatures import SharedTree

#: So many resources of one type in a generated template are looked into: they are much alike.
_MOST_ALIKE = 10
#: Types of properties whose unknown values may be left out: a null stands there then.
_SCALARS = (Schema.STRING, Schema.NUMBER, Schema.INTEGER, Schema.BOOLEAN)


class ValidationCache(Protocol):
    """The results of earlier checks of the same stack."""

    def is_unchanged(self, node: ResourceNode) -> bool:
        """Whether a resource of the root is unchanged, with all that is nested in it.

        It has been checked before then, and nothing will be done to it.
        """

    def is_well(self, mark: str) -> bool:
        """Whether a nested stack with this cache key was found valid."""


class _UnknownValue(Exception):
    """Raised where a nested template depends on properties whose values are not known."""


class NestedValidator:
    """Validates the stacks below one root. ``earlier``: the results of earlier checks, if any."""

    def __init__(
        self,
        opening: SharedTree,
        context_for: ContextFor,
        limits: Limits,
        earlier: ValidationCache | None = None,
    ) -> None:
        self._opening = opening
        self._context_for = context_for
        self._limits = limits
        self._earlier = earlier
        self._seen: set[str] = set()
        #: The marks of all that was looked at, or was found well earlier.
        self.marks: list[str] = []
        self._alike: Counter[tuple[StackDefinition, str]] = Counter()

    def find_faults_below(
        self, definition: StackDefinition, node: ResourceNode
    ) -> Iterator[TemplateError]:
        """Yield the faults below a resource that has none itself (or has no template)."""
        if not node.cls.is_nested_stack or node.external_id is not None:
            return
        problem = getattr(node.cls, "problem", None)
        if problem is not None:
            fault = _make_template_fault(problem, node)
            yield fault if fault.place is None else add_trace(fault, node, definition.document)
            return
        yield from find_facade_faults(definition, node)
        if self._is_one_of_many(definition, node) or self._is_settled(definition, node):
            return
        try:
            spec, unknown = self._build_spec(definition, node)
        except _UnknownValue:
            return
        except TemplateError as error:
            yield error
            return
        if spec is None:
            return
        if spec.depth > self._limits.max_nested_depth:
            step = _build_step(definition, node, spec.file)
            yield _make_depth_fault(node, step, self._limits.max_nested_depth)
        elif self._is_new(spec, unknown) and not self._is_known_valid(spec, unknown):
            for each in self._find_nested_faults(spec, unknown, definition, node):
                yield _attribute_to_owner(each, definition, node)

    def _is_settled(self, definition: StackDefinition, node: ResourceNode) -> bool:
        is_of_root = definition.spec is None
        return is_of_root and self._earlier is not None and self._earlier.is_unchanged(node)

    def _is_one_of_many(self, definition: StackDefinition, node: ResourceNode) -> bool:
        if definition.spec is None or definition.spec.template is None:
            return False
        self._alike[definition, node.type] += 1
        return self._alike[definition, node.type] > _MOST_ALIKE

    def _is_new(self, spec: ChildSpec, unknown: frozenset[str]) -> bool:
        mark = validation_cache.build_spec_key(
            spec, unknown, by_name=self._opening.is_name_dependent(spec)
        )
        if mark in self._seen:
            return False
        self._seen.add(mark)
        return True

    def _is_known_valid(self, spec: ChildSpec, unknown: frozenset[str]) -> bool:
        mark = self._opening.build_cache_key(spec, unknown)
        if mark is None:
            return False
        self.marks.append(mark)
        return self._earlier is not None and self._earlier.is_well(mark)

    def _build_spec(
        self, definition: StackDefinition, node: ResourceNode
    ) -> tuple[ChildSpec | None, frozenset[str]]:
        """Build the spec of the nested stack, and list its parameters that are not known."""
        scope = definition.scope(NullValues())
        scope.begin()
        values = resolve_static(node.properties, scope)
        given, unknown = _split_properties(node, values)
        update_policy = resolve_static(node.update_policy, scope)
        resolved = ResourceDefinition(
            node.name,
            node.type,
            given,
            metadata=_to_section(resolve_static(node.metadata, scope)),
            deletion_policy=node.deletion_policy,
            update_policy={} if has_unknown(update_policy) else _to_section(update_policy),
            raw=node.trees,
        )
        child = self._build_child(node, resolved, has_unknown(values))
        if child is None:
            return None, frozenset()
        if child.template is not None and _has_open_types(child.template):
            raise _UnknownValue
        open_ones = {name for name, value in child.parameters.items() if has_unknown(value)}
        given = {name: value for name, value in child.parameters.items() if name not in open_ones}
        spec = definition.build_child_spec(node.name, replace(child, parameters=given), resolved)
        return spec, unknown | open_ones

    def _build_child(
        self, node: ResourceNode, resolved: ResourceDefinition, is_open: bool
    ) -> ChildTemplate | None:
        """Ask the plug-in for the nested template; it may raise anything: this is its border."""
        try:
            resource: Any = node.cls(node.name, resolved, self._context_for(node))
            made: ChildTemplate | None = resource.template_for_validation()
        except BaseException as error:
            raise_interruption(error)
            if is_open or isinstance(error, FollowUpError):
                raise _UnknownValue from error
            raise _make_plugin_fault(error, node) from error
        return made

    def _find_nested_faults(
        self,
        spec: ChildSpec,
        unknown: frozenset[str],
        above: StackDefinition,
        node: ResourceNode,
    ) -> Iterator[TemplateError]:
        identity = above.identity
        name = f"{identity.stack_name}-{node.name}"[:242] + "-" + "0" * 12
        child, faults = self._opening.load_partially(
            spec, replace(identity, stack_id="", stack_name=name), unknown
        )
        step = _build_step(above, node, spec.file)
        for fault in sorted(faults, key=lambda fault: not _is_of_provided_output(fault)):
            yield _locate_fault(fault, child, spec, step, node)
        if child is not None and len(child.resources) > self._limits.max_resources_per_stack:
            large = TooManyResources(
                len(child.resources), self._limits.max_resources_per_stack, at=("resources",)
            )
            yield _locate_fault(large, child, spec, step, node)
        elif child is not None:
            for fault in child.faults(self._context_for, self.find_faults_below):
                yield _locate_fault(child.masked(fault), child, spec, step, node)


def _split_properties(node: ResourceNode, values: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Split the properties into known values and the names of unknown ones.

    Raises _NotKnown where what is not known may decide what the nested template is.
    """
    if not isinstance(values, Mapping):
        raise _UnknownValue
    if issubclass(node.cls, TemplateResource):
        unknown = frozenset(key for key, value in values.items() if has_unknown(value))
        return {key: value for key, value in values.items() if key not in unknown}, unknown
    schema = node.cls.properties_schema
    for key, value in values.items():
        if value is UNKNOWN and (key not in schema or schema[key].type not in _SCALARS):
            raise _UnknownValue
    return {key: value for key, value in values.items() if value is not UNKNOWN}, frozenset()


def _has_open_types(template: Mapping[str, Any]) -> bool:
    resources = template.get("resources")
    return isinstance(resources, Mapping) and any(
        isinstance(entry, Mapping) and entry.get("type") is UNKNOWN for entry in resources.values()
    )


def _to_section(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _build_step(above: StackDefinition, node: ResourceNode, file: str | None) -> tuple[str, str]:
    """Build the path element of the nested template as in Heat's paths."""
    label = "nested_stack" if file is None else above.registry.candidates.name(file)
    return (
        "resources",
        f"{node.name}<{escape_control_chars(node.type) if is_template(node.type) else label}>",
    )


def _locate_fault(
    fault: TemplateError,
    child: StackDefinition | None,
    spec: ChildSpec,
    step: tuple[str, str],
    node: ResourceNode,
) -> TemplateError:
    """Complete a fault of the nested template with its place and with Heat's path to it."""
    if child is not None:
        attach_locations([fault], child.document, child.environment)
    _adopt_reading(fault, child)
    path = fault.path
    is_list = len(path) > 3 and isinstance(path[3], int)
    if spec.template is not None and path[::2][:2] == ("outputs", "value") and is_list:
        path = (*path[:2], "Value", *path[3:])  # so Heat tells it of a list with an item a member
    of_members = spec.template is not None and getattr(node.cls, "checks_member_types", False)
    unprefixed = (fault.code == TYPE_UNKNOWN and of_members) or _is_of_provided_output(fault)
    if path or not unprefixed:
        fault.path = (*step, *path)
    kind = "InvalidTemplateSection" if fault.code == SECTION else fault.heat_type
    if kind != TemplateError.heat_type:
        fault.label, fault.heat_type = fault.label or kind, TemplateError.heat_type
    return fault


def _adopt_reading(fault: TemplateError, child: StackDefinition | None) -> None:
    """Report a value of a wrong type at its resource, if the type's own check reads properties.

    Heat does not compare the values in nested templates with the schemas: that check fails there.
    """
    if child is None or fault.code != WRONG_KIND or fault.path[2:3] != ("properties",):
        return
    node = child.resources.get(str(fault.path[1]))
    if node is not None and node.cls.validate is not Resource.validate:
        fault.path, fault.label = node.path, "ValueError"


def _is_of_provided_output(fault: TemplateError) -> bool:
    """Whether Heat finds the fault before all others, and reports it without a path."""
    return fault.code == OUTPUT_SHAPE and not fault.label


def _attribute_to_owner(
    fault: TemplateError, definition: StackDefinition, node: ResourceNode
) -> TemplateError:
    """Locate a fault below a resource in the document of its owner."""
    if fault.place is None and definition.document.text:
        at = find_owner_path(fault.at, node)
        fault.place = definition.document.place(at, key=True)
    return add_trace(fault, node, definition.document)


def _make_template_fault(problem: TemplateError, node: ResourceNode) -> TemplateError:
    """Build the fault of a resource whose file is no template."""
    return TemplateError(
        problem.message,
        at=(*node.path, "type"),
        place=problem.place,
        code=problem.code,
        hint=problem.hint,
    )


def _make_depth_fault(node: ResourceNode, step: tuple[str, str], most: int) -> TemplateError:
    return TemplateError(
        f"Request limit exceeded: Recursion depth exceeds {most}.",
        label="RequestLimitExceeded",
        path=step,
        at=(*node.path, "type"),
        code=NESTED_DEPTH,
        hint="Have fewer templates inside each other, or raise the setting max_nested_depth.",
    )


def _make_plugin_fault(error: BaseException, node: ResourceNode) -> TemplateError:
    """Build the fault of a plug-in that raised when it was asked for its nested template."""
    if isinstance(error, TemplateError):
        return complete_fault(error, node)
    own = error.message if isinstance(error, ZondaError) else truncate_middle(safe_str(error))
    path = ("resources", f"{node.name}<nested_stack>")
    label = type(error).__name__
    return TemplateError(own or SILENT, path=path, at=node.path, label=label, code=OWN_CHECK)


#: Every number of a template is a Number.
_AS_PARAMETER = {Schema.INTEGER: Schema.NUMBER}


def find_facade_faults(definition: StackDefinition, node: ResourceNode) -> Iterator[TemplateError]:
    """Find the mismatches, if the resource's type is one without the template, too."""
    facade = _find_facade(definition, node)
    if facade is None or getattr(facade, "problem", None) is not None:
        return
    for message in _list_differences(node.type, facade, node.cls):
        yield TemplateError(message, at=(*node.path, "type"), code=FACADE)


def _find_facade(definition: StackDefinition, node: ResourceNode) -> type[Resource] | None:
    """The class that the type would have by itself, where a template stands for it."""
    if is_template(node.type) or not hasattr(node.cls, "source"):
        return None
    return definition.registry.find_facade(node.type, node.name)


def _list_differences(
    type_: str, facade: type[Resource], provider: type[Resource]
) -> Iterator[str]:
    wanted, there = facade.properties_schema, provider.properties_schema
    for name, schema in wanted.items():
        if name not in there:
            if schema.required:
                yield f"Required property {name} for facade {type_} missing in provider"
            continue
        kind = _AS_PARAMETER.get(schema.type, schema.type)
        if kind not in (there[name].type, Schema.ANY):
            yield (
                f"Property {name} type mismatch between facade {type_} ({kind}) "
                f"and provider ({there[name].type})"
            )
    for name, schema in there.items():
        if schema.required and name not in wanted:
            yield f"Provider requires property {name} unknown in facade {type_}"
    for name in facade.attributes_schema:
        if name not in provider.attributes_schema:
            yield f"Attribute {name} for facade {type_} missing in provider"


def find_owner_path(at: Path, node: ResourceNode) -> Path:
    """Find the path in the owner's document for the path ``at`` in its generated template."""
    inside = (*node.path, "properties")
    given = node.raw.get("properties")
    if at[:1] == ("resources",) and len(at) > 3 and at[2] == "properties":
        found = _find_first_key(given, at[3], inside)
        return (*found, *at[4:]) if found is not None else inside
    if at[:1] == ("resources",) and at[2:3] == ("type",):
        return _find_first_key(given, "type", inside) or inside
    return inside if isinstance(given, dict) else node.path


def _find_first_key(tree: Any, key: Any, path: Path) -> Path | None:
    """Find the path of the first ``key`` of a map anywhere below."""
    if isinstance(tree, dict):
        if key in tree:
            return (*path, key)
        items = tree.items()
    elif isinstance(tree, list):
        items = enumerate(tree)  # type: ignore[assignment]
    else:
        return None
    found = (_find_first_key(item, key, (*path, step)) for step, item in items)
    return next((each for each in found if each is not None), None)
