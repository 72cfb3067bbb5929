"""Nested stacks can be deleted where their templates cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, DeleteStack, UpdateStack
from zonda.core.template.nested.template_tree import TemplateTree
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import Conflict, TemplateError, ValidationErrors

HEAD = "heat_template_version: 2018-08-31\n"
CHILD = HEAD + (
    "resources:\n  b: {type: OS::Heat::TestResource, properties: {value: a}}\n"
    "  v: {type: OS::Heat::Value, properties: {value: a}}\n"
)
ROOT = HEAD + (
    "resources:\n  c: {type: child.yaml}\n  v: {type: OS::Heat::Value, properties: {value: a}}\n"
)
PROTECTED = "zonda: {protect: {b: true}}\n"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[InlineStack]:
    made = InlineStack(tmp_path)
    made.engine.run(CreateStack("s", bundle()))
    yield made
    made.close()


def bundle(environment: str | None = None) -> Bundle:
    return Bundle(ROOT, environment=environment, files={"child.yaml": CHILD})


def refused(*_: Any, **__: Any) -> Any:
    raise ValidationErrors([TemplateError("a plug-in is gone")])


def restarted(stack: InlineStack) -> None:
    """The engine knows no template any more, and can load none."""
    stack.restart()
    stack.engine.services.definitions.load = refused


def test_it_is_deleted_without_any_template(stack):
    restarted(stack)
    assert stack.engine.run(DeleteStack("s")).state == "DELETE_COMPLETE"


def test_it_is_deleted_where_only_the_nested_one_cannot_be_loaded(stack, monkeypatch):
    stack.restart()
    monkeypatch.setattr(TemplateTree, "load", refused)
    assert stack.engine.run(DeleteStack("s")).state == "DELETE_COMPLETE"


def test_what_is_protected_by_now_stays_so(stack):
    stack.engine.run(UpdateStack("s", bundle(PROTECTED)))
    restarted(stack)
    with pytest.raises(Conflict, match=r"b .* is protected"):
        stack.engine.run(DeleteStack("s"))


def test_whether_something_is_nested_is_told_without_loading(stack):
    restarted(stack)
    reader, definitions = stack.engine.services.reader(), stack.engine.services.definitions
    found = {row.name: row for row in reader.resource_rows(reader.stack("s").id)}
    assert definitions.is_nested_stack(found["c"])
    assert not definitions.is_nested_stack(found["v"])
