"""Attributes of an owner are read of its members once, when its operation ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.store.read.reader import Reader
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

ROOT = """
heat_template_version: 2018-08-31
resources:
  g:
    type: OS::Heat::ResourceGroup
    properties:
      count: 3
      resource_def: {type: OS::Heat::Value, properties: {value: %s}}
outputs:
  one: {value: {get_attr: [g, value]}}
  two: {value: {get_attr: [g, refs]}}
  three: {value: {get_attr: [g, resource.1]}}
  four: {value: {get_attr: [g, attributes, value]}}
"""


def test_the_members_are_read_once_for_all_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = InlineStack(tmp_path, name="s")
    root = stack.engine.run(CreateStack("s", Bundle(ROOT % "a"))).id
    child = next(row.id for row in stack.engine.reader.tree(root) if row.owner_resource_id)
    looks = 0
    original = Reader.resource_rows

    def noted(self: Reader, stack_id: str) -> Any:
        nonlocal looks
        looks += stack_id == child
        return original(self, stack_id)

    monkeypatch.setattr(Reader, "resource_rows", noted)
    assert stack.engine.run(UpdateStack("s", Bundle(ROOT % "b"))).status == "COMPLETE"
    assert looks == 1
    stack.close()


SORTING = """
from zonda.builtin_resources.groups.resource_group import ResourceGroup
class Sorting(ResourceGroup):
    def FnGetAtt(self, key, *path):
        value = self.child.member("0").attribute("value")
        if key == "refs":
            value.sort()
            value.append({})
        return value
def resource_mapping(): return {"Test::Sorting": Sorting}
"""


def test_what_one_attribute_is_made_of_is_not_changed_by_another(tmp_path: Path) -> None:
    (tmp_path / "sorting.py").write_text(SORTING)
    stack = InlineStack(tmp_path / "home", [tmp_path])
    text = ROOT.replace("OS::Heat::ResourceGroup", "Test::Sorting") % "[3, 1, 2]"
    view = stack.engine.run(CreateStack("test", Bundle(text)))
    assert view.status == "COMPLETE", view.status_reason
    assert stack.outputs["two"] == [1, 2, 3, {}]
    assert stack.outputs["one"] == [3, 1, 2]
    stack.close()
