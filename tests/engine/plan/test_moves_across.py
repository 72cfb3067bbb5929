"""Moves between the stacks of a tree: the physical resource stays."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.engine.conftest import KEY, Bench, Idempotent

from zonda.builtin_resources.groups.resource_group import ResourceGroup
from zonda.core.engine.actions import (
    ApplyPlan,
    CheckStack,
    CreateStack,
    DeleteStack,
    MoveResource,
    ProtectStack,
    RetryStack,
    RollbackStack,
    UpdateStack,
)
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.core.engine.templates.tree_rows import TreeRows
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store
from zonda.hooks.errors import Conflict, NotFound, NotSupported

THING = "{type: Test::Idempotent, properties: {value: %s}}"


class Thing(Idempotent):
    """Something outside that is there once, and is deleted once."""

    tree: Tree

    def handle_create(self) -> Any:
        said = super().handle_create()
        assert self.resource_id is not None
        self.tree.world[self.resource_id] = 1
        return said

    def handle_delete(self) -> Any:
        if self.tree.world.pop(self.resource_id, None):
            self.tree.deleted.append(str(self.resource_id))
        return super().handle_delete()


class Tree(Bench):
    """The bench with groups, and with a count of the things outside."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.types["OS::Heat::ResourceGroup"] = ResourceGroup
        #: Things outside: +1 where one is made, -1 where one is deleted; 0 is dropped.
        self.world: Counter[str] = Counter()
        self.deleted: list[str] = []
        self.types["Test::Idempotent"] = type(
            "Idempotent", (Thing,), {"journal": self.journal, "tree": self}
        )
        self.restart()

    def bring(self, kind: type[Any], layout: Layout, **given: Any) -> Any:
        """An action with the template of a layout."""
        files = {name: f"heat_template_version: 2018-08-31\n{text}" for name, text in layout.files}
        environment = f"zonda: {{moved: {json.dumps(layout.moved)}}}\n" if layout.moved else ""
        bundle = self.bundle(layout.text, files=files, environment=environment)
        return kind("s", bundle, **given)

    def ids(self) -> dict[str, str]:
        """Way -> physical id of all that is a thing."""
        reader = self.engine.reader
        root = reader.stack_row(self.stack.id)
        tree = TreeRows(reader, root)
        return {
            tree.find_path(row): str(row.physical_id)
            for row in reader.tree_resources(root.id)
            if row.type.startswith("Test::")
        }

    def counts(self) -> Counter[str]:
        wanted = ("handle_create", "handle_update", "handle_delete")
        return Counter(call for _, call in self.journal.calls if call in wanted)


@dataclass(frozen=True)
class Layout:
    """The resources of a template, its files, and what its environment moves."""

    text: str
    files: tuple[tuple[str, str], ...] = ()
    moved: tuple[tuple[str, str], ...] | dict[str, str] = ()


def nested(name: str, things: str = "", kind: str = "") -> str:
    return f"{name}: {{type: {kind or name}.yaml}}\n"


def inside(name: str, value: str = "one", last: str = "Test::Idempotent") -> str:
    """A nested template with ``rest``, and the thing ``name`` where that is given."""
    thing = f"  {name}: {THING % value}\n" if name else ""
    return f"resources:\n  rest: {{type: {last}, properties: {{value: same}}}}\n{thing}"


def group(name: str, count: int, more: str = "", value: str = "one") -> str:
    properties = f"count: {count}, resource_def: {THING % value}{more}"
    return f"{name}: {{type: OS::Heat::ResourceGroup, properties: {{{properties}}}}}\n"


REST = f"rest: {THING % 'same'}\n"
MODE = ", removal_policies_mode: update"
OUT = f"{MODE}, removal_policies: [{{resource_list: ['0']}}]"
N = "nested.yaml"


