"""The reasons for dependencies: the call or key of the template behind each edge of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from zonda.hooks.errors import show_path
from zonda.hooks.function import Function, sources
from zonda.hooks.records import dataclass

from ..syntax.resource import SECTIONS, ResourceNode
from .references import find_reading_calls

DEPENDS_ON, ADDED = "depends_on", "add_dependencies"


@dataclass(frozen=True, slots=True)
class Reason:
    """The origin of an edge: a function's name, ``depends_on``, or ``add_dependencies`` (plug-in).

    ``path``: where it stands, below the resource; ``attribute``: which one is read, if any.
    """

    what: str
    path: str = ""
    attribute: str = ""

    def __str__(self) -> str:
        read = f" {self.attribute}" if self.attribute else ""
        return f"{self.what}{read} at {self.path}" if self.path else self.what


def find_edge_reasons(
    resources: Mapping[str, ResourceNode],
) -> dict[tuple[str, str], tuple[Reason, ...]]:
    """Map (dependant, requirement) to every reason, in the order of the template."""
    found = {}
    for node in resources.values():
        reasons: dict[str, list[Reason]] = {}
        for name, reason in _list_reasons(node):
            if reason not in reasons.setdefault(name, []):
                reasons[name].append(reason)
        for name in sorted(node.requires):
            found[node.name, name] = tuple(reasons.get(name, [Reason(ADDED)]))
    return found


def _list_reasons(node: ResourceNode) -> Iterator[tuple[str, Reason]]:
    for name in node.depends_on:
        yield name, Reason(DEPENDS_ON)
    for section in SECTIONS:
        tree = getattr(node, section)
        calls: dict[str, Function] = {}
        for source in sources(tree):
            if source.kind not in ("ref", "attr"):
                continue
            calls = calls or find_reading_calls(tree)
            call = calls.get(repr(source))
            at = (section,) if call is None else call.path[2:-1]
            what = "get_attr" if source.kind == "attr" else "get_resource"
            attribute = getattr(source, "attribute", None)
            yield (
                source.name,
                Reason(what if call is None else call.name, show_path(at), str(attribute or "")),
            )
