"""The graph of a stack as a part of its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.api.conftest import Api

from zonda.core.api.identity.callers import Caller
from zonda.core.api.pages import stack_graph
from zonda.core.api.pages.stack_graph import StackPicture, draw_stack
from zonda.core.api.service.project import Project

Draw = Callable[[str], StackPicture]


@pytest.fixture
def draw(api: Api) -> Draw:
    def draw_by_name(name: str) -> StackPicture:
        project = Project(api.dispatcher.service, Caller("u1", "ann", "p1"), "p1")
        stack = project.find_by_name_or_id(name)
        return draw_stack(project, stack, lambda path: f"/ui/{path}")

    return draw_by_name


def make_template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2018-08-31", "resources": resources}


def test_each_resource_of_a_stack_and_of_what_is_nested_in_it(api: Api, draw: Draw) -> None:
    group = {"count": 2, "resource_def": {"type": "OS::Heat::None"}}
    api.create(
        "nested", make_template(all={"type": "OS::Heat::ResourceGroup", "properties": group})
    )
    found = draw("nested")
    for path in ("all", "all/0", "all/1"):
        assert f'data-resource="{path}"' in found.svg
        assert f'href="/ui/{path}"' in found.svg
    assert found.note == ""


def test_a_large_stack_is_folded(api: Api, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_graph, "MOST_NODES", 2)
    group = {"count": 2, "resource_def": {"type": "OS::Heat::None"}}
    api.create("large", make_template(all={"type": "OS::Heat::ResourceGroup", "properties": group}))
    found = draw("large")
    assert 'data-resource="all"' in found.svg
    assert "all/0" not in found.svg
    assert "one node each" in found.note


def test_a_stack_that_is_large_by_itself_has_no_picture(
    api: Api, draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack_graph, "MOST_NODES", 2)
    api.create("flat", make_template(**{name: {"type": "OS::Heat::None"} for name in "abc"}))
    assert draw("flat") == StackPicture(
        "", "3 resources are too many for a picture: see the table."
    )


def test_a_stack_without_resources_has_no_picture(api: Api, draw: Draw) -> None:
    api.create("empty", make_template())
    assert draw("empty") == StackPicture("")
