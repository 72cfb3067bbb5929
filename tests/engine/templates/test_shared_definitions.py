"""Definitions that two versions of a stack have in common are in memory once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

HEAD = "heat_template_version: 2018-08-31\n"
LEAF = HEAD + (
    "parameters: {v: {type: string}}\n"
    "resources:\n  t: {type: OS::Heat::Value, properties: {value: {get_param: v}}}\n"
)
CFN = "HeatTemplateFormatVersion: '2012-12-12'\nResources:\n  w: {Type: OS::Heat::RandomString}\n"
ROOT = HEAD + (
    "parameters: {v: {type: string}}\n"
    "resources:\n"
    "  one: {type: leaf.yaml, properties: {v: {get_param: v}}}\n"
    "  two: {type: other.yaml}\n"
    "  three: {type: cfn.template}\n"
)
FILES = {"leaf.yaml": LEAF, "other.yaml": HEAD + "description: old\n", "cfn.template": CFN}


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[InlineStack]:
    made = InlineStack(tmp_path, name="s")
    made.engine.run(CreateStack("s", bundle("a")))
    yield made
    made.close()


def bundle(value: str, files: dict[str, str] = FILES, environment: str | None = None) -> Bundle:
    """Texts as they come with a request: equal to others, never the same."""
    copies = {file: "".join(list(text)) for file, text in files.items()}
    return Bundle(
        "".join(list(ROOT)), parameters={"v": value}, files=copies, environment=environment
    )


def family(stack: InlineStack) -> Any:
    definitions = stack.engine.services.definitions
    return definitions.get(definitions.reader.stack("s").template_id).family


def test_files_that_stay_are_read_once(stack):
    before = family(stack)
    stack.engine.run(UpdateStack("s", bundle("b", {**FILES, "other.yaml": HEAD})))
    after = family(stack)
    assert after is not before
    for file in ("leaf.yaml", "cfn.template"):
        assert after.document(file) is before.document(file)
        assert after.load_template_class(file) is before.load_template_class(file)
        assert after.load_context.bundle.files[file] is before.load_context.bundle.files[file]
    assert after.document("other.yaml").data.get("description") is None


def test_it_is_so_after_a_restart_too(stack):
    stack.engine.run(UpdateStack("s", bundle("b")))
    stack.restart()
    before = family(stack)
    stack.engine.run(UpdateStack("s", bundle("c")))
    assert family(stack).document("leaf.yaml") is before.document("leaf.yaml")


def test_a_default_that_comes_makes_another_class_of_the_same_document(stack):
    before = family(stack)
    given = bundle("b", environment="parameter_defaults: {v: d}\n")
    assert stack.engine.run(UpdateStack("s", given)).state == "UPDATE_COMPLETE"
    after = family(stack)
    assert after.document("leaf.yaml") is before.document("leaf.yaml")
    classes = [
        each.load_template_class("leaf.yaml").properties_schema["v"] for each in (before, after)
    ]
    assert [each.required for each in classes] == [True, False]
