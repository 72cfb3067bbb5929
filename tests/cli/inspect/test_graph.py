"""Graphs of stacks and templates, in every format, from the command line."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zonda.core.reports import drawing, svg
from zonda.core.reports.graph import Edge, Graph, Node

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]
SVG = "{http://www.w3.org/2000/svg}"

TEXT = """\
heat_template_version: 2018-08-31
resources:
  base: {type: OS::Heat::TestResource, properties: {value: x}}
  reads:
    type: OS::Heat::TestResource
    properties: {value: {str_replace: {template: V, params: {V: {get_attr: [base, output]}}}}}
  names: {type: OS::Heat::TestResource, properties: {value: {get_resource: base}}}
  both:
    type: OS::Heat::TestResource
    depends_on: [reads, base]
    properties: {value: {get_resource: base}}
"""


@pytest.fixture
def web(zonda: Zonda, write: Write) -> None:
    zonda("stack", "create", "web", "-t", write("t.yaml", TEXT))


def test_every_edge_has_its_reason(zonda: Zonda, web: None) -> None:
    data = zonda("stack", "graph", "web", "-f", "json").data
    edges = {(each["dependant"], each["requirement"]): each["reasons"] for each in data["edges"]}
    assert edges == {
        ("reads", "base"): ["get_attr output at properties.value.str_replace.params.V"],
        ("names", "base"): ["get_resource at properties.value"],
        ("both", "base"): ["depends_on", "get_resource at properties.value"],
        ("both", "reads"): ["depends_on"],
    }
    assert {each["state"] for each in data["nodes"]} == {"CREATE_COMPLETE"}


def test_a_tree_for_terminals(zonda: Zonda, web: None) -> None:
    lines = zonda("stack", "graph", "web").out.splitlines()
    assert lines[0] == ("names (OS::Heat::TestResource)  CREATE_COMPLETE")
    assert lines[1].startswith("└─ base (OS::Heat::TestResource)  CREATE_COMPLETE")
    assert "both (OS::Heat::TestResource)  CREATE_COMPLETE" in lines
    assert any(line.startswith("├─ ") and "[depends_on" in line for line in lines)


def test_failed_and_waiting_states(zonda: Zonda, write: Write) -> None:
    text = TEXT.replace("properties: {value: x}", "properties: {value: x, fail: true}")
    zonda("stack", "create", "web", "-t", write("t.yaml", text), code=1)
    data = zonda("stack", "graph", "web", "-f", "json").data
    states = {each["name"]: each["state"] for each in data["nodes"]}
    assert (states["base"], states["both"]) == ("CREATE_FAILED", "INIT_COMPLETE")
    assert ":::failed" in zonda("stack", "graph", "web", "-f", "mermaid").out


@pytest.mark.parametrize(
    ("file", "begin"),
    [
        ("g.svg", "<svg "),
        ("g.dot", "digraph "),
        ("g.mmd", "flowchart "),
        ("g.json", "{"),
        ("g.txt", "names (OS::"),
        ("g.SVG", "<svg "),
        ("tree", "names (OS::"),
    ],
)
def test_the_file_decides_the_format(
    zonda: Zonda, web: None, tmp_path: Path, file: str, begin: str
) -> None:
    zonda("stack", "graph", "web", "-o", tmp_path / file)
    assert (tmp_path / file).read_text().startswith(begin)


def test_a_template_that_nothing_was_made_of(zonda: Zonda, write: Write) -> None:
    text = TEXT + "  other: {type: Not::Installed, depends_on: both}\n"
    data = zonda("template", "graph", write("t.yaml", text), "-f", "json").data
    assert {each["state"] for each in data["nodes"]} == {None}
    assert ("other", "both") in {(e["dependant"], e["requirement"]) for e in data["edges"]}


def test_a_deleted_stack_and_one_whose_plug_in_is_gone(zonda: Zonda, web: None) -> None:
    key = zonda("stack", "show", "web", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "delete", "web", "--yes")
    assert len(zonda("stack", "graph", key, "-f", "json").data["nodes"]) == 4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("stack", "graph", "web", "-o", "/not/there/g.svg"), 2, id="folder"),
        pytest.param(("stack", "graph", "web", "-o", "g.png"), 2, id="ending"),
        pytest.param(("stack", "graph", "wep"), 1, id="stack"),
        pytest.param(("template", "graph"), 2, id="no template"),
    ],
)
def test_mistakes(zonda: Zonda, web: None, words: tuple[str, ...], code: int) -> None:
    assert "error" in zonda(*words, code=code).err


# -- escaping and size ------------------------------------------------------------------------

EVIL = 'a"b<c>&\\N\n--> ]] "x" \x07 <script>'
ODD = Graph(
    EVIL,
    (Node(EVIL, 'T"<&', "CREATE_FAILED", 'no </title> "now"'), Node("b", "T", "UPDATE_COMPLETE")),
    (Edge("b", EVIL, ("get_resource at properties.<x>", "depends_on")),),
)


def test_svg_is_valid_and_nothing_in_it_is_code() -> None:
    root = ET.fromstring("\n".join(svg.draw_svg(ODD)))
    assert root.tag == f"{SVG}svg"
    assert not list(root.iter(f"{SVG}script"))
    titles = [each.text or "" for each in root.iter(f"{SVG}title")]
    assert any("properties.<x>; depends_on" in title for title in titles)
    assert any('CREATE_FAILED (no </title> "now")' in title for title in titles)


def test_svg_spells_out_letters_that_turn_or_hide_others() -> None:
    graph = Graph("t", (Node("a\u202eb\x1b", "T"),), ())
    texts = [each.text for each in ET.fromstring("\n".join(svg.draw_svg(graph))).iter()]
    assert r"a\u202eb\x1b" in texts


def test_svg_tells_states_without_colours() -> None:
    root = ET.fromstring("\n".join(svg.draw_svg(ODD)))
    assert "CREATE_FAILED" in [each.text for each in root.iter(f"{SVG}text")]
    style = next(root.iter(f"{SVG}style")).text or ""
    assert "stroke-dasharray" in style
    assert "stroke-width:3" in style


def test_dot_is_one_statement_a_line() -> None:
    lines = list(drawing.draw_dot(ODD))
    assert lines[-1] == "}"
    for line in lines:
        assert line.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0
        assert "\x07" not in line


def test_names_that_cannot_be_seen_are_told_apart() -> None:
    nodes = tuple(Node(name, "T") for name in ("b\x1b", "b ", "b\x07"))
    for draw in (drawing.draw_dot, drawing.draw_mermaid):
        lines = [line for line in draw(Graph("g", nodes, ())) if "label=" in line or '["' in line]
        assert len({line.split("[", 1)[1] for line in lines}) == 3
    assert '"b\\\\x1b" [label="b\\\\x1b\\nT"' in "".join(drawing.draw_dot(Graph("g", nodes, ())))


def test_a_tree_steers_no_terminal_that_its_file_is_shown_on(
    zonda: Zonda, write: Write, tmp_path: Path
) -> None:
    text = 'heat_template_version: 2018-08-31\nresources: {"b\\e[31m": {type: OS::Heat::None}}\n'
    zonda("stack", "create", "web", "-t", write("t.yaml", text))
    assert zonda("stack", "graph", "web").out.startswith("b\\x1b[31m (OS::Heat::None)")
    zonda("stack", "graph", "web", "-o", tmp_path / "g.txt")
    assert (tmp_path / "g.txt").read_text().startswith("b\\x1b[31m (OS::Heat::None)")


def test_mermaid_keeps_texts_inside_their_quotes() -> None:
    for line in drawing.draw_mermaid(ODD):
        assert line.count('"') in (0, 2)
        assert "<script" not in line


def test_a_chain_of_thousands_goes_on_at_the_left() -> None:
    nodes = tuple(Node(f"k{index}", "T") for index in range(3000))
    edges = tuple(Edge(f"k{index + 1}", f"k{index}", ("depends_on",)) for index in range(2999))
    lines = list(drawing.draw_tree(Graph("chain", nodes, edges)))
    assert max(len(branches) for branches, *_ in lines) == drawing.DEEPEST * 3
    places = [number for number, line in enumerate(lines) if line[3] == "goes on below"]
    assert places
    for number in places:
        assert lines[number][1] == lines[number + 1][1]
        assert lines[number + 1][0] == ""
    assert [line[1] for line in lines if not line[3]] == [*reversed(nodes)]


def test_of_a_circle_every_part_is_shown() -> None:
    nodes = tuple(Node(name, "T") for name in "abc")
    edges = tuple(Edge(a, b, ("an earlier template",)) for a, b in ("ab", "ba"))
    lines = [(node.name, note) for _, node, _, note in drawing.draw_tree(Graph("g", nodes, edges))]
    assert lines == [("c", ""), ("a", ""), ("b", ""), ("a", "shown above")]


def test_what_was_shown_is_not_shown_again() -> None:
    nodes = tuple(Node(name, "T") for name in "abcd")
    edges = tuple(Edge(a, b, ("depends_on",)) for a, b in ("ac", "bc", "cd"))
    lines = [(node.name, note) for _, node, _, note in drawing.draw_tree(Graph("g", nodes, edges))]
    assert lines == [("a", ""), ("c", ""), ("d", ""), ("b", ""), ("c", "shown above")]


def test_a_thousand_nodes_as_a_picture() -> None:
    nodes = tuple(Node(f"k{index}", "T", "CREATE_COMPLETE") for index in range(1000))
    edges = tuple(Edge(f"k{index}", f"k{index // 3}", ("depends_on",)) for index in range(1, 1000))
    root = ET.fromstring("\n".join(svg.draw_svg(Graph("g", nodes, edges))))
    assert len(list(root.iter(f"{SVG}rect"))) == 1001
    assert json.dumps(drawing.as_data(Graph("g", nodes, edges)))


# -- the picture in a page ----------------------------------------------------------------------


def draw_in_page(graph: Graph) -> ET.Element:
    page = svg.PageParts("s1", lambda path: f'/ui/p/"{path}"')
    return ET.fromstring("\n".join(svg.draw_svg(graph, page)))


def test_in_a_page_a_node_has_an_id_a_link_and_what_events_name() -> None:
    nodes = (Node("a", "T", "CREATE_COMPLETE", id="i1"), Node("a/b", "T", owner="a", id="i2"))
    root = draw_in_page(Graph("g", nodes, ()))
    found = {each.get("data-resource"): each for each in root.iter(f"{SVG}g") if each.get("id")}
    assert list(found) == ["a", "a/b"]
    assert len({each.get("id") for each in found.values()}) == 2
    assert all((each.get("id") or "").startswith("n-") for each in found.values())
    assert {each.get("data-stack") for each in found.values()} == {"s1"}
    assert found["a"].get("class") == "node complete"
    states = [each.get("data-state") for each in found["a"].iter(f"{SVG}text")]
    assert "CREATE_COMPLETE" in states
    assert [each.get("href") for each in root.iter(f"{SVG}a")] == ['/ui/p/"a"', '/ui/p/"a/b"']


def test_in_a_page_an_instance_that_leaves_has_an_id_of_its_own() -> None:
    nodes = (Node("a", "T", "CREATE_COMPLETE", id="new"), Node("a (leaving)", "T", id="old"))
    root = draw_in_page(Graph("g", nodes, ()))
    marks = [each.attrib for each in root.iter(f"{SVG}g") if "data-id" in each.attrib]
    assert [(each["data-resource"], each["data-id"]) for each in marks] == [
        ("a", "new"),
        ("a", "old"),
    ]
    assert marks[0]["id"] != marks[1]["id"]


def test_in_a_page_nothing_is_styled_in_place_and_nothing_is_code() -> None:
    root = draw_in_page(ODD)
    assert not [*root.iter(f"{SVG}script"), *root.iter(f"{SVG}style")]
    assert not [each for each in root.iter() if "style" in each.attrib]
    assert root.get("role") == "group"
    assert root.find(f"{SVG}title") is not None


def test_in_a_page_sixty_nodes_are_no_wider_than_a_screen_shows() -> None:
    nodes = tuple(Node(f"server-{index}", "OS::Nova::Server") for index in range(60))
    root = draw_in_page(Graph("g", nodes, ()))
    assert float(root.get("width") or 0) <= 1440
