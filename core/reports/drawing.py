"""A graph as text: a tree for terminals, DOT for Graphviz, Mermaid, and data for programs.

Whatever comes from templates is escaped for the language that it is written in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .graph import Edge, Graph, Node

#: Deeper than this a tree on a terminal tells nobody anything.
DEEPEST = 40
#: Fill and border of each look: nothing is shown by colour alone.
FILLS = {
    "complete": ("#d3f0d5", "#2e7d32"),
    "failed": ("#f9d0d0", "#b3261e"),
    "progress": ("#fdeec2", "#8a6100"),
    "init": ("#eeeeee", "#616161"),
    "none": ("#e3ecfa", "#31588f"),
}
#: The reason for an empty part below a resource that requires others.
_ABOVE, _BELOW = "shown above", "goes on below"
_MERMAID = {"failed": ",stroke-width:4px", "progress": ",stroke-dasharray:6 3"}
_DOT = {"failed": "filled,bold", "progress": "filled,dashed"}
#: Branches of a tree, for terminals that have these characters and for those that do not.
LINES, PLAIN = ("├─ ", "└─ ", "│  ", "   "), ("|- ", "`- ", "|  ", "   ")


def as_data(graph: Graph) -> dict[str, Any]:
    """Return nodes and edges as data for programs."""
    return {
        "nodes": [
            {
                "name": node.name,
                "type": node.type,
                "state": node.state or None,
                "reason": node.reason or None,
                "owner": node.owner or None,
            }
            for node in graph.nodes
        ],
        "edges": [
            {
                "dependant": edge.dependant,
                "requirement": edge.requirement,
                "reasons": list(edge.reasons),
            }
            for edge in graph.edges
        ],
    }


# -- a tree ---------------------------------------------------------------------------------------


def draw_tree(graph: Graph, lines: Sequence[str] = LINES) -> Iterator[tuple[str, Node, str, str]]:
    """Draw the tree; each line as (branches, node, reason of the edge, a note).

    What nobody requires stands to the left, below each one what it requires or has nested. A part
    that was shown is not shown again; what would stand too far to the right begins at the left
    further below. Without recursion: a chain may be longer than Python's stack.
    """
    nodes = {node.name: node for node in graph.nodes}
    below: dict[str, list[Edge]] = {name: [] for name in nodes}
    edges = (*graph.edges, *graph.nested)
    for edge in edges:
        below[edge.dependant].append(edge)
    required = {edge.requirement for edge in edges}
    first = [name for name in nodes if name not in required]
    shown: set[str] = set()
    for root in (*first, *nodes):  # of a circle no part stands to the left by itself
        begins = deque([root])
        while begins:
            name = begins.popleft()
            if name not in shown:
                for branches, at, why, note in _draw_subtree(name, below, shown, lines):
                    yield branches, nodes[at], why, note
                    if note == _BELOW:
                        begins.append(at)


def _draw_subtree(
    root: str, below: Mapping[str, Sequence[Edge]], shown: set[str], lines: Sequence[str]
) -> Iterator[tuple[str, str, str, str]]:
    """Draw one tree with names in place of nodes; adds to ``shown``."""
    todo = [("", "", root, "")]
    while todo:
        branches, indent, name, why = todo.pop()
        edges = below[name]
        note = _format_note(name in shown, len(indent) // len(lines[2])) if edges else ""
        yield branches, name, why, note
        if note != _BELOW:
            shown.add(name)
        if not note:
            todo += reversed([*_draw_branches(edges, indent, lines)])


def _format_note(shown: bool, depth: int) -> str:
    return _ABOVE if shown else _BELOW if depth >= DEEPEST else ""


def _draw_branches(
    edges: Sequence[Edge], indent: str, lines: Sequence[str]
) -> Iterator[tuple[str, str, str, str]]:
    for edge in edges:
        branch, bar = (lines[1], lines[3]) if edge is edges[-1] else (lines[0], lines[2])
        yield indent + branch, indent + bar, edge.requirement, edge.label


# -- DOT and Mermaid ------------------------------------------------------------------------------


def draw_dot(graph: Graph) -> Iterator[str]:
    """Draw the graph for Graphviz; an arrow leads to what is required."""
    yield f"digraph {_quote_dot(graph.title)} {{"
    yield "  rankdir=BT;"
    yield '  node [shape=box, style=filled, fontname="sans-serif"];'
    members = graph.members
    for depth, node, is_end in _walk_clusters(graph):
        indent = "  " * (depth + 1)
        if is_end:
            yield f"{indent}}}"
            continue
        if node.name in members:
            yield f"{indent}subgraph {_quote_dot(f'cluster {node.name}')} {{"
            yield f"{indent}  label={_quote_dot(node.name)};"
            indent += "  "
        yield f"{indent}{_draw_dot_node(node)}"
    for edge in graph.edges:
        ends = f"{_quote_dot(edge.dependant)} -> {_quote_dot(edge.requirement)}"
        yield f"  {ends} [tooltip={_quote_dot(edge.label)}, edgetooltip={_quote_dot(edge.label)}];"
    yield "}"


def _draw_dot_node(node: Node) -> str:
    fill, border = FILLS[node.look]
    label = "\n".join(filter(None, (_get_own_name(node), node.type, node.state)))
    style = _DOT.get(node.look, "filled")
    return (
        f"{_quote_dot(node.name)} [label={_quote_dot(label)}, "
        f"tooltip={_quote_dot(format_tooltip(node))}, "
        f'style="{style}", fillcolor="{fill}", color="{border}"];'
    )


def _get_own_name(node: Node) -> str:
    """Return the name of a node inside the box of its owner."""
    return node.name.removeprefix(f"{node.owner}/") if node.owner else node.name


def _walk_clusters(graph: Graph) -> Iterator[tuple[int, Node, bool]]:
    """Walk the nodes as (depth, node, whether its nested stack ends here), owners first."""
    members = graph.members
    pending = [(0, node, False) for node in reversed(members.get("", []))]
    while pending:
        depth, node, is_end = pending.pop()
        yield depth, node, is_end
        if not is_end and node.name in members:
            pending.append((depth, node, True))
            pending += [(depth + 1, each, False) for each in reversed(members[node.name])]


def _quote_dot(text: str) -> str:
    r"""Quote a string for DOT; a backslash is doubled, since ``\N`` has a meaning there."""
    lines = ("".join(map(_escape_invisible, line)) for line in text.split("\n"))
    shown = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(shown) + '"'


def draw_mermaid(graph: Graph) -> Iterator[str]:
    """Draw the graph as a Mermaid flow chart; an arrow leads to what is required."""
    keys = {node.name: f"n{index}" for index, node in enumerate(graph.nodes)}
    yield "flowchart BT"
    members = graph.members
    for depth, node, is_end in _walk_clusters(graph):
        indent = "  " * (depth + 1)
        if is_end:
            yield f"{indent}end"
            continue
        if node.name in members:
            yield f'{indent}subgraph {keys[node.name]}s["{_escape_mermaid(node.name)}"]'
            indent += "  "
        texts = (_get_own_name(node), node.type, node.state)
        label = "<br>".join(_escape_mermaid(text) for text in texts if text)
        yield f'{indent}{keys[node.name]}["{label}"]:::{node.look}'
    for edge in graph.edges:
        why = _escape_mermaid(edge.reasons[0] if edge.reasons else "")
        more = f" +{len(edge.reasons) - 1}" if len(edge.reasons) > 1 else ""
        yield f'  {keys[edge.dependant]} -->|"{why}{more}"| {keys[edge.requirement]}'
    for look in sorted({node.look for node in graph.nodes}):
        fill, border = FILLS[look]
        style = f"fill:{fill},stroke:{border},color:#000{_MERMAID.get(look, '')}"
        yield f"  classDef {look} {style}"


def _escape_mermaid(text: str) -> str:
    """Escape a text in quotes for Mermaid: special characters as their numbers."""
    return "".join(
        letter if letter.isalnum() or letter in " _.,:()[]/-'" else f"#{ord(letter)};"
        for letter in "".join(map(_escape_invisible, text))
    )


def _escape_invisible(letter: str) -> str:
    """Escape a letter that cannot be seen: different texts never look alike."""
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode()


def format_tooltip(node: Node) -> str:
    """Format name, type, state and reason of a node as one line."""
    state = f": {node.state}" if node.state else ""
    reason = f" ({node.reason})" if node.reason else ""
    return f"{node.name} ({node.type}){state}{reason}"