def pair(old: str, new: str, value: str = "one") -> tuple[Layout, Layout]:
    """The layouts before and after a move, for each way."""
    found = {
        ("web", "servers.0"): (
            Layout(REST + f"web: {THING % 'one'}\n"),
            Layout(REST + group("servers", 1, value=value)),
        ),
        ("web", "servers.1"): (
            Layout(REST + group("servers", 1) + f"web: {THING % 'one'}\n"),
            Layout(REST + group("servers", 2)),
        ),
        ("servers.0", "web"): (
            Layout(REST + group("servers", 2, MODE)),
            Layout(REST + group("servers", 1, OUT) + f"web: {THING % value}\n"),
        ),
        ("servers.1", "web"): (
            Layout(REST + group("servers", 2)),
            Layout(REST + group("servers", 1) + f"web: {THING % value}\n"),
        ),
        ("servers.0", "servers.1"): (
            Layout(REST + group("servers", 1, MODE)),
            Layout(REST + group("servers", 1, OUT)),
        ),
        ("nested.a", "a"): (
            Layout(nested("nested"), ((N, inside("a")),)),
            Layout(nested("nested") + f"a: {THING % value}\n", ((N, inside("")),)),
        ),
        ("nested/a", "b"): (  # all of the nested stack goes
            Layout(REST + nested("nested"), ((N, inside("a")),)),
            Layout(REST + f"b: {THING % value}\n"),
        ),
        ("a", "nested.a"): (
            Layout(nested("nested") + f"a: {THING % 'one'}\n", ((N, inside("")),)),
            Layout(nested("nested"), ((N, inside("a", value)),)),
        ),
        ("b", "nested.a"): (  # the nested stack is new
            Layout(REST + f"b: {THING % 'one'}\n"),
            Layout(REST + nested("nested"), ((N, inside("a", value)),)),
        ),
        ("nested.a", "nested.b"): (
            Layout(nested("nested"), ((N, inside("a")),)),
            Layout(nested("nested"), ((N, inside("b", value)),)),
        ),
        ("nested.a", "other.b"): (
            Layout(
                nested("nested") + nested("other"), ((N, inside("a")), ("other.yaml", inside("")))
            ),
            Layout(
                nested("nested") + nested("other"),
                ((N, inside("")), ("other.yaml", inside("b", value))),
            ),
        ),
        ("other.b", "nested.a"): (
            Layout(
                nested("nested") + nested("other"), ((N, inside("")), ("other.yaml", inside("b")))
            ),
            Layout(nested("nested"), ((N, inside("a", value)),)),
        ),
        ("a", "outer.nested.a"): (
            Layout(REST + f"a: {THING % 'one'}\n"),
            Layout(
                REST + nested("outer"),
                (("outer.yaml", "resources:\n  " + nested("nested")), (N, inside("a", value))),
            ),
        ),
    }
    before, after = found[old, new]
    return before, Layout(after.text, after.files, {old: new})


WAYS = [
    ("web", "servers.0"),
    ("web", "servers.1"),
    ("servers.0", "web"),
    ("servers.1", "web"),
    ("servers.0", "servers.1"),
    ("nested.a", "a"),
    ("nested/a", "b"),
    ("a", "nested.a"),
    ("b", "nested.a"),
    ("nested.a", "nested.b"),
    ("nested.a", "other.b"),
    ("other.b", "nested.a"),
    ("a", "outer.nested.a"),
]
ways = pytest.mark.parametrize(("old", "new"), WAYS, ids=[f"{a}-to-{b}" for a, b in WAYS])
CHANGEABLE = [
    each for each in WAYS if each not in (("servers.0", "servers.1"), ("web", "servers.1"))
]


def path(text: str) -> str:
    return text.replace(".", "/")


@pytest.fixture
def tree() -> Iterator[Tree]:
    store = open_store(":memory:", sealer=Sealer(KEY))
    yield Tree(store)
    store.close()


@ways
def test_what_is_moved_is_neither_made_nor_deleted(tree: Tree, old: str, new: str) -> None:
    before, after = pair(old, new)
    assert tree.run(tree.bring(CreateStack, before)).state == "CREATE_COMPLETE"
    then = tree.ids()
    tree.journal.calls.clear()

    shown = build_document(build_preview(tree.engine.services, tree.bring(UpdateStack, after)))
    ended = tree.run(tree.bring(UpdateStack, after))

    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    assert shown["moved"] == [{"from": path(old), "name": path(new)}]
    now = tree.ids()
    assert now[path(new)] == then[path(old)]
    assert path(old) not in now
    calls = Counter(call for name, call in tree.journal.calls if name != "rest")
    assert not {"handle_create", "handle_update", "handle_delete"} & calls.keys()
    assert tree.run(tree.bring(UpdateStack, after)).state == "UPDATE_COMPLETE"
    assert tree.ids() == now

    tree.journal.calls.clear()
    assert tree.delete().state == "DELETE_COMPLETE"
    assert tree.counts()["handle_delete"] == len(now)
    assert not tree.world


