"""Summary of a template from its text alone: parameters, resources, and the sources it reads.

Called by ``secrecy_below``. Of a large tree few resources and outputs are asked for, so that each
is only looked into then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..syntax.resource import ResourceNode
from .static_reads import ReferenceCollector, build_static_tree, collect_sources

_POLICY = "update_policy"


@dataclass(slots=True)
class TemplateSummary:
    """The summary of one file."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, ResourceNode] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


class LazyNodes(Mapping[str, ResourceNode]):
    """A map of resource nodes that builds each node on its first access."""

    def __init__(self, names: Collection[str], make: Callable[[str], ResourceNode]) -> None:
        self._names = names
        self._make = make
        self._made: dict[str, ResourceNode] = {}

    def __getitem__(self, name: str) -> ResourceNode:
        known = self._made.get(name)
        if known is None:
            if name not in self._names:
                raise KeyError(name)
            known = self._made[name] = self._make(name)
        return known

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def summarize_template(data: Any) -> TemplateSummary:
    """Summarize a template, before the meaning of its types is known."""
    if not isinstance(data, Mapping):
        return TemplateSummary()
    entries = {
        str(name): entry
        for name, entry in _get_section(data, "resources").items()
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str)
    }
    outputs = {
        str(name): ReferenceCollector(entry.get("value"))
        for name, entry in _get_section(data, "outputs").items()
        if isinstance(entry, Mapping)
    }
    nodes = LazyNodes(entries.keys(), lambda name: _build_node(name, entries))
    return TemplateSummary(_get_section(data, "parameters"), nodes, outputs)


def _build_node(name: str, entries: Mapping[str, Mapping[str, Any]]) -> ResourceNode:
    """Build one resource of a template, with all sources that it reads."""
    entry = entries[name]
    properties = entry.get("properties") or {}
    node = build_partial_node(name, entry["type"], build_static_tree(properties))
    node.requires = frozenset({read.name for read in collect_sources(properties)} & entries.keys())
    node.metadata, node.update_policy = map(
        _collect_references, (entry.get("metadata"), entry.get(_POLICY))
    )
    return node


def _collect_references(tree: Any) -> Any:
    return ReferenceCollector(tree) if tree else {}


def _get_section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = data.get(name)
    return section if isinstance(section, Mapping) else {}


def build_partial_node(name: str, type_: str, properties: Any) -> ResourceNode:
    """Build a resource with only those parts that matter for secrets."""
    return ResourceNode(
        name=name,
        type=type_,
        raw={},
        properties=properties,
        metadata={},
        update_policy={},
        depends_on=(),
        deletion_policy="",
        external_id=None,
        description="",
    )
