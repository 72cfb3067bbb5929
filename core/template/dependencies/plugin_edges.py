"""The edges that plug-ins add to the graph (``add_dependencies``). Called by ``loader``.

A plug-in that fails here is a fault when a template is validated. When a stored template is read
again its edges are left out instead, so that its stack can still be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, Protocol, cast

from zonda.hooks.context import ResourceContext
from zonda.hooks.errors import PluginError, TemplateError
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.resources.dependencies import Dependencies, Neighbour
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners.references import StackRef
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception

from ..evaluation.scope import Scope
from ..source.bundle import Identity
from ..source.diagnostics import OWN_CHECK
from ..syntax.resource import ResourceNode
from .references import find_circle

Edge = tuple[str, str]


class Surroundings(Protocol):
    """The tree of stacks that a template belongs to (``loader.LoadContext``)."""

    @property
    def root_stack(self) -> str:
        """The name of the stack at the top."""

    @property
    def is_shared(self) -> bool:
        """Whether a server tells projects apart."""


class _GraphContext:
    """The context of ``add_dependencies``: there is no resource yet to act on."""

    operation = None

    def __init__(self, identity: Identity, around: Surroundings) -> None:
        self.stack = StackRef(identity.stack_id, identity.stack_name, identity.project_id)
        self.root_stack = around.root_stack
        self.is_shared = around.is_shared

    def __getattr__(self, name: str) -> NoReturn:
        raise PluginError(f"add_dependencies may not use {name}: it only reads the template")


def add_plugin_edges(
    nodes: Mapping[str, ResourceNode], scope: Scope, identity: Identity, tree: Surroundings
) -> list[TemplateError]:
    """Add the edges of plug-ins to the ``requires`` of ``nodes``; return the faults.

    Edges of a plug-in that fails, and all of them if they make a circle, are left out.
    """
    asked = [node for node in nodes.values() if _adds_edges(node)]
    if not asked:
        return []
    context = cast(ResourceContext, _GraphContext(identity, tree))
    around = {name: _build_neighbour(node, scope) for name, node in nodes.items()}
    faults: list[TemplateError] = []
    added: list[Edge] = []
    for node in asked:
        others = {name: each for name, each in around.items() if name != node.name}
        try:
            added += _collect_edges(node, others, around[node.name].properties, context)
        except BaseException as error:  # the border: a plug-in may raise anything
            raise_interruption(error)
            faults.append(_make_fault(node, error))
    faults += _apply_edges(nodes, added)
    return faults


def _adds_edges(node: ResourceNode) -> bool:
    own = node.cls.add_dependencies is not Resource.add_dependencies
    return own and node.external_id is None


def _build_neighbour(node: ResourceNode, scope: Scope) -> Neighbour:
    def properties() -> Mapping[str, Any]:
        try:
            return node.try_properties(scope, (*node.path, "properties"))[0]
        except TemplateError:  # told by the checks of the template
            return {}

    return Neighbour(node.name, node.type, node.cls, properties)


def _collect_edges(
    node: ResourceNode,
    others: Mapping[str, Neighbour],
    properties: Mapping[str, Any],
    context: ResourceContext,
) -> list[Edge]:
    definition = ResourceDefinition(
        node.name, node.type, properties, depends_on=node.depends_on, raw=node.trees
    )
    found = Dependencies(node.name, others)
    node.cls(node.name, definition, context).add_dependencies(found)
    return found.added


def _apply_edges(nodes: Mapping[str, ResourceNode], added: list[Edge]) -> Iterator[TemplateError]:
    before = {name: node.requires for name, node in nodes.items()}
    for dependant, requirement in added:
        node = nodes[dependant]
        if node.external_id is None:
            node.requires |= {requirement}
    circle = find_circle(nodes, "A plug-in adds a dependency of its own to this circle.")
    if circle is not None:
        yield circle
        for name, requires in before.items():
            nodes[name].requires = requires


def _make_fault(node: ResourceNode, error: BaseException) -> TemplateError:
    fault = TemplateError(
        f"{node.type} cannot say what {node.name} depends on: {describe_exception(error)}",
        path=node.path,
        code=OWN_CHECK,
    )
    fault.__cause__ = error
    return fault