@pytest.mark.parametrize(("old", "new"), CHANGEABLE, ids=[f"{a}-{b}" for a, b in CHANGEABLE])
def test_what_is_moved_may_be_updated_in_place(tree: Tree, old: str, new: str) -> None:
    before, after = pair(old, new, "two")
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    tree.journal.calls.clear()
    assert tree.run(tree.bring(UpdateStack, after)).state == "UPDATE_COMPLETE"
    assert tree.ids()[path(new)] == then[path(old)]
    name = path(new).rpartition("/")[2]
    assert [call for call in tree.journal.of(name) if call.startswith("handle")] == [
        "handle_update"
    ]


@ways
def test_going_back_brings_it_back(tree: Tree, old: str, new: str) -> None:
    before, after = pair(old, new)
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    tree.run(tree.bring(UpdateStack, after))
    assert tree.run(RollbackStack("s", to=1)).state == "ROLLBACK_COMPLETE"
    assert tree.ids()[path(old)] == then[path(old)]
    assert tree.ids().keys() == then.keys()
    assert tree.run(tree.bring(UpdateStack, after)).state == "UPDATE_COMPLETE"
    assert tree.ids()[path(new)] == then[path(old)]


@ways
def test_a_command_moves_it_with_the_update_that_has_the_new_name(
    tree: Tree, old: str, new: str
) -> None:
    before, after = pair(old, new)
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    tree.run(MoveResource("s", old, new))
    tree.run(tree.bring(UpdateStack, before))
    assert tree.ids() == then
    tree.run(tree.bring(UpdateStack, Layout(after.text, after.files)))
    assert tree.ids()[path(new)] == then[path(old)]
    assert not [row for row in tree.resource_rows() if row.given]


@ways
def test_a_plan_file_moves_what_it_says(tree: Tree, old: str, new: str) -> None:
    before, after = pair(old, new)
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    shown = build_preview(tree.engine.services, tree.bring(UpdateStack, after))
    text = format_plan(shown, Sealer(KEY), tree.engine.services.definitions)
    tree.journal.calls.clear()
    ended = tree.run(ApplyPlan(text))
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    assert tree.ids()[path(new)] == then[path(old)]
    assert not {"handle_update", "handle_delete"} & {
        call for name, call in tree.journal.calls if name != "rest"
    }


class Life:
    """One life, with a crash after so many moves of the engine."""

    def __init__(self, crash_after: int) -> None:
        self.store = open_store(":memory:", sealer=Sealer(KEY))
        self.tree = Tree(self.store)
        self.left = crash_after
        self.crashed = False

    def run(self, action: Any) -> Any:
        stack_id = self.tree.engine.begin(action).stack_id
        while self.tree.engine._run_once():
            self.left -= 1
            if self.left == 0:
                self.crashed = True
                self.tree.restart().recover()
        return self.tree.engine.reader.stack(stack_id)


@ways
@pytest.mark.parametrize("way_on", ["works", "goes-back", "again"])
def test_a_crash_at_every_step_loses_and_doubles_nothing(old: str, new: str, way_on: str) -> None:
    """``works``; or something fails, and is rolled back, or tried again."""
    step, crashed = 1, True
    while crashed:
        life = Life(0)
        tree = life.tree
        before, after = pair(old, new)
        life.run(tree.bring(CreateStack, with_last(before, "one")))
        then = tree.ids()
        life.left = step
        if way_on != "works":
            tree.fails("last", "handle_update")
        ended = life.run(
            tree.bring(UpdateStack, with_last(after, "two"), rollback=way_on == "goes-back")
        )
        tree.journal.behave.clear()
        if way_on == "again":
            assert ended.state == "UPDATE_FAILED", step
            ended = life.run(RetryStack("s"))
        place = path(old) if way_on == "goes-back" else path(new)
        assert ended.status == "COMPLETE", (step, ended.status_reason)
        assert tree.ids()[place] == then[path(old)], step
        assert then[path(old)] not in tree.deleted, step
        live = tree.ids()
        assert len(live.values()) == len({*live.values()}), step
        assert life.run(DeleteStack("s")).state == "DELETE_COMPLETE", step
        assert tree.world == Counter(), step
        crashed = life.crashed
        life.store.close()
        step += 3


def with_last(layout: Layout, value: str) -> Layout:
    """A layout with something that is carried out after all the rest."""
    names = [line.partition(":")[0] for line in layout.text.splitlines()]
    last = "last: {type: Test::Idempotent, depends_on: [%s], properties: {value: %s}}\n"
    return Layout(layout.text + last % (", ".join(names), value), layout.files, layout.moved)


