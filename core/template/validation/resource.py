"""The check of one resource: functions, policies, properties and the plug-in's own ``validate``.

Called by ``StackDefinition.validate`` in dependency order. Properties are resolved with the
attributes of other resources null, since nothing exists yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import (
    InvalidTemplateAttribute,
    Path,
    TemplateError,
    ValidationErrors,
    ZondaError,
)
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import NotChecked
from zonda.hooks.schema.properties import Properties
from zonda.hooks.schema.values import NOT_CHECKED
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import safe_str, truncate_middle

from ..evaluation.error_location import find_failing_call
from ..evaluation.scope import Scope
from ..source.diagnostics import (
    EXTERNAL,
    OWN_CHECK,
    POLICY,
    SILENT,
    TOO_LARGE,
    FollowUpError,
    suggestion,
)
from ..syntax.resource import NoClass, ResourceNode
from ..syntax.sections import RESOURCES
from .claims import Claims

#: Stands among properties for all of them: the section itself is wrong.
WHOLE = "*"


class NullValues:
    """The values of resources before they exist: their names, and null for attributes."""

    def reference(self, name: str) -> Any:
        """The resource's name."""
        return name

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """Null."""
        return None


class CheckedValues(NullValues):
    """As ``NullValues``, but an attribute that the type does not have is a fault."""

    def __init__(self, resources: Mapping[str, ResourceNode]) -> None:
        self._resources = resources

    def attribute(self, name: str, attribute: str | None, rest: tuple[Any, ...]) -> Any:
        """Null, or InvalidTemplateAttribute."""
        cls = self._resources[name].cls
        has_any = cls.any_attribute or cls.FnGetAtt is not Resource.FnGetAtt
        if attribute is None or attribute == "show" or has_any:
            return None
        if attribute not in cls.attributes_schema:
            error = InvalidTemplateAttribute(name, attribute)
            error.hint = suggestion(attribute, cls.attributes_schema)
            raise error
        return None


def find_resource_faults(
    node: ResourceNode,
    static: Scope,
    empty: Scope,
    context: ResourceContext,
    reported: frozenset[Any],
    claims: Claims,
) -> Iterator[TemplateError]:
    """Yield the faults of one resource, in Heat's order.

    ``reported`` are properties whose faults are known: what they resolve to is no news.
    ``claims``: those of the template's other resources.
    """
    has_class = node.cls is not NoClass and getattr(node.cls, "problem", None) is None
    if has_class and node.external_id is not None:
        yield from _find_external_faults(node, empty)
        return
    if node.cls.unchecked:
        return
    known = list(node.find_static_faults(static))
    yield from known
    snapshots = ("handle_snapshot_delete", "handle_snapshot")
    has_snapshots = any(callable(getattr(node.cls, name, None)) for name in snapshots)
    if has_class and node.deletion_policy == "Snapshot" and not has_snapshots:
        yield TemplateError(
            '"Snapshot" deletion policy not supported',
            path=(*node.path, "deletion_policy"),
            code=POLICY,
            hint=f"{node.type} cannot make snapshots: use Retain or Delete.",
        )
    wrong = reported | _list_properties(known)
    if WHOLE in wrong:
        return
    try:
        values, unresolved = node.try_properties(empty, (*node.path, "properties"))
    except TemplateError as error:
        yield error
        return
    _locate_failing_calls(node, unresolved, empty)
    if has_class:
        yield from _find_definition_faults(node, empty, context, wrong, values, unresolved, claims)
        return
    for key, fault in unresolved.items():
        if key not in wrong and not isinstance(fault, FollowUpError):
            yield fault


#: Codes of calls that take long to fail: they are not tried again to find out where.
_SLOW = ("ZON118", TOO_LARGE)


def _locate_failing_calls(
    node: ResourceNode, unresolved: Mapping[str, TemplateError], scope: Scope
) -> None:
    """Locate the failing calls inside values that cannot be resolved."""
    if not isinstance(node.properties, Mapping):
        return
    for key, fault in unresolved.items():
        if isinstance(fault, FollowUpError) or fault.code in _SLOW or len(fault.at) != 4:
            continue
        at = find_failing_call(node.properties.get(key), scope)
        if at is not None and at[:4] == fault.at:
            fault.at = at


def _find_external_faults(node: ResourceNode, scope: Scope) -> Iterator[TemplateError]:
    try:
        external_id = node.resolve_external_id(scope)
    except TemplateError as error:
        yield error
        return
    if node.cls.is_nested_stack:
        yield TemplateError(
            f"{node.type} is a nested stack, which cannot be one that exists: {external_id}",
            path=(*node.path, "external_id"),
            code=EXTERNAL,
            hint="Only single objects are referred to by external_id.",
        )
    if node.depends_on:
        yield TemplateError(
            f"Invalid dependency with external {node.type} resource: {external_id}",
            at=(*node.path, "depends_on"),
            code=EXTERNAL,
            heat_type="InvalidExternalResourceDependency",
            hint="A resource with external_id is not made here and waits for nothing.",
        )


