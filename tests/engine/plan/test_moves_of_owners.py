"""Owners of nested stacks move between the stacks of a tree."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engine.conftest import KEY
from tests.engine.plan.test_moves_across import REST, THING, Layout, Tree

from zonda.core.engine.actions import ApplyPlan, CreateStack, RollbackStack, UpdateStack
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store

WEB = ("web.yaml", f"resources:\n  disk: {THING % 'one'}\n  nic: {THING % 'one'}\n")
OUTER = ("outer.yaml", "resources:\n  inner: {type: web.yaml}\n")
MODE = "removal_policies_mode: update, resource_def: {type: web.yaml}"
GROUP = f"sites: {{type: OS::Heat::ResourceGroup, properties: {{count: %s, {MODE}}}}}\n"
ALONE = Layout(REST + "web: {type: web.yaml}\n", (WEB,))
MEMBER = Layout(REST + GROUP % 1, (WEB,))
NESTED = Layout(REST + "outer: {type: outer.yaml}\n", (WEB, OUTER))
WAYS = [
    ("web", "sites/0", ALONE, MEMBER),
    ("sites/0", "web", MEMBER, Layout(REST + GROUP % 0 + "web: {type: web.yaml}\n", (WEB,))),
    ("web", "outer/inner", ALONE, NESTED),
    ("outer/inner", "web", NESTED, ALONE),
    ("outer/inner", "sites/0", NESTED, MEMBER),
    ("web/disk", "disk", ALONE, Layout(REST + f"disk: {THING % 'one'}\n", (WEB,))),
]


@pytest.fixture
def tree() -> Iterator[Tree]:
    store = open_store(":memory:", sealer=Sealer(KEY))
    yield Tree(store)
    store.close()


@pytest.mark.parametrize("by_plan", [False, True])
@pytest.mark.parametrize(("old", "new", "before", "after"), WAYS)
def test_all_that_is_nested_goes_with_it(
    tree: Tree, old: str, new: str, before: Layout, after: Layout, *, by_plan: bool
) -> None:
    tree.run(tree.bring(CreateStack, before))
    then = tree.ids()
    tree.journal.calls.clear()
    update = tree.bring(UpdateStack, Layout(after.text, after.files, {old: new}))
    shown = build_preview(tree.engine.services, update)
    assert build_document(shown)["moved"] == [{"from": old, "name": new}]
    text = format_plan(shown, tree.engine.services.sealer, tree.engine.services.definitions)
    ended = tree.run(ApplyPlan(text) if by_plan else update)
    assert ended.state == "UPDATE_COMPLETE", ended.status_reason
    moved = {way: key for way, key in then.items() if way.startswith(old)}
    assert moved
    now = tree.ids()
    for way, key in moved.items():
        assert now[new + way.removeprefix(old)] == key
    assert not tree.counts()["handle_create"]
    assert tree.run(tree.bring(UpdateStack, after)).state == "UPDATE_COMPLETE"
    assert tree.ids() == now

    assert tree.run(RollbackStack("s", to=1)).state == "ROLLBACK_COMPLETE"
    assert {way: tree.ids()[way] for way in moved} == moved
    assert tree.delete().state == "DELETE_COMPLETE"
    assert not tree.world