@ways
@pytest.mark.parametrize("then_what", ["delete", "update", "check", "revert", "last"])
def test_an_update_that_fails_early_leaves_it_where_it_is_for_whatever_comes_next(
    tree: Tree, old: str, new: str, then_what: str
) -> None:
    """``first`` fails before anything that is nested is planned."""
    before, after = pair(old, new)
    tree.run(tree.bring(CreateStack, with_first(before, "one")))
    then = tree.ids()
    tree.fails("first", "handle_update")
    update = tree.bring(UpdateStack, with_first(after, "two"), rollback=False)
    assert tree.run(update).state == "UPDATE_FAILED"
    tree.journal.behave.clear()
    key = then[path(old)]
    assert tree.world[key] == 1
    if then_what == "check":
        tree.run(CheckStack("s"))
    if then_what == "revert":
        back = Layout(before.text, before.files, {new: old})
        ended = tree.run(tree.bring(UpdateStack, with_first(back, "three")))
        assert ended.state == "UPDATE_COMPLETE", ended.status_reason
        assert tree.ids()[path(old)] == key
    elif then_what == "last":
        assert tree.run(RollbackStack("s")).state == "ROLLBACK_COMPLETE"
        assert tree.ids()[path(old)] == key
    elif then_what != "delete":
        ended = tree.run(tree.bring(UpdateStack, with_first(after, "three")))
        assert ended.state == "UPDATE_COMPLETE", ended.status_reason
        assert tree.ids()[path(new)] == key
    assert key not in tree.deleted
    assert tree.delete().state == "DELETE_COMPLETE"
    assert not tree.world
    assert tree.deleted.count(key) == 1


def with_first(layout: Layout, value: str) -> Layout:
    """A layout with something that is carried out before all the rest."""
    first = f"first: {THING % value}\n"
    lines = [
        line.replace("{type:", "{depends_on: first, type:", 1) for line in layout.text.splitlines()
    ]
    return Layout("\n".join([*lines, first]), layout.files, layout.moved)


@pytest.mark.parametrize(
    ("moved", "said"),
    [
        (
            {"a": "nested.b"},
            "Resource a of stack s cannot be moved to nested/b: the template has no",
        ),
        ({"a": "other.a"}, "the template has no other"),
        ({"a": "nested.rest"}, "that is there already"),
        ({"a": "nested.box"}, "it is a Test::Idempotent, and nested/box is a Test::Box"),
        ({"nested.rest": "b"}, "the template still has nested/rest"),
        ({"a": "b", "nested.gone": "b"}, "another one is moved there, too"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_done(
    tree: Tree, moved: dict[str, str], said: str
) -> None:
    one = inside("gone") + f"  box: {THING % 'box'}\n".replace("Idempotent", "Box")
    two = inside("a") + f"  box: {THING % 'box'}\n".replace("Idempotent", "Box")
    tree.run(
        tree.bring(
            CreateStack,
            Layout(f"a: {THING % 'one'}\n" + nested("nested"), ((N, one.replace("box:", "xob:")),)),
        )
    )
    then = tree.ids()
    tree.journal.calls.clear()
    after = Layout(f"b: {THING % 'one'}\n" + nested("nested"), ((N, two),), moved)
    with pytest.raises((Conflict, NotSupported)) as caught:
        tree.run(tree.bring(UpdateStack, after))
    assert said in str(caught.value)
    assert tree.ids() == then
    assert not tree.journal.calls


def test_a_command_names_what_there_is(tree: Tree) -> None:
    tree.run(tree.bring(CreateStack, pair("web", "servers.1")[0]))
    with pytest.raises(NotFound, match="servers"):
        tree.run(MoveResource("s", "servers.7", "x"))
    with pytest.raises(Conflict, match="that is there already"):
        tree.run(MoveResource("s", "web", "servers.0"))


@ways
def test_protection_marks_and_data_go_with_it(tree: Tree, old: str, new: str) -> None:
    before, after = pair(old, new)
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    reader = tree.engine.reader
    stack = reader.stack_row(tree.stack.id)
    row = TreeRows(reader, stack).find(path(old))
    assert row is not None
    owner = reader.stack_row(row.stack_id)
    tree.run(ProtectStack(owner.id, resources=(row.name,)))
    assert tree.run(tree.bring(UpdateStack, after)).state == "UPDATE_COMPLETE"
    moved = TreeRows(reader, stack).find(path(new))
    assert moved is not None
    assert (moved.id, moved.protect, moved.physical_id) == (row.id, 1, then[path(old)])
