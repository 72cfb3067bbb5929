"""What resources read of each other: requirements, and which attributes are asked for.

Called by ``stack.load`` once all resources and outputs are parsed. Dependencies come from
``depends_on`` and from every reference in properties, metadata and update policy; not from text,
not from branches that are not taken, not from conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

from zonda.hooks.errors import Path, Related, TemplateError, Unshown, show_path
from zonda.hooks.function import Function, Source, sources

from ..source.diagnostics import FUNCTION, MOST_HINTS, unknown_reference
from ..syntax.outputs import OutputNode
from ..syntax.resource import SECTIONS, ResourceNode

_KINDS = ("attr", "ref")


class Reads:
    """All that is read: per resource, the attributes that others (nodes, outputs) ask for."""

    def __init__(self) -> None:
        self._attributes: dict[str, set[str | None]] = {}
        self._paths: dict[str, set[tuple[Any, ...]]] = {}

    def note(self, source: Source) -> None:
        """Remember an attribute that somebody reads."""
        if source.kind == "attr":
            self._attributes.setdefault(source.name, set()).add(source.attribute)
            literal = takewhile(lambda item: isinstance(item, str | int), source.path)
            self._paths.setdefault(source.name, set()).add((source.attribute, *literal))

    def paths(self, name: str) -> frozenset[tuple[Any, ...]]:
        """What is read of ``name``: (attribute, key, index, ...), as far as it is written out."""
        return frozenset(self._paths.get(name, ()))

    def attributes(self, name: str) -> frozenset[str | None]:
        """The attributes of ``name`` that are read; None among them: all of them."""
        return frozenset(self._attributes.get(name, ()))


def connect(
    node: ResourceNode,
    enabled: Mapping[str, Any],
    declared: Mapping[str, Any],
    reads: Reads,
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
            errors.append(unknown_reference(name, node.name, _hinted(enabled, errors), at))
    for section in SECTIONS:
        tree = getattr(node, section)
        if tree and tree is not node.raw.get(section):
            found.update(_read(tree, node, section, enabled, declared, reads, errors))
    node.requires = frozenset() if node.external_id is not None else frozenset(found)


def _read(
    tree: Any,
    node: ResourceNode,
    section: str,
    enabled: Mapping[str, Any],
    declared: Mapping[str, Any],
    reads: Reads,
    errors: list[TemplateError],
) -> Iterator[str]:
    reported: set[Any] = set()
    calls: dict[str, Function] = {}  # filled in for the first fault
    for source in sources(tree):
        if source.kind not in _KINDS:
            continue
        name = source.name
        if not isinstance(name, str):
            errors.append(_no_name(name, call_that_reads(tree, source)))
        elif name in enabled:
            reads.note(source)
            yield name
        elif name not in reported:
            reported.add(name)
            calls = calls or calls_that_read(tree)
            call = calls.get(repr(source))
            if call is not None and call.name == "Ref":
                continue  # may be a parameter: what is neither is told once it is resolved
            at = call.path if call is not None else (*node.path, section)
            known = _hinted(enabled, errors)
            fault = unknown_reference(name, _shown(node, section, at), known, at)
            if name in declared:
                fault.hint = f"{name} is left out by its condition."
            errors.append(fault)


def _hinted(known: Mapping[str, Any], errors: list[TemplateError]) -> Mapping[str, Any]:
    """The names to look for a hint in: none once there are many faults, since looking is slow."""
    return known if len(errors) < MOST_HINTS else {}


def edges(ring: Sequence[str], nodes: Mapping[str, ResourceNode]) -> list[Related]:
    """What makes each resource of a ring need the next one: a call, or ``depends_on``."""
    return [_edge(nodes[name], other) for name, other in pairwise(ring)]


def _edge(node: ResourceNode, other: str) -> Related:
    at = _reason(node, other)
    return Related(f"{node.name} needs {other}: {show_path(at)}", at=at)


def _reason(node: ResourceNode, other: str) -> Path:
    if other in node.depends_on:
        written = node.raw["depends_on"]
        at: Path = (*node.path, "depends_on")
        return (*at, written.index(other)) if isinstance(written, list) else at
    for section in SECTIONS:
        tree = getattr(node, section)
        for source in sources(tree):
            if source.kind in _KINDS and source.name == other:
                call = call_that_reads(tree, source)
                return (*node.path, section) if call is None else call.path
    return node.path


def note_outputs(
    outputs: Mapping[str, OutputNode], reads: Reads, errors: list[TemplateError]
) -> None:
    """Note what outputs read; an unknown name is the output's own error when it is read."""
    for output in outputs.values():
        for source in sources(output.value):
            if source.kind not in _KINDS:
                continue
            if isinstance(source.name, str):
                reads.note(source)
            else:
                errors.append(_no_name(source.name, call_that_reads(output.value, source)))


def _shown(node: ResourceNode, section: str, at: Path) -> str:
    """Heat's path of a reference: ``web.Properties.networks[0]``, without the function itself."""
    shown = f"{node.name}.{SECTIONS[section]}"
    for item in at[3:-1]:
        if not isinstance(item, Unshown):
            shown += f"[{item}]" if isinstance(item, int) else f".{item}"
    return shown


def call_that_reads(tree: Any, source: Source) -> Function | None:
    """The innermost call in ``tree`` that reads ``source``."""
    return calls_that_read(tree).get(repr(source))


def calls_that_read(tree: Any) -> dict[str, Function]:
    """By source (its ``repr``) the innermost call in ``tree`` that reads it."""
    found: dict[str, Function] = {}
    if isinstance(tree, Function):
        found = calls_that_read(tree.args)
        for source in tree.sources():
            found.setdefault(repr(source), tree)
        return found
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for child in children:
        if isinstance(child, Function | dict | list):
            for mark, call in calls_that_read(child).items():
                found.setdefault(mark, call)
    return found


def _no_name(name: Any, call: Function | None) -> TemplateError:
    return TemplateError(
        f"A resource is named by text, not by {name!r}",
        path=() if call is None else call.path,
        code=FUNCTION,
        heat_type="TypeError",
    )
