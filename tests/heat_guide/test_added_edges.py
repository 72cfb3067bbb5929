"""Edges that plug-ins add by ``add_dependencies``, in whole templates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ResourceFailure, ValidationErrors
from zonda.hooks.resources.dependencies import Dependencies, Neighbour
from zonda.hooks.resources.resource import Resource

PLUGIN = """
from zonda.hooks import properties, resource

Schema = properties.Schema
ORDER = []


class Net(resource.Resource):
    properties_schema = {"label": Schema(Schema.STRING)}

    def handle_create(self):
        ORDER.append(self.name)

    def handle_delete(self):
        ORDER.append(self.name)


class Port(Net):
    def add_dependencies(self, deps):
        super().add_dependencies(deps)
        for other in deps.neighbours.values():
            if other.type == "My::Net" and other.properties["label"] == self.properties["label"]:
                deps += (self, other)


class First(Net):
    def add_dependencies(self, deps):
        for other in deps.neighbours:
            deps.precede(other)


class Wrong(Net):
    def add_dependencies(self, deps):
        deps.require("nobody")


class Curious(Net):
    def add_dependencies(self, deps):
        self.context.client("net")


def resource_mapping():
    return {
        "My::Net": Net, "My::Port": Port, "My::First": First, "My::Wrong": Wrong,
        "My::Curious": Curious,
    }
"""

TWO_NETS = """
heat_template_version: 2018-08-31
parameters: {label: {type: string, default: b}}
resources:
  port: {type: "My::Port", properties: {label: {get_param: label}}}
  one: {type: "My::Net", properties: {label: a}}
  two: {type: "My::Net", properties: {label: b}}
"""


@pytest.fixture
def zonda_plugin_dirs(tmp_path: Path) -> list[Path]:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "nets.py").write_text(PLUGIN)
    return [tmp_path / "plugins"]


def template(**types: str) -> str:
    lines = [f'  {name}: {{type: "My::{kind}"}}' for name, kind in types.items()]
    return "\n".join(["heat_template_version: 2018-08-31", "resources:", *lines])


def completed(stack: InlineStack, stack_id: str) -> list[str]:
    """Resources, in the order in which their operations ended."""
    events = stack.engine.reader.events(stack_id)
    return [each.resource_name for each in events if each.status == "COMPLETE"]


def test_an_added_edge_orders_creation_and_deletion(zonda_stack: InlineStack) -> None:
    made = zonda_stack.create(TWO_NETS)
    assert made.state == "CREATE_COMPLETE"
    assert set(zonda_stack.resources["port"].requires) == {"two"}
    order = completed(zonda_stack, made.id)
    assert order.index("two") < order.index("port")
    zonda_stack.delete()
    order = completed(zonda_stack, made.id)[len(order) :]
    assert order.index("port") < order.index("two")


def test_an_update_of_the_template_moves_the_edge(zonda_stack: InlineStack) -> None:
    zonda_stack.create(TWO_NETS)
    zonda_stack.update(TWO_NETS, label="a")
    assert set(zonda_stack.resources["port"].requires) == {"one"}


def test_a_resource_may_go_before_others(zonda_stack: InlineStack) -> None:
    zonda_stack.create(template(a="Net", z="First"))
    assert set(zonda_stack.resources["a"].requires) == {"z"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(template(w="Wrong"), "There is no resource nobody", id="unknown-name"),
        pytest.param(template(c="Curious"), "may not use client", id="asks-the-engine"),
        pytest.param(template(a="First", b="First"), "Circular Dependency Found", id="circle"),
    ],
)
def test_a_plugin_that_cannot_say_is_a_fault_with_its_place(
    zonda_stack: InlineStack, text: str, words: str
) -> None:
    with pytest.raises(ValidationErrors, match=words) as caught:
        zonda_stack.create(text)
    (fault,) = caught.value.errors
    assert fault.place is not None


def raises(self: Resource, deps: Dependencies) -> None:
    raise RuntimeError("newer and broken")


def makes_a_circle(self: Resource, deps: Dependencies) -> None:
    deps.require("two")
    deps.precede("two")


@pytest.mark.parametrize("newer", [raises, makes_a_circle])
def test_a_stored_template_is_read_although_the_plugin_fails_now(
    zonda_stack: InlineStack, monkeypatch: pytest.MonkeyPatch, newer: Callable[..., None]
) -> None:
    zonda_stack.create(TWO_NETS)
    cls = zonda_stack.plugins.resource_types["My::Port"]
    monkeypatch.setattr(cls, "add_dependencies", newer)
    zonda_stack.restart()
    assert zonda_stack.suspend().state == "SUSPEND_COMPLETE"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"


def test_a_circle_of_plugins_is_left_out_of_a_stored_template(
    zonda_stack: InlineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack_id = zonda_stack.create(TWO_NETS).id
    cls = zonda_stack.plugins.resource_types["My::Port"]
    monkeypatch.setattr(cls, "add_dependencies", makes_a_circle)
    zonda_stack.restart()
    definition = zonda_stack.engine.services.definitions.get(
        zonda_stack.engine.reader.stack_row(stack_id).template_id
    )
    assert {name: set(node.requires) for name, node in definition.resources.items()} == {
        "port": set(),
        "one": set(),
        "two": set(),
    }


def test_edges_between_neighbours_and_what_is_none() -> None:
    others = {"a": Neighbour("a", "T", Resource, dict), "b": Neighbour("b", "T", Resource, dict)}
    deps = Dependencies("me", others)
    deps += ("a", others["b"])
    assert deps.added == [("a", "b")]
    assert "Neighbour('a', 'T')" in repr(others)
    with pytest.raises(ResourceFailure, match="cannot wait for itself"):
        deps.require("me")
    with pytest.raises(ResourceFailure, match="5 is no resource"):
        deps.require(5)
