"""Errors that are their own cause: the search for the first cause ends."""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import CreateStack
from zonda.core.engine.plugins.traces import format_trace
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import TemplateError

CHILD = """
heat_template_version: 2018-08-31
outputs:
  fine: {value: 1}
"""


def test_a_circle_of_causes_has_no_trace() -> None:
    one, other = TemplateError("one"), TemplateError("other")
    one.__cause__, other.__cause__ = other, one

    assert format_trace(one, ()) == ""


def test_metadata_that_reads_a_missing_attribute_fails_its_resource(bench: Any) -> None:
    reads = "metadata: {q: {get_attr: [c, nope]}}"
    bundle = bench.bundle("c: {type: child.yaml}\nv: {type: Test::Box, " + reads + "}")

    view = bench.run(CreateStack("s", Bundle(bundle.template, files={"child.yaml": CHILD})))

    assert view.state == "CREATE_FAILED"
    assert "The Referenced Attribute (c nope) is incorrect." in view.status_reason
