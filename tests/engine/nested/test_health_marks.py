"""Members of nested stacks that are marked or found unhealthy: the next update repairs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import (
    AbandonStack,
    CancelStack,
    CheckStack,
    CreateStack,
    DeleteStack,
    MarkResource,
    ProtectStack,
    RetryStack,
    RollbackStack,
    SignalResource,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import NotSupported

LEAF = """\
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::TestResource, properties: {value: one}}
  b: {type: OS::Heat::TestResource, properties: {value: two}}
"""
MIDDLE = """\
heat_template_version: 2018-08-31
resources:
  leaf: {type: leaf.yaml}
  other: {type: OS::Heat::Value, properties: {value: 1}}
"""
ROOT = """\
heat_template_version: 2018-08-31
resources:
  middle: {type: middle.yaml}
  beside: {type: middle.yaml}
"""


PLUGIN = """\
from pathlib import Path

from zonda.hooks import properties
from zonda.hooks.resources.resource import Resource


class Fragile(Resource):
    properties_schema = {"file": properties.Schema(properties.Schema.STRING)}

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name())

    def handle_check(self):
        if not Path(self.properties["file"]).exists():
            raise ValueError("it is gone")

    def handle_delete(self):
        pass


def resource_mapping():
    return {"Test::Fragile": Fragile}
"""


class Tree:
    """Stack ``t`` with two levels below it."""

    def __init__(self, stack: InlineStack, leaf: str = LEAF) -> None:
        self.engine = stack.engine
        self.bundle = Bundle(ROOT, files={"middle.yaml": MIDDLE, "leaf.yaml": leaf})
        self.engine.run(CreateStack("t", self.bundle))

    def stack_id(self, *names: str) -> str:
        """The id of a nested stack."""
        found = self.engine.reader.stack("t").id
        for name in names:
            found = self.engine.reader.resource(found, name).physical_id or ""
        return found

    def physical(self) -> dict[str, str | None]:
        """The physical id of each resource of every stack of the tree, by name of stack and its."""
        reader = self.engine.reader
        return {
            f"{row.name}.{one.name}": one.physical_id
            for row in reader.tree(self.stack_id())
            for one in reader.resources(row.id)
        }

    def update(self) -> Any:
        """Update with the same template."""
        return self.engine.run(UpdateStack("t", self.bundle))


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    stack = InlineStack(tmp_path)
    yield Tree(stack)
    stack.close()


def _changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    assert before.keys() == after.keys()
    return sorted(name.rpartition(".")[2] for name in before if before[name] != after[name])


def test_what_is_marked_two_levels_down_is_replaced_and_nothing_else(tree: Tree) -> None:
    before = tree.physical()
    tree.engine.run(MarkResource(tree.stack_id("middle", "leaf"), "a", "broken", healthy=False))
    assert tree.update().state == "UPDATE_COMPLETE"
    assert _changed(before, tree.physical()) == ["a"]
    generations = {row.name: row.generation for row in tree.engine.reader.tree(tree.stack_id())}
    assert sorted(generations.values()) == [1, 1, 2, 2, 2]  # those beside were not visited


def test_a_mark_that_was_taken_back_changes_nothing(tree: Tree) -> None:
    before = tree.physical()
    leaf = tree.stack_id("middle", "leaf")
    tree.engine.run(MarkResource(leaf, "a", "broken", healthy=False))
    tree.engine.run(MarkResource(leaf, "a", "", healthy=True))
    assert tree.update().state == "UPDATE_COMPLETE"
    assert _changed(before, tree.physical()) == []


def test_an_owner_that_is_marked_is_updated_and_keeps_its_nested_stack(tree: Tree) -> None:
    before = tree.physical()
    tree.engine.run(MarkResource("t", "middle", "broken", healthy=False))
    assert tree.update().state == "UPDATE_COMPLETE"
    assert _changed(before, tree.physical()) == []
    assert tree.engine.reader.resource(tree.stack_id(), "middle").status == "COMPLETE"


@pytest.mark.parametrize(
    "action",
    [
        lambda key, bundle: UpdateStack(key, bundle),
        lambda key, bundle: DeleteStack(key),
        lambda key, bundle: SuspendStack(key),
        lambda key, bundle: CheckStack(key),
        lambda key, bundle: SnapshotStack(key, "s"),
        lambda key, bundle: CancelStack(key),
        lambda key, bundle: CancelStack(key, rollback=False),
        lambda key, bundle: RetryStack(key),
        lambda key, bundle: RollbackStack(key),
        lambda key, bundle: AbandonStack(key, "", True),
        lambda key, bundle: ProtectStack(key, (), True),
    ],
)
def test_what_is_done_to_a_nested_stack_is_refused_and_the_root_is_named(
    tree: Tree, action: Callable[[str, Bundle], Any]
) -> None:
    with pytest.raises(NotSupported, match="is nested in the stack t") as refused:
        tree.engine.run(action(tree.stack_id("middle", "leaf"), tree.bundle))
    assert "Act on t" in refused.value.hint


def test_what_a_check_found_broken_inside_is_replaced_inside(tmp_path: Path) -> None:
    plugins, marker = tmp_path / "plugins", tmp_path / "marker"
    plugins.mkdir()
    (plugins / "fragile.py").write_text(PLUGIN)
    marker.touch()
    leaf = LEAF.replace(
        "OS::Heat::TestResource, properties: {value: one}",
        f"Test::Fragile, properties: {{file: '{marker}'}}",
    )
    stack = InlineStack(tmp_path / "home", [plugins])
    tree = Tree(stack, leaf)
    before = tree.physical()
    marker.unlink()
    broken = tree.engine.run(CheckStack("t"))
    assert broken.state == "CHECK_FAILED"
    assert "resources.leaf.resources.a: it is gone" in broken.status_reason
    marker.touch()
    assert tree.update().state == "UPDATE_COMPLETE"
    after = tree.physical()
    stack.close()
    assert _changed(before, after) == ["a", "a"]  # both middles have a leaf


def test_what_failed_inside_is_made_anew_by_the_next_update(tree: Tree) -> None:
    before = tree.physical()
    leaf = LEAF.replace("value: one", "value: three, fail: true")
    files = {**tree.bundle.files, "leaf.yaml": leaf}
    bad = Bundle(ROOT, files=files)
    failed = tree.engine.run(UpdateStack("t", bad))
    assert failed.state == "UPDATE_FAILED"
    assert ".resources.leaf.resources.a: " in failed.status_reason
    assert tree.update().state == "UPDATE_COMPLETE"
    assert set(_changed(before, tree.physical())) == {"a"}


TOLD = """\
from zonda.hooks import attributes
from zonda.hooks.resources.resource import Resource


