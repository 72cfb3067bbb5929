"""A graph as an SVG picture, drawn without another program.

States are told by words and by borders as well as by colour; every part has a title, which
browsers show under the pointer and screen readers read out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from xml.sax.saxutils import escape

from zonda.core.graph.layout import WIDEST, Layout, compute_layout
from zonda.hooks.records import dataclass
from zonda.hooks.text.sanitize import escape_control_chars

from .drawing import FILLS, format_tooltip
from .graph import LEAVING, NESTED, Edge, Graph, Node

#: Sizes in pixels.
HEIGHT, GAPS, MARGIN = 58.0, (18.0, 56.0), 20.0
#: Resources side by side in a page, where a picture may be high and not wide.
_WIDEST_OF_PAGE = 6
#: Bounds of the width of a node in a page: any state fits into it, since states change there.
_PAGE_WIDTHS = (164.0, 220.0)
_LETTER, _WIDTHS = 7.2, (90.0, 260.0)
_BORDERS = {"failed": "stroke-width:3", "progress": "stroke-dasharray:6 3;stroke-width:2"}
_STYLE = (
    "text{font:12px sans-serif;text-anchor:middle;fill:#111}"
    ".name{font-weight:bold;font-size:13px}"
    ".edge path{fill:none;stroke:#777;stroke-width:1.2}"
    ".nested path{stroke-dasharray:2 4}"
    ".edge:hover path{stroke:#000;stroke-width:2.5}"
)


@dataclass(frozen=True, slots=True)
class PageParts:
    """A page that the picture is part of; its style sheet has the colours.

    ``stack_id``: the id of its stack, by which events find the nodes. ``build_link``: the URL of a
    resource, by its path.
    """

    stack_id: str
    build_link: Callable[[str], str]


def draw_svg(graph: Graph, page: PageParts | None = None) -> Iterator[str]:
    """Draw the picture, line by line; an arrow leads up to what is required.

    ``page`` None: a picture of its own, with its colours.
    """
    widest, bounds = (WIDEST, _WIDTHS) if page is None else (_WIDEST_OF_PAGE, _PAGE_WIDTHS)
    widths = {node.name: _compute_width(node, bounds) for node in graph.nodes}
    placed = compute_layout(graph.requires, widths, height=HEIGHT, gaps=GAPS, widest=widest)
    width, height = (side + 2 * MARGIN for side in placed.size)
    # The parts of a picture cannot be reached one by one, those of a group can.
    role = "img" if page is None else "group"
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="{role}" '
        'aria-labelledby="graph-title graph-desc">'
    )
    yield f'<title id="graph-title">{_escape_text(graph.title)}</title>'
    desc = f"{len(graph.nodes)} resources; an arrow leads to what a resource needs."
    yield f'<desc id="graph-desc">{_escape_text(desc)}</desc>'
    if page is None:
        yield f"<style>{_STYLE}{''.join(_draw_classes())}</style>"
    yield (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#777"/></marker></defs>'
    )
    if page is None:
        yield f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>'
    yield f'<g transform="translate({MARGIN:.0f},{MARGIN:.0f})">'
    for edge in (*graph.edges, *graph.nested):
        yield from _draw_edge(edge, placed)
    for node in graph.nodes:
        parts = _draw_node(node, placed.at[node.name], widths[node.name])
        if page is None:
            parts = chain((f'<g class="node {node.look}">',), parts, ("</g>",))
        else:
            parts = _draw_page_node(node, page, parts)
        yield from parts
    yield "</g>"
    yield "</svg>"


def _draw_classes() -> Iterator[str]:
    for look, (fill, border) in FILLS.items():
        yield f".{look} rect{{fill:{fill};stroke:{border};{_BORDERS.get(look, '')}}}"


def _compute_width(node: Node, bounds: tuple[float, float]) -> float:
    longest = max(len(escape_control_chars(node.name)) * 1.1, len(node.type), len(node.state))
    return min(max(longest * _LETTER + 20, bounds[0]), bounds[1])


def _draw_node(node: Node, at: tuple[float, float], width: float) -> Iterator[str]:
    x, y = at
    yield f"<title>{_escape_text(format_tooltip(node))}</title>"
    yield (
        f'<rect x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{HEIGHT:.0f}" rx="6"/>'
    )
    letters = int((width - 16) / _LETTER)
    state = f' data-state="{_escape_attribute(node.state)}"'
    lines = ((node.name, -10, ' class="name"'), (node.type, 6, ""), (node.state, 22, state))
    for text, down, kind in lines:
        shown = _escape_text(_truncate(escape_control_chars(text), letters))
        yield f'<text{kind} x="{x:.1f}" y="{y + down:.1f}">{shown}</text>'


def _draw_page_node(node: Node, page: PageParts, lines: Iterator[str]) -> Iterator[str]:
    """Draw a node that leads to its resource, and that events find."""
    path = node.name.removesuffix(LEAVING)
    digest = hashlib.sha256(f"{node.name} {node.id}".encode()).hexdigest()[:16]
    marks = {"data-stack": page.stack_id, "data-resource": path, "data-id": node.id}
    shown = " ".join(f'{name}="{_escape_attribute(text)}"' for name, text in marks.items())
    yield f'<a href="{_escape_attribute(page.build_link(path))}">'
    yield f'<g class="node {node.look}" id="n-{digest}" {shown}>'
    yield from lines
    yield "</g></a>"


def _draw_edge(edge: Edge, placed: Layout) -> Iterator[str]:
    start, end = placed.at[edge.dependant], placed.at[edge.requirement]
    bends = placed.bends.get((edge.dependant, edge.requirement), ())
    points = [(start[0], start[1] - HEIGHT / 2), *bends, (end[0], end[1] + HEIGHT / 2)]
    is_nested = edge.reasons == (NESTED,)
    verb = "has" if is_nested else "needs"
    title = f"{edge.dependant} {verb} {edge.requirement}: {edge.label}"
    yield f'<g class="edge{" nested" if is_nested else ""}"><title>{_escape_text(title)}</title>'
    yield f'<path d="{_draw_curve(points)}" marker-end="url(#head)"/></g>'


def _draw_curve(points: Sequence[tuple[float, float]]) -> str:
    """Draw a curve through all points, vertical at each of them."""
    path = f"M{points[0][0]:.1f},{points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) / 2
        path += f" C{x:.1f},{middle:.1f} {to_x:.1f},{middle:.1f} {to_x:.1f},{to_y:.1f}"
    return path


def _truncate(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: max(letters - 1, 1)] + "…"


def _escape_text(text: str) -> str:
    """Escape a text that is shown, with its control characters spelt out."""
    return escape(escape_control_chars(text))


def _escape_attribute(text: str) -> str:
    """Escape a text for XML, without characters that XML 1.0 cannot hold."""
    allowed = "".join(letter if _is_allowed(letter) else "\ufffd" for letter in text)
    return escape(allowed, {'"': "&quot;"})


def _is_allowed(letter: str) -> bool:
    code = ord(letter)
    return letter in "\t\n\r" or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF
