"""Static reads: the sources that the text of a template names, in every branch of conditions.

Called by ``secrecy_below``, which has to know what an output may hold before there are any values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from zonda.hooks.function import Source, sources

from ..evaluation.scope import Valueless

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
