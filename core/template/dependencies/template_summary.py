"""What a template mentions, told from its text alone: read once, whoever asks at whatever place.

Called by ``secrecy_below``. Of a large tree few resources and outputs are asked for, so that each
is only looked into then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..syntax.resource import ResourceNode
from .static_reads import ReferenceCollector, mentioned, read_in

_POLICY = "update_policy"


@dataclass(slots=True)
class TemplateSummary:
    """One file, read for what it mentions."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, ResourceNode] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)


class Nodes(Mapping[str, ResourceNode]):
    """Nodes that are made when they are asked for: of most nobody wants to know."""

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


def facts_in(data: Any) -> TemplateSummary:
    """What a template mentions, before anybody knows what its types mean."""
    if not isinstance(data, Mapping):
        return TemplateSummary()
    entries = {
        str(name): entry
        for name, entry in _section(data, "resources").items()
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str)
    }
    outputs = {
        str(name): ReferenceCollector(entry.get("value"))
        for name, entry in _section(data, "outputs").items()
        if isinstance(entry, Mapping)
    }
    nodes = Nodes(entries.keys(), lambda name: _node_of(name, entries))
    return TemplateSummary(_section(data, "parameters"), nodes, outputs)


def _node_of(name: str, entries: Mapping[str, Mapping[str, Any]]) -> ResourceNode:
    """One of the resources of a template, with all that it mentions."""
    entry = entries[name]
    properties = entry.get("properties") or {}
    node = node_of_type(name, entry["type"], mentioned(properties))
    node.requires = frozenset({read.name for read in read_in(properties)} & entries.keys())
    node.metadata, node.update_policy = map(_reading, (entry.get("metadata"), entry.get(_POLICY)))
    return node


def _reading(tree: Any) -> Any:
    return ReferenceCollector(tree) if tree else {}


def _section(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = data.get(name)
    return section if isinstance(section, Mapping) else {}


def node_of_type(name: str, type_: str, properties: Any) -> ResourceNode:
    """A resource of which only is known what has to do with secrets."""
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