class Told(Resource):
    attributes_schema = {"word": attributes.Schema()}

    def handle_create(self):
        self.resource_id_set(self.physical_resource_name())

    def handle_signal(self, details):
        self.data_set("word", details["word"])

    def _resolve_attribute(self, name):
        return self.data().get("word", "nothing")

    def handle_delete(self):
        pass


def resource_mapping():
    return {"Test::Told": Told}
"""


def test_who_reads_what_a_signal_has_changed_inside_is_updated_by_the_root(tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    (plugins / "told.py").write_text(TOLD)
    leaf = (
        "heat_template_version: 2018-08-31\nresources:\n  a: {type: Test::Told}\n"
        "  b: {type: OS::Heat::Value, properties: {value: {get_attr: [a, word]}}}\n"
    )
    tree = Tree(InlineStack(tmp_path / "home", [plugins]), leaf)
    inner = tree.stack_id("middle", "leaf")
    tree.engine.run(SignalResource(inner, "a", {"word": "hello"}))
    assert tree.update().state == "UPDATE_COMPLETE"
    found = tree.engine.reader.resource(inner, "b").properties["value"]
    assert found == "hello"
    generations = {row.name: row.generation for row in tree.engine.reader.tree(tree.stack_id())}
    assert sorted(generations.values()) == [1, 1, 2, 2, 2]
