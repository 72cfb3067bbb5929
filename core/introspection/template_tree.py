"""The tree of a template's nested templates, as far as it is known before anything exists.

Called by ``parameters``. Templates chosen by a registry, by file names, by members of groups and by
the names that a chain takes from parameters are looked into; what only real resources could tell is
left open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zonda.core.template.definition.child_spec import ChildSpec
from zonda.core.template.definition.stack_definition import StackDefinition
from zonda.core.template.evaluation.unknown_values import UNKNOWN, has_unknown, resolve_static
from zonda.core.template.nested.child_loader import ChildLoader
from zonda.core.template.nested.template_tree import TemplateTree
from zonda.core.template.source.bundle import Identity
from zonda.core.template.source.diagnostics import FAULTS, PARAMETER_MISSING, UNKNOWN_NAMES
from zonda.core.template.source.document import Document
from zonda.core.template.syntax.resource import ResourceNode
from zonda.core.template.types.template_types import TemplateResource
from zonda.core.template.validation.report import add_trace, raise_errors
from zonda.core.template.validation.resource import NullValues
from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import TemplateError, ValidationErrors, ZondaError
from zonda.hooks.function import Function, resolve
from zonda.hooks.records import dataclass, replace
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.nested_stack import ChildTemplate, NestedStack
from zonda.hooks.text.borders import raise_interruption

#: A template that stands below itself so often goes on for ever.
_MOST_REPEATS = 3


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One template of the tree. ``file``: its key, '' for the root and for generated ones.

    ``names``: the resources that lead to it. ``given``: parameters that the template above gives.
    """

    definition: StackDefinition
    names: tuple[str, ...]
    file: str
    given: frozenset[str]


class Tree:
    """A walk through the nested templates below a root. ``open``: the unresolved parts.

    ``errors``: faults of nested templates, with places and the way that led there.
    """

    def __init__(self, context: Callable[[], ResourceContext]) -> None:
        self._context = context
        self.open: list[str] = []
        self.errors: list[TemplateError] = []

    def walk(self, root: StackDefinition) -> Iterator[TreeNode]:
        """Walk the root and every nested template, each before its own nested templates."""
        yield TreeNode(root, (), "", frozenset())
        yield from self._walk_children(root, _Position())

    def _walk_children(self, definition: StackDefinition, spot: _Position) -> Iterator[TreeNode]:
        for node in definition.resources.values():
            if issubclass(node.cls, NestedStack) and node.external_id is None:
                yield from self._walk_child(
                    definition, spot.enter_resource(node, definition.document)
                )

    def _walk_child(self, definition: StackDefinition, spot: _Position) -> Iterator[TreeNode]:
        node = spot.way[-1][0]
        try:
            values, late = _resolve_known_properties(definition, node)
            is_file = issubclass(node.cls, TemplateResource)
            if not is_file:
                self._record_unknown(spot, late)
            child = self._make_child_template(node, values)
            if child is None:
                return
            if not is_file:
                child, late = _split_unknown(child)
            resolved = ResourceDefinition(node.name, node.type, values)
            spec = definition.build_child_spec(node.name, child, resolved)
        except ValidationErrors as error:
            self._add_errors(error, definition, spot)
        except FAULTS as error:
            self._add_open(spot, definition.masked.text(str(error)))
        else:
            yield from self._load_child(definition, spec, late, spot)

    def _make_child_template(
        self, node: ResourceNode, values: Mapping[str, Any]
    ) -> ChildTemplate | None:
        """Make the child template of a resource; raises TemplateError and ValueError."""
        resolved = ResourceDefinition(node.name, node.type, values, raw=node.trees)
        resource = node.cls(node.name, resolved, self._context())
        assert isinstance(resource, NestedStack)
        if isinstance(resource, TemplateResource) and resource.problem is not None:
            raise ValidationErrors([resource.problem])
        try:
            return resource.template_for_validation()
        except ZondaError:
            raise
        except BaseException as error:  # a plug-in may raise anything: this is its border
            raise_interruption(error)
            raise ValueError(f"{type(error).__name__}: {error}") from error

    def _load_child(
        self, above: StackDefinition, spec: ChildSpec, late: frozenset[str], spot: _Position
    ) -> Iterator[TreeNode]:
        family = above.family
        assert isinstance(family, TemplateTree)
        bundle = family.load_context.bundle
        file = spec.file or (spec.text and bundle.file_of(spec.document, spec.text)) or ""
        if file and spot.files.count(file) >= _MOST_REPEATS:
            self._add_open(spot, "the template stands below itself")
            return
        loader = ChildLoader(family, spec, Identity("", "nested", ""), late)
        loader.all_given = False
        loader.run(None)
        faults = [
            each for each in loader.errors if each.code not in (*UNKNOWN_NAMES, PARAMETER_MISSING)
        ]
        try:
            raise_errors(faults, loader.found_document, loader.environment)
        except ValidationErrors as error:
            self._add_errors(error, above, spot)
        if not loader.complete:
            return
        definition = StackDefinition(loader, family, spec)
        yield TreeNode(definition, spec.names, file, frozenset(spec.parameters) | late)
        yield from self._walk_children(definition, spot.enter_file(file))

    def _record_unknown(self, spot: _Position, late: frozenset[str]) -> None:
        if late:
            said = ", ".join(sorted(late))
            self._add_open(spot, f"known later, so that it counts as not given: {said}")

    def _add_errors(self, error: ValidationErrors, above: StackDefinition, spot: _Position) -> None:
        """Add the faults of a nested template, without hidden values of the one ``above`` it."""
        for fault in map(above.masked, error.errors):
            for owner, document in reversed(spot.way):
                fault = add_trace(fault, owner, document)
            self.errors.append(fault)

    def _add_open(self, spot: _Position, why: str) -> None:
        self.open.append(f"{'/'.join(node.name for node, _ in spot.way)}: {why}")


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in the tree: the resources that lead to it, each with the document that it is
    in, and the files that they are.
    """

    way: tuple[tuple[ResourceNode, Document], ...] = ()
    files: tuple[str, ...] = ()

    def enter_resource(self, node: ResourceNode, document: Document) -> _Position:
        """Return the position one resource further."""
        return _Position((*self.way, (node, document)), self.files)

    def enter_file(self, file: str) -> _Position:
        """Return the position one file further."""
        return _Position(self.way, (*self.files, file)) if file else self


def _split_unknown(child: ChildTemplate) -> tuple[ChildTemplate, frozenset[str]]:
    """Split ``child`` into one with the known parameters, and the names of the unknown ones."""
    late = frozenset(name for name, value in child.parameters.items() if has_unknown(value))
    known = {name: value for name, value in child.parameters.items() if name not in late}
    return replace(child, parameters=known), late


def _resolve_known_properties(
    definition: StackDefinition, node: ResourceNode
) -> tuple[dict[str, Any], frozenset[str]]:
    """Resolve the known properties; return also the names of the unknown ones."""
    scope = definition.scope(NullValues())
    scope.begin()
    trees = node.properties
    if isinstance(trees, Function):
        trees = resolve(trees, scope)
    found = resolve_static(trees or {}, scope)
    if not issubclass(node.cls, TemplateResource):
        # What is inside a property is left to the members, who know what it is for.
        late = frozenset(name for name, value in found.items() if value is UNKNOWN)
        return {name: value for name, value in found.items() if name not in late}, late
    unknown = frozenset(name for name, value in found.items() if has_unknown(value))
    known = {name: value for name, value in found.items() if name not in unknown}
    return known, unknown & node.cls.properties_schema.keys()
