"""The reasons of edges, as graphs show them."""

from __future__ import annotations

import textwrap
from typing import Any, ClassVar

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.dependencies.edge_reasons import find_edge_reasons
from zonda.core.template.load import load
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks import attributes, properties
from zonda.hooks.resources.resource import Resource


class Box(Resource):
    properties_schema: ClassVar[dict[str, Any]] = {
        "value": properties.Schema("String"),
        "list": properties.Schema("List"),
    }
    attributes_schema: ClassVar[dict[str, Any]] = {"out": attributes.Schema("what it gives")}


class Before(Box):
    """Goes before every other resource."""

    def add_dependencies(self, deps: Any) -> None:
        for name in deps.neighbours:
            deps.precede(name)


PLUGINS = Plugins(resource_types={"Test::Box": Box, "Test::Before": Before})


def reasons(resources: str) -> dict[str, list[str]]:
    """Of what ``b`` requires."""
    text = "heat_template_version: 2018-08-31\nresources:\n" + textwrap.indent(
        textwrap.dedent(resources), "  "
    )
    definition = load(
        Bundle(text),
        identity=Identity("id", "s", "p"),
        plugins=PLUGINS,
        functions=lambda version: build_function_table(version, PLUGINS),
    )
    return {
        other: list(map(str, found))
        for (name, other), found in find_edge_reasons(definition.resources).items()
        if name == "b"
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("depends_on: a", ["depends_on"], id="depends_on"),
        pytest.param(
            "properties: {value: {get_resource: a}}",
            ["get_resource at properties.value"],
            id="reference",
        ),
        pytest.param(
            "properties: {list: [x, {get_attr: [a, out]}]}",
            ["get_attr out at properties.list[1]"],
            id="attribute-in-a-list",
        ),
        pytest.param(
            "metadata: {said: {get_attr: [a, out]}}",
            ["get_attr out at metadata.said"],
            id="metadata",
        ),
        pytest.param(
            "depends_on: a\nproperties: {value: {get_resource: a}}",
            ["depends_on", "get_resource at properties.value"],
            id="two",
        ),
    ],
)
def test_what_the_template_says(given: str, expected: list[str]) -> None:
    body = textwrap.indent(given, "  ")
    assert reasons(f"a: {{type: Test::Box}}\nb:\n  type: Test::Box\n{body}") == {"a": expected}


def test_what_a_plug_in_adds() -> None:
    text = "a: {type: Test::Before}\nb: {type: Test::Box}"
    assert reasons(text) == {"a": ["add_dependencies"]}
