"""Updates check only the nested stacks that they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from zonda.core.engine.actions import CreateStack, MarkResource, UpdateStack
from zonda.core.template.files.reader import load_bundle
from zonda.core.template.nested.template_tree import TemplateTree
from zonda.core.template.source import document
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors

HEAD = "heat_template_version: 2018-08-31\n"
LEAF = HEAD + (
    "parameters: {v: {type: string, default: a}, w: {type: string, default: b}}\n"
    "resources:\n  t: {type: OS::Heat::TestResource, properties: {value: {get_param: v}}}\n"
)
ROOT = HEAD + (
    "parameters: {v: {type: string, default: a}}\n"
    "resources:\n"
    "  one: {type: leaf.yaml, properties: {v: {get_param: v}}}\n"
    "  two: {type: other.yaml}\n"
)
FILES = {"leaf.yaml": LEAF, "other.yaml": HEAD + "resources:\n  inner: {type: leaf.yaml}\n"}


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[InlineStack]:
    made = InlineStack(tmp_path, name="s")
    yield made
    made.close()


@pytest.fixture
def opened(stack: InlineStack, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The owners whose nested stacks are looked at, from when the stack is made."""
    stack.engine.run(CreateStack("s", Bundle(ROOT, files=FILES)))
    names: list[str] = []
    original = TemplateTree.load_partially

    def noted(self, spec, identity, unknown):
        names.append(".".join(spec.names))
        return original(self, spec, identity, unknown)

    monkeypatch.setattr(TemplateTree, "load_partially", noted)
    return names


def updated(stack: InlineStack, files: dict[str, str] = FILES, **given: str) -> str:
    action = UpdateStack("s", Bundle(ROOT, parameters=given, files=files))
    return stack.engine.run(action).state


def test_nothing_is_looked_at_where_nothing_changes(stack, opened):
    assert updated(stack) == "UPDATE_COMPLETE"
    assert opened == []


def test_only_what_gets_another_value_is_looked_at(stack, opened):
    assert updated(stack, v="z") == "UPDATE_COMPLETE"
    assert opened == ["one"]


def test_a_file_is_looked_at_wherever_it_is_used(stack, opened):
    files = {**FILES, "leaf.yaml": LEAF.replace("default: b", "default: c")}
    assert updated(stack, files) == "UPDATE_COMPLETE"
    assert opened == ["one", "two", "two.inner"]


def test_what_is_to_be_mended_is_looked_at(stack, opened):
    stack.engine.run(MarkResource("s", "two"))
    assert updated(stack) == "UPDATE_COMPLETE"
    assert opened == ["two", "two.inner"]


def test_a_fault_in_what_changes_is_told_as_ever(stack, opened):
    files = {**FILES, "leaf.yaml": LEAF.replace("get_param: v", "get_param: nobody")}
    with pytest.raises(ValidationErrors, match="nobody"):
        updated(stack, files)
    # what was refused is no more settled than before
    assert updated(stack, v="z") == "UPDATE_COMPLETE"


def test_what_an_update_brings_is_not_parsed_once_more_for_what_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {**FILES, "root.yaml": ROOT}.items():
        (tmp_path / name).write_text(text)
    bundle = load_bundle(tmp_path / "root.yaml")
    stack = InlineStack(tmp_path / "home", name="s")
    stack.engine.run(CreateStack("s", bundle))
    stack.restart()  # nothing is known of the template that was stored
    monkeypatch.setattr(document, "load_document", None)
    changed = replace(bundle, parameters={"v": "z"})
    assert stack.engine.run(UpdateStack("s", changed)).state == "UPDATE_COMPLETE"
    stack.close()
