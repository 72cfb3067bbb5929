"""``zonda stack graph`` and ``zonda template graph``: dependencies and their reasons."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from zonda.hooks.errors import UsageError

from ..arguments import ANY_STACK, argument, takes
from ..console import formats, sanitize
from ..console.console import Screen
from ..options import nested, template
from ..session import Session

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.graph import Graph

FORMATS = ("text", "dot", "mermaid", "svg", "json")
#: File suffix -> format.
_BY_SUFFIX = {
    "": "text",
    ".txt": "text",
    ".gv": "dot",
    ".dot": "dot",
    ".mmd": "mermaid",
    ".svg": "svg",
    ".json": "json",
}
_COLOURS = {"failed": "red", "progress": "yellow", "complete": "green"}


_OUTPUT = (
    argument("-f", "--format", choices=FORMATS, help="default: as FILE ends, else text"),
    argument("-o", "--output", metavar="FILE", help="write it there"),
)


@takes(ANY_STACK, nested.depth("resources"), *_OUTPUT)
def graph(session: Session, arguments: argparse.Namespace) -> None:
    """Draw the graph of a stack, with the states of its resources."""
    stack = session.app.stacks.find(arguments.stack)
    found, untold = session.app.inspector.build_graph(stack, nested.get_depth(arguments))
    if untold:
        session.screen.say(f"The edges cannot be explained: {untold}")
    _write_graph(session.screen, found, arguments)


@takes(
    argument("file", metavar="FILE", nargs="?", help="the template, also given with -t"),
    template.add_arguments,
    *_OUTPUT,
)
def template_graph(session: Session, arguments: argparse.Namespace) -> None:
    """Draw the graph of a template; parameters need no values, types need not be installed."""
    arguments.template = arguments.template or arguments.file
    bundle = template.collect_bundle(session, arguments, required=True)
    name = Path(bundle.template_file).name
    _write_graph(
        session.screen, session.app.inspector.build_template_graph(bundle, name), arguments
    )


def _write_graph(screen: Screen, found: Graph, arguments: argparse.Namespace) -> None:
    form = arguments.format or _choose_format(arguments.output or "")
    if arguments.output is None:
        if form == "json":
            from zonda.core.reports import drawing

            formats.write_data(screen.out, "json", drawing.as_data(found))
            return
        for line in _draw_lines(screen, found, form, painted=True):
            screen.show(line, fit=False)
        return
    try:
        text = "".join(f"{line}\n" for line in _draw_lines(screen, found, form, painted=False))
        Path(arguments.output).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{arguments.output} cannot be written: {error.strerror}.") from error


def _choose_format(file: str) -> str:
    """Choose the format by a file's suffix; raises UsageError for an unknown one."""
    ending = Path(file).suffix.lower()
    if ending not in _BY_SUFFIX:
        raise UsageError(
            f"{file} is not written: there is no format for {ending} files.",
            hint=f"Known are {', '.join(filter(None, _BY_SUFFIX))}; or say which with -f.",
        )
    return _BY_SUFFIX[ending]


def _draw_lines(screen: Screen, found: Graph, form: str, *, painted: bool) -> Iterable[str]:
    import json

    from zonda.core.reports import drawing, svg

    if form == "json":
        return [json.dumps(drawing.as_data(found), indent=2)]
    if form == "svg":
        return svg.draw_svg(found)
    if form != "text":
        return drawing.draw_dot(found) if form == "dot" else drawing.draw_mermaid(found)
    return _draw_tree(screen, found, painted=painted)


def _draw_tree(screen: Screen, found: Graph, *, painted: bool) -> Iterator[str]:
    from zonda.core.reports import drawing

    lines = drawing.LINES if not painted or _can_draw(screen) else drawing.PLAIN
    for branches, node, why, note in drawing.draw_tree(found, lines):
        colour = _COLOURS.get(node.look)
        state = screen.colour_result(node.state, colour) if painted and colour else node.state
        named, why = (
            sanitize.sanitize_line(f"{node.name} ({node.type})"),
            sanitize.sanitize_line(why),
        )
        parts = [f"{branches}{named}", state, f"[{why}]" if why else "", note]
        yield "  ".join(part for part in parts if part)
    if not found.nodes:
        yield "There are no resources."


def _can_draw(screen: Screen) -> bool:
    encoding = getattr(screen.out, "encoding", None) or "utf-8"
    try:
        "├└│─".encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return False
    return True
