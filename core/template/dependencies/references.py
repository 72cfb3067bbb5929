"""References between resources: requirements, and the attributes that are read.

Called by ``stack.load`` once all resources and outputs are parsed. Dependencies come from
``depends_on`` and from every reference in properties, metadata and update policy; not from text,
not from branches that are not taken, not from conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, takewhile
from typing import Any

from zonda.core.graph.digraph import CycleError, sort_topologically
from zonda.hooks.errors import (
    CircularDependency,
    HiddenIndex,
    Path,
    Related,
    TemplateError,
    show_path,
)
from zonda.hooks.function import Function, Source, sources

from ..source.diagnostics import FUNCTION, MOST_HINTS, make_unknown_reference
from ..syntax.outputs import OutputNode
from ..syntax.resource import SECTIONS, ResourceNode

_KINDS = ("attr", "ref")


class ReadSet:
    """The attributes of each resource that others (nodes, outputs) read."""

    def __init__(self) -> None:
        self._attributes: dict[str, set[str | None]] = {}
        self._paths: dict[str, set[tuple[Any, ...]]] = {}

    def note(self, source: Source) -> None:
        """Record an attribute that is read."""
        if source.kind == "attr":
            self._attributes.setdefault(source.name, set()).add(source.attribute)
            literal = takewhile(lambda item: isinstance(item, str | int), source.path)
            self._paths.setdefault(source.name, set()).add((source.attribute, *literal))

    def paths(self, name: str) -> frozenset[tuple[Any, ...]]:
        """The paths read of ``name``: (attribute, key, index, ...), as far as they are literal."""
        return frozenset(self._paths.get(name, ()))

    def attributes(self, name: str) -> frozenset[str | None]:
        """The attributes of ``name`` that are read; None among them: all of them."""
        return frozenset(self._attributes.get(name, ()))


def resolve_references(
    node: ResourceNode,
    enabled: Mapping[str, Any],
    declared: Mapping[str, Any],
    reads: ReadSet,
    errors: list[TemplateError],
) -> None:
    """Fill in ``node.requires``. Unknown names go to ``errors``.

    ``enabled`` are the resources there are, ``declared`` those of the template: ``depends_on`` of
    a disabled one is dropped silently.
    """
    found: set[str] = set()
    for index, name in enumerate(node.depends_on):
        if name in enabled:
            found.add(name)
        elif name not in declared:
            at: Path = (*node.path, "depends_on")
            if isinstance(node.raw["depends_on"], list):
                at = (*at, index)
            errors.append(
                make_unknown_reference(name, node.name, _select_hint_names(enabled, errors), at)
            )
    for section in SECTIONS:
        tree = getattr(node, section)
        if tree and tree is not node.raw.get(section):
            found.update(_resolve_tree(tree, node, section, enabled, declared, reads, errors))
    node.requires = frozenset() if node.external_id is not None else frozenset(found)


def _resolve_tree(
    tree: Any,
    node: ResourceNode,
    section: str,
    enabled: Mapping[str, Any],
    declared: Mapping[str, Any],
    reads: ReadSet,
    errors: list[TemplateError],
) -> Iterator[str]:
    reported: set[Any] = set()
    calls: dict[str, Function] = {}  # filled in for the first fault
    for source in sources(tree):
        if source.kind not in _KINDS:
            continue
        name = source.name
        if not isinstance(name, str):
            errors.append(_make_name_fault(name, find_reading_call(tree, source)))
        elif name in enabled:
            reads.note(source)
            yield name
        elif name not in reported:
            reported.add(name)
            calls = calls or find_reading_calls(tree)
            call = calls.get(repr(source))
            if call is not None and call.name == "Ref":
                continue  # may be a parameter: what is neither is told once it is resolved
            at = call.path if call is not None else (*node.path, section)
            known = _select_hint_names(enabled, errors)
            fault = make_unknown_reference(name, _format_reference(node, section, at), known, at)
            if name in declared:
                fault.hint = f"{name} is left out by its condition."
            errors.append(fault)


def _select_hint_names(known: Mapping[str, Any], errors: list[TemplateError]) -> Mapping[str, Any]:
    """Select the names for a hint: none once there are many faults, since a search is slow."""
    return known if len(errors) < MOST_HINTS else {}


def find_circle(nodes: Mapping[str, ResourceNode], hint: str) -> CircularDependency | None:
    """Find a circle of requirements; its edges tell why each resource needs the next one."""
    try:
        sort_topologically({name: node.requires for name, node in nodes.items()})
    except CycleError as ring:
        names = [str(name) for name in ring.keys]
        return CircularDependency(
            f"Circular Dependency Found: {' -> '.join(names)}",
            ring=names,
            edges=[_explain_edge(nodes[name], other) for name, other in pairwise(names)],
            at=nodes[names[0]].path,
            hint=hint,
        )
    return None


def _explain_edge(node: ResourceNode, other: str) -> Related:
    at = _find_reason(node, other)
    return Related(f"{node.name} needs {other}: {show_path(at)}", at=at)


def _find_reason(node: ResourceNode, other: str) -> Path:
    if other in node.depends_on:
        written = node.raw["depends_on"]
        at: Path = (*node.path, "depends_on")
        return (*at, written.index(other)) if isinstance(written, list) else at
    for section in SECTIONS:
        tree = getattr(node, section)
        for source in sources(tree):
            if source.kind in _KINDS and source.name == other:
                call = find_reading_call(tree, source)
                return (*node.path, section) if call is None else call.path
    return node.path


def record_outputs(
    outputs: Mapping[str, OutputNode], reads: ReadSet, errors: list[TemplateError]
) -> None:
    """Record what outputs read; an unknown name is the output's own error when it is read."""
    for output in outputs.values():
        for source in sources(output.value):
            if source.kind not in _KINDS:
                continue
            if isinstance(source.name, str):
                reads.note(source)
            else:
                errors.append(
                    _make_name_fault(source.name, find_reading_call(output.value, source))
                )


def _format_reference(node: ResourceNode, section: str, at: Path) -> str:
    """Heat's path of a reference: ``web.Properties.networks[0]``, without the function itself."""
    shown = f"{node.name}.{SECTIONS[section]}"
    for item in at[3:-1]:
        if not isinstance(item, HiddenIndex):
            shown += f"[{item}]" if isinstance(item, int) else f".{item}"
    return shown


def find_reading_call(tree: Any, source: Source) -> Function | None:
    """The innermost call in ``tree`` that reads ``source``."""
    return find_reading_calls(tree).get(repr(source))


def find_reading_calls(tree: Any) -> dict[str, Function]:
    """By source (its ``repr``) the innermost call in ``tree`` that reads it."""
    found: dict[str, Function] = {}
    if isinstance(tree, Function):
        found = find_reading_calls(tree.args)
        for source in tree.sources():
            found.setdefault(repr(source), tree)
        return found
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for child in children:
        if isinstance(child, Function | dict | list):
            for mark, call in find_reading_calls(child).items():
                found.setdefault(mark, call)
    return found


def _make_name_fault(name: Any, call: Function | None) -> TemplateError:
    return TemplateError(
        f"A resource is named by text, not by {name!r}",
        path=() if call is None else call.path,
        code=FUNCTION,
        heat_type="TypeError",
    )
