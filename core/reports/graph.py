"""The graph of a stack or a template: resources with their states, and the reason of each edge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from zonda.core.engine.model.states import PRESENT
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.dependencies.edge_reasons import Reason, find_edge_reasons
from zonda.core.template.load import StackDefinition
from zonda.hooks.records import dataclass, replace

#: An edge that was stored with an instance, and that no template at hand explains.
STORED = "an earlier template"
#: The reason for a part below its owner.
NESTED = "nested in it"
#: The suffix of the name of an instance that is to be deleted.
LEAVING = " (leaving)"


@dataclass(frozen=True, slots=True)
class Node:
    """One resource. ``state`` is '' where there is none; ``look`` is its style.

    ``owner``: the resource whose nested stack it is in, '' for none; its name begins with that.
    ``id``: that of the instance, '' where there is none.
    """

    name: str
    type: str
    state: str = ""
    reason: str = ""
    owner: str = ""
    id: str = ""

    @property
    def look(self) -> str:
        """The style: ``failed``, ``progress``, ``complete``, ``init`` or ``none``."""
        if not self.state:
            return "none"
        if self.state.startswith("INIT"):
            return "init"
        ends = {"FAILED": "failed", "IN_PROGRESS": "progress"}
        return ends.get(self.state.partition("_")[2], "complete")


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge: ``dependant`` needs ``requirement``, for each of ``reasons``."""

    dependant: str
    requirement: str
    reasons: tuple[str, ...]

    @property
    def label(self) -> str:
        """All reasons as one text."""
        return "; ".join(self.reasons)


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph; nodes in the order of the template, nested ones last. ``title`` names it."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @property
    def requires(self) -> dict[str, list[str]]:
        """The requirements and nested resources of each name."""
        found: dict[str, list[str]] = {node.name: [] for node in self.nodes}
        for edge in (*self.edges, *self.nested):
            found[edge.dependant].append(edge.requirement)
        return found

    @property
    def nested(self) -> tuple[Edge, ...]:
        """The edges from each owner to the roots of its nested stack."""
        required = {edge.requirement for edge in self.edges}
        tops = (node for node in self.nodes if node.owner and node.name not in required)
        return tuple(Edge(node.owner, node.name, (NESTED,)) for node in tops)

    @property
    def members(self) -> dict[str, list[Node]]:
        """The nodes of each owner's nested stack; under '' those of the root stack."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.owner, []).append(node)
        return found

    def put_below(self, owner: str) -> Graph:
        """Return the graph as the nested stack of ``owner``."""
        nodes = (replace(node, name=f"{owner}/{node.name}", owner=owner) for node in self.nodes)
        edges = (
            Edge(f"{owner}/{edge.dependant}", f"{owner}/{edge.requirement}", edge.reasons)
            for edge in self.edges
        )
        return Graph(self.title, tuple(nodes), tuple(edges))

    def join(self, *others: Graph) -> Graph:
        """Return the graph together with those of its nested stacks."""
        parts = (self, *others)
        nodes = tuple(node for part in parts for node in part.nodes)
        return Graph(self.title, nodes, tuple(edge for part in parts for edge in part.edges))


def build_template_graph(definition: StackDefinition, title: str) -> Graph:
    """Build the graph of a template without a stack."""
    nodes = [Node(name, node.type) for name, node in definition.resources.items()]
    return Graph(
        title, tuple(nodes), tuple(_build_edges(find_edge_reasons(definition.resources), nodes))
    )


def build_stack_graph(
    title: str, rows: Sequence[ResourceRow], definition: StackDefinition | None
) -> Graph:
    """Build the graph of a stack: the resources of its template, and leftover instances.

    ``definition`` None: the template cannot be read, so that no edge can be explained.
    """
    known = {} if definition is None else dict(definition.resources)
    reasons: dict[tuple[str, str], tuple[Reason, ...]] = find_edge_reasons(known)
    present = {row.name: row for row in rows if row.want == PRESENT}
    nodes = [_build_node(name, known.get(name), present.get(name)) for name in {**known, **present}]
    names = {node.name for node in nodes}
    for row in rows:
        name = row.name
        if row.want != PRESENT:
            name += LEAVING
            nodes.append(_build_node(name, None, row))
            names.add(name)
        for other in json.loads(row.requires) if name not in known else ():
            reasons.setdefault((name, other), (Reason(STORED),))
    return Graph(title, tuple(nodes), tuple(_build_edges(reasons, nodes)))


def _build_node(name: str, node: Any, row: ResourceRow | None) -> Node:
    if row is None:
        return Node(name, node.type)
    state = f"{row.op}_IN_PROGRESS" if row.op else f"{row.action}_{row.status}"
    reason = row.status_reason if row.status == "FAILED" else ""
    return Node(name, row.type, state, reason, id=row.id)


def _build_edges(
    reasons: Mapping[tuple[str, str], tuple[Reason, ...]], nodes: Sequence[Node]
) -> list[Edge]:
    names = {node.name for node in nodes}
    return [
        Edge(dependant, requirement, tuple(map(str, why)))
        for (dependant, requirement), why in reasons.items()
        if requirement in names and dependant in names
    ]
