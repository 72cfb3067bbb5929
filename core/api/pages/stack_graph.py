"""The graph of a stack as a part of its page: the picture, folded where it would be too large.

Called by the handlers of the pages.
"""

from __future__ import annotations

from collections.abc import Callable

from zonda.core.app.inspection import StackInspector
from zonda.core.reports.svg import PageParts, draw_svg
from zonda.core.store.read.views import StackView
from zonda.hooks.records import dataclass

from ..service.project import Project

#: Resources that are drawn one by one; of larger stacks the nested ones are one node each.
MOST_NODES = 400
#: Levels of nested stacks that are drawn.
_DEPTH = 5


@dataclass(frozen=True, slots=True)
class StackPicture:
    """The picture of a stack, '' where a table says more. ``note``: what it leaves out, or ''."""

    svg: str
    note: str = ""


def draw_stack(
    project: Project, stack: StackView, build_link: Callable[[str], str]
) -> StackPicture:
    """Draw a stack. ``build_link``: the URL of a resource, by its path from this stack on."""
    inspector = StackInspector(project.reader, lambda: project.service.app.template_loader)
    is_large = len(project.reader.tree_resources(stack.root_id)) > MOST_NODES
    graph, unknown = inspector.build_graph(stack, 0 if is_large else _DEPTH)
    count = len(graph.nodes)
    if not count:
        return StackPicture("")
    if count > MOST_NODES:
        return StackPicture("", f"{count} resources are too many for a picture: see the table.")
    notes = [f"The edges cannot be explained: {unknown}"] if unknown else []
    if is_large:
        notes.append("The stack is large: its nested stacks are one node each.")
    lines = draw_svg(graph, PageParts(stack.id, build_link))
    return StackPicture("\n".join(lines), " ".join(notes))