def list_reported_properties(faults: list[TemplateError]) -> dict[str, frozenset[Any]]:
    """List, by resource, the properties that have faults from loading."""
    found: dict[str, list[TemplateError]] = {}
    for fault in faults:
        if fault.at[:1] == (RESOURCES,) and len(fault.at) > 1:
            found.setdefault(str(fault.at[1]), []).append(fault)
    return {name: _list_properties(some) for name, some in found.items()}


def _list_properties(faults: list[TemplateError]) -> frozenset[Any]:
    """List the properties of one resource that have faults; other sections as paths."""
    properties = [fault.at for fault in faults if fault.at[2:3] == ("properties",)]
    others = (fault.at[2:3] for fault in faults if fault.at[2:3] != ("properties",))
    return frozenset((*others, *(at[3] if len(at) > 3 else WHOLE for at in properties)))


def _find_definition_faults(
    node: ResourceNode,
    scope: Scope,
    context: ResourceContext,
    known: frozenset[Any],
    values: Mapping[str, Any],
    unresolved: Mapping[str, TemplateError],
    claims: Claims,
) -> Iterator[TemplateError]:
    try:
        definition = node.definition(scope, values)
    except TemplateError as error:
        if error.at[2:3] not in known and error.path[2:3] not in known:
            yield error
        definition = ResourceDefinition(node.name, node.type, values, raw=node.trees)
    known = frozenset(key for key in known if not isinstance(key, tuple))
    try:
        faults = [*_find_type_faults(node, definition, context, unresolved, known, claims)]
    except BaseException as error:  # the border: what a plug-in declares is called
        raise_interruption(error)
        faults = [_make_plugin_fault(node, error)]
    yield from faults


def _find_type_faults(
    node: ResourceNode,
    definition: ResourceDefinition,
    context: ResourceContext,
    unresolved: Mapping[str, TemplateError],
    known: frozenset[Any],
    claims: Claims,
) -> Iterator[TemplateError]:
    """Yield the faults that the type finds: by its schemas, and by its own checks."""
    prefix = (*node.path, "properties")
    if definition.update_policy:
        schema = node.cls.update_policy_schema
        policy = Properties(schema, definition.update_policy, context=context)
        yield from policy.validate((*node.path, "update_policy"))
    resource = node.cls(node.name, definition, context)
    if unresolved or known:
        # What a type checks across its properties makes sense only where all of them are values.
        # One that declares none says itself what it takes.
        given = resource.properties
        unknown = {*unresolved, *known, *given.waiting()}
        check = Properties.validate if given.props else type(given).validate
        plain = check(given, prefix, pending=unknown)
        yield from _merge_faults(node, plain, unresolved, known, prefix)
        return
    faults = resource.properties.validate(prefix) or [*_find_plugin_faults(node, resource)]
    yield from faults or claims.find_faults(node, resource)


def _merge_faults(
    node: ResourceNode,
    faults: list[TemplateError],
    unresolved: Mapping[str, TemplateError],
    known: frozenset[Any],
    prefix: Path,
) -> list[TemplateError]:
    """Merge faults of values and of resolving, by the order of the schema, each property once."""
    wrong = {*unresolved, *known}
    missing = {f"Property {key} not assigned" for key in wrong}
    kept = [
        fault
        for fault in faults
        if fault.path[len(prefix) : len(prefix) + 1] not in {(key,) for key in wrong}
        and fault.message not in missing
    ]
    kept.extend(fault for key, fault in unresolved.items() if key not in known)
    position: dict[Any, int] = {key: at for at, key in enumerate(node.cls.properties_schema)}
    return sorted(
        (fault for fault in kept if not isinstance(fault, FollowUpError)),
        key=lambda fault: position.get((*fault.path[len(prefix) :], None)[0], -1),
    )


def _find_plugin_faults(node: ResourceNode, resource: Resource) -> Iterator[TemplateError]:
    """Yield the faults of the plug-in's own check. It may raise anything: this is its border."""
    if type(resource).validate is Resource.validate:
        return
    try:
        resource.validate()
    except NotChecked as error:
        yield TemplateError(str(error), path=node.path, code=NOT_CHECKED)
    except ValidationErrors as error:
        yield from (complete_fault(fault, node) for fault in error.errors)
    except TemplateError as error:
        yield complete_fault(error, node)
    except ZondaError as error:
        heat_type = error.heat_type
        yield TemplateError(error.message, path=node.path, code=OWN_CHECK, heat_type=heat_type)
    except BaseException as error:
        raise_interruption(error)
        yield _make_plugin_fault(node, error)


def _make_plugin_fault(node: ResourceNode, error: BaseException) -> TemplateError:
    """Make the fault of a type whose own code failed."""
    text = truncate_middle(safe_str(error)) or SILENT
    fault = TemplateError(text, path=node.path, label=type(error).__name__, code=OWN_CHECK)
    fault.__cause__ = error
    return fault


def complete_fault(fault: TemplateError, node: ResourceNode) -> TemplateError:
    """Complete a plug-in's ``fault`` with a place and a code, where it has none."""
    fault.at = fault.at or node.path
    if fault.code == TemplateError.code:
        fault.code = OWN_CHECK
    return fault
