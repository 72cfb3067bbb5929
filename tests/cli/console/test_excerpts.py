"""Excerpts: the line, and a caret below the place."""

from __future__ import annotations

import pytest

from zonda.core.cli.console.source_excerpt import format_excerpt, measure_width
from zonda.hooks.errors import Place

LONG = "a" * 150 + "X" + "b" * 150


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        pytest.param(Place("f", 9, 1), [], id="beyond-the-end"),
        pytest.param(Place("f", 1, 1), ["    1 | one", "        ^"], id="first"),
        pytest.param(Place("f", 2, 3), ["    2 |     two", "             ^"], id="tab"),
        pytest.param(Place("f", 3, 99), ["    3 | x", "         ^"], id="beyond-the-line"),
    ],
)
def test_excerpts(place: Place, lines: list[str]) -> None:
    assert format_excerpt("one\n\ttwo\r\nx", place) == lines


@pytest.mark.parametrize("text", [None, ""])
def test_there_is_no_excerpt_of_a_text_that_is_not_at_hand(text: str | None) -> None:
    assert format_excerpt(text, Place("f", 1, 1)) == []


@pytest.mark.parametrize(
    ("text", "column"),
    [
        pytest.param("name: X", 7, id="plain"),
        pytest.param("名前: X", 5, id="wide"),
        pytest.param("cafe\u0301: X", 8, id="combining"),
        pytest.param("a\tb\tX", 5, id="tabs"),
        pytest.param("a\x1b[31mX", 7, id="control"),
        pytest.param(LONG, 151, id="long"),
        pytest.param("名" * 150 + "X" + "b" * 150, 151, id="long-and-wide"),
        pytest.param("X" + "b" * 300, 1, id="long-at-its-beginning"),
        pytest.param("b" * 300 + "X", 301, id="long-at-its-end"),
    ],
)
def test_the_caret_stands_below_its_character(text: str, column: int) -> None:
    line, caret = format_excerpt(text, Place("f", 1, column))

    assert measure_width(line[: line.index("X")]) == len(caret) - 1
    assert measure_width(line) < 115
    assert "\x1b" not in line


def test_a_line_that_is_cut_shows_that_it_is() -> None:
    line, _ = format_excerpt(LONG, Place("f", 1, 151))

    assert line.startswith("    1 | …a")
    assert line.endswith("b…")


def test_other_line_breaks_than_those_of_yaml_do_not_count() -> None:
    assert format_excerpt("a\x0bb\x0cc\nd", Place("f", 2, 1)) == ["    2 | d", "        ^"]
