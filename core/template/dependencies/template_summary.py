"""Summary of a template from its text alone: parameters, resources, and the sources it reads.

Called by ``nested.sensitivity``, which has to know what an output may hold before there are any
values: in every branch of conditions. Each part is only looked into when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain
from typing import Any

from zonda.hooks.function import Source, sources
from zonda.hooks.records import dataclass, field

from ..evaluation.scope import Valueless
from ..source.document import get_section
from ..syntax.resource import ResourceNode


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
        for name, entry in get_section(data, "resources").items()
        if isinstance(entry, Mapping) and isinstance(entry.get("type"), str)
    }
    outputs = {
        str(name): ReferenceCollector(entry.get("value"))
        for name, entry in get_section(data, "outputs").items()
        if isinstance(entry, Mapping)
    }
    nodes = LazyNodes(entries.keys(), lambda name: _build_node(name, entries))
    return TemplateSummary(get_section(data, "parameters"), nodes, outputs)


def _build_node(name: str, entries: Mapping[str, Mapping[str, Any]]) -> ResourceNode:
    """Build one resource of a template, with all sources that it reads."""
    entry = entries[name]
    properties = entry.get("properties") or {}
    node = build_partial_node(name, entry["type"], build_static_tree(properties))
    node.requires = frozenset({read.name for read in collect_sources(properties)} & entries.keys())
    node.metadata, node.update_policy = (
        ReferenceCollector(tree) if tree else {}
        for tree in (entry.get("metadata"), entry.get("update_policy"))
    )
    return node


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


_CONTAINERS = (dict, list)
#: Stands for every parameter: a name is only put together later.
ANY = "*"


class StaticReference(Valueless):
    """A call that reads something. It only lists its sources: it has no value."""

    __slots__ = ("_sources",)

    def __init__(self, name: str, args: Any, own: list[Source]) -> None:
        super().__init__(name, args)
        self._sources = own

    def sources(self) -> Iterator[Source]:
        """The sources that the call reads, its arguments included."""
        yield from self._sources
        yield from sources(self.args)


class ReferenceCollector(Valueless):
    """A whole value as one function that only lists its sources, each of them once."""

    __slots__ = ("_found",)

    def __init__(self, tree: Any) -> None:
        super().__init__(args=tree)
        self._found: list[Source] | None = None

    def sources(self) -> Iterator[Source]:
        """The sources of the value; collected on the first call."""
        if self._found is None:
            self._found = collect_sources(self.args)
        return iter(self._found)


def collect_sources(tree: Any) -> list[Source]:
    """Collect the sources of ``mentioned(tree)``, in that order, each once."""
    found: list[Source] = []
    told: set[tuple[Any, str]] = set()
    waiting = [tree] if type(tree) in _CONTAINERS else []
    while waiting:
        value = waiting.pop()
        items = value.values() if type(value) is dict else value
        if len(value) == 1 and items is not value:
            ((name, args),) = value.items()
            mark = (name, repr(args)) if name in _READS else None
            if mark is not None and mark not in told:
                told.add(mark)
                found += _READS[name](args)
        inside = [item for item in items if type(item) in _CONTAINERS]
        waiting += reversed(inside)
    return found


def build_static_tree(tree: Any) -> Any:
    """Build ``tree`` with every call that reads something as a ``StaticReference``."""
    kind = type(tree)
    if kind is list:
        return [item if type(item) is str else build_static_tree(item) for item in tree]
    if kind is str or kind is int or kind is bool or not isinstance(tree, Mapping):
        return tree
    if len(tree) == 1:
        ((name, args),) = tree.items()
        if name in _READS:
            return StaticReference(name, build_static_tree(args), list(_READS[name](args)))
    return {
        key: item if type(item) is str else build_static_tree(item) for key, item in tree.items()
    }


def find_parameter(tree: Any) -> str | None:
    """Find the parameter whose value ``tree`` is, or a part of it; None for anything else."""
    if not isinstance(tree, StaticReference) or tree.name != "get_param":
        return None
    read = tree.args[0] if isinstance(tree.args, list) and tree.args else tree.args
    return read if isinstance(read, str) else None


def _list_parameters(args: Any) -> Iterator[Source]:
    name = args[0] if isinstance(args, list) and args else args
    yield Source("param", name if isinstance(name, str) else ANY)


def _list_attributes(args: Any) -> Iterator[Source]:
    if isinstance(args, str):
        args = args.split(".", 1)
    name, attribute, *path = [*args, None, None] if isinstance(args, list) else [None, None]
    if not isinstance(name, str):
        yield Source("attr", ANY)
    elif isinstance(attribute, str):
        yield Source("attr", name, attribute, tuple(path[:-2]))
    else:
        yield Source("attr", name)


def _list_references(args: Any) -> Iterator[Source]:
    yield Source("ref", args if isinstance(args, str) else ANY)


def _list_facade(args: Any) -> Iterator[Source]:
    yield Source("facade", str(args))


_READS = {
    "get_param": _list_parameters,
    "get_attr": _list_attributes,
    "get_resource": _list_references,
    "resource_facade": _list_facade,
    "Ref": lambda args: chain(_list_parameters(args), _list_references(args)),
    "Fn::GetAtt": _list_attributes,
    "Fn::ResourceFacade": _list_facade,
}
