"""Templates that are shown have no hidden value in them, however it is written."""

from __future__ import annotations

import textwrap
from typing import Any, ClassVar

import pytest

from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins
from zonda.core.template.load import StackDefinition, load
from zonda.core.template.redaction import (
    CHANGED,
    HIDDEN,
    RedactedBundle,
    find_secrets,
    redact_bundle,
)
from zonda.core.template.source.bundle import Bundle, Identity
from zonda.hooks import properties
from zonda.hooks.resources.resource import Resource


class Box(Resource):
    properties_schema: ClassVar[dict[str, Any]] = {
        "open": properties.Schema("String"),
        "secret": properties.Schema("String", hidden=True),
        "map": properties.Schema("Map", schema={"inner": properties.Schema("String", hidden=True)}),
    }


PLUGINS = Plugins(resource_types={"Test::Box": Box})


def definition_of(bundle: Bundle) -> StackDefinition:
    return load(
        bundle,
        identity=Identity("id", "s", "p"),
        plugins=PLUGINS,
        functions=lambda version: build_function_table(version, PLUGINS),
        ignore_unknown=True,
    )


def bundle(text: str, **given: Any) -> Bundle:
    return Bundle("heat_template_version: 2018-08-31\n" + textwrap.dedent(text), **given)


def shown(given: Bundle, before: Bundle | None = None) -> RedactedBundle:
    definition = definition_of(given)
    old = None if before is None else find_secrets(before, definition_of(before))
    return redact_bundle(given, definition, find_secrets(given, definition), old)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "parameters: {p: {type: string, hidden: true, default: xY7}}", id="a short default"
        ),
        pytest.param(
            "parameters:\n  p:\n    type: string\n    hidden: true\n    default: |\n"
            "      xY7\n      more xY7\n  q: {type: string, default: open}",
            id="a block of lines",
        ),
        pytest.param("resources: {a: {type: Test::Box, properties: {secret: xY7}}}", id="literal"),
        pytest.param(
            "resources: {a: {type: Test::Box, properties: {map: {inner: xY7}}}}", id="inner literal"
        ),
        pytest.param(
            "conditions: {never: {equals: [1, 2]}}\n"
            "resources: {a: {type: Test::Box, condition: never, properties: {secret: xY7}}}",
            id="a resource that is not there",
        ),
        pytest.param(
            "conditions: {so: {equals: [1, 1]}}\nresources:\n  a:\n    type: Test::Box\n"
            "    properties: {if: [so, {secret: xY7}, {secret: xY7}]}",
            id="inside if",
        ),
        pytest.param("resources: {a: {type: Not::There, properties: {x: xY7}}}", id="unknown type"),
        pytest.param(
            "resources:\n  a: {type: Test::Box, properties: &p {secret: xY7}}\n"
            "  b: {type: Test::Box, properties: {<<: *p, open: a}}",
            id="merged in",
        ),
        pytest.param(
            "resources:\n  a:\n    type: Test::Box\n"
            "    properties: {secret: {list_join: ['', [x, 'xY7']]}}",
            id="inside a call",
        ),
    ],
)
def test_no_hidden_value_is_left(text: str) -> None:
    found = shown(bundle(text))
    assert "xY7" not in found.template
    assert "xY7" not in repr(found)
    assert HIDDEN in found.template


def test_all_else_is_left_as_it_was() -> None:
    given = bundle(
        """\
        # a comment
        parameters:
          p: {type: string, hidden: true, default: xY7}   # kept
        resources:
          a: {type: Test::Box, properties: {secret: {get_param: p}, open: said}}
        """
    )
    assert shown(given).template == given.template.replace("xY7", HIDDEN)


def test_values_of_environments_and_files() -> None:
    given = bundle(
        "parameters: {p: {type: string, hidden: true}, q: {type: string}}",
        environment_files=(("e.yaml", "parameters: {p: s3cretword, q: plain}\n"),),
        files={"file:///x": "password=s3cretword\nuser=me\n"},
    )
    found = shown(given)
    assert found.environments == {"e.yaml": f"parameters: {{p: {HIDDEN}, q: plain}}\n"}
    assert found.files == {"file:///x": "password=(hidden)\nuser=me\n"}
    assert (found.parameters["p"], found.parameters["q"]) == (HIDDEN, "plain")


@pytest.mark.parametrize(
    ("value", "mark"), [("xY7", HIDDEN), ("zZ8", CHANGED)], ids=["same", "other"]
)
def test_whether_it_has_changed_is_told(value: str, mark: str) -> None:
    text = "parameters: {{p: {{type: string, hidden: true, default: {}}}}}"
    found = shown(bundle(text.format(value)), bundle(text.format("xY7")))
    assert mark in found.template
    assert found.parameters["p"] == mark
