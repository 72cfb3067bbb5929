"""Documents can be written and read again: parse(dump(parse(x))) = parse(x)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from zonda.core.template.source.document import load_document
from zonda.hooks.errors import TemplateError

CASES = sorted((Path(__file__).parents[2] / "conformance" / "cases").glob("*.yaml"))
LINES = st.sampled_from(
    [
        "a: 1",
        "b: [x, {y: 2018-01-01}]",
        "  c: yes",
        "- 0o17",
        "- 1e3",
        "'1': ~",
        "x: &a {k: v}",
        "y: *a",
        "<<: {m: 1}",
        "? z",
        "n: .nan",
        "s: |-\n  text",
        "t: >\n  more",
        "- - 1",
        "=: 1",
        'u: "\\x00\\t"',
        "e: ''",
        "12:30: 1_000",
        "- 2018-01-01 10:00:00",
        "q: !!binary aGk=",
    ]
)


def read(text: str) -> Any:
    return load_document(text, "t").data


def same(one: Any, other: Any) -> bool:
    # Types count, and nan is nan; PyYAML writes the pairs of !!omap as lists.
    plain = repr(one).replace("(", "[").replace(")", "]")
    return plain == repr(other).replace("(", "[").replace(")", "]")


@given(st.lists(LINES, max_size=6).map("\n".join))
def test_lines_of_yaml_survive_writing(text: str) -> None:
    try:
        data = read(text)
    except TemplateError:
        return
    # In blocks: "[1e3]" would be JSON, where it is a number.
    written = yaml.safe_dump(data, default_flow_style=False, sort_keys=False)
    assert same(read(written), data)


@pytest.mark.parametrize("path", CASES[::4], ids=lambda path: path.stem)
def test_templates_survive_writing(path: Path) -> None:
    for case in yaml.load(path.read_text(), yaml.CSafeLoader):
        try:
            data = read(case["template"])
        except (TemplateError, KeyError, AttributeError):
            continue
        assert same(read(yaml.safe_dump(data, sort_keys=False)), data), case["id"]


json_trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@given(st.dictionaries(st.text(max_size=3), json_trees, max_size=4))
def test_json_survives_writing_as_json(data: dict[str, Any]) -> None:
    assert same(read(json.dumps(data)), data)
