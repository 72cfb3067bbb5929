"""Members of groups that keep a definition while its files and types are gone from the stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from zonda.core.engine.actions import (
    CancelStack,
    CheckStack,
    CreateStack,
    DeleteStack,
    ResumeStack,
    SuspendStack,
    UpdateStack,
)
from zonda.core.engine.actions.snapshots import RestoreSnapshot, SnapshotStack
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.rows import StackRow
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import NotSupported

VERSION = "heat_template_version: 2018-08-31\n"
LEAF = VERSION + "resources: {x: {type: OS::Heat::TestResource}}\n"
FAILING = VERSION + "resources: {x: {type: OS::Heat::TestResource, properties: {fail: true}}}\n"
PACE = {"min_in_service": 1, "max_batch_size": 3}
GROUPS = ("ResourceGroup", "AutoScalingGroup")


@pytest.fixture
def stack(tmp_path: Path) -> InlineStack:
    return InlineStack(tmp_path)


#: Each type of group, and the ways in which a member comes to its template.
CASES = [
    *((GROUPS[0], way) for way in ("file", "registry", "pattern", "chain", "group")),
    *((GROUPS[1], way) for way in ("file", "registry")),
]


@pytest.fixture(params=CASES, ids=lambda case: " ".join(case))
def case(request: Any) -> tuple[str, str]:
    found: tuple[str, str] = request.param
    return found


def make_group(member: str, kind: str = GROUPS[0], **properties: Any) -> dict[str, Any]:
    definition = {"type": member, **({"properties": properties} if properties else {})}
    if kind == "AutoScalingGroup":
        sizes = {"min_size": 4, "max_size": 4}
        return {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {**sizes, "rolling_updates": PACE, "resource": definition},
        }
    return {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 4, "resource_def": definition},
        "update_policy": {"rolling_update": PACE},
    }


def make_bundle(
    group: Mapping[str, Any], files: Mapping[str, str], *, fails: bool = False, **more: Any
) -> Bundle:
    last = {"type": "OS::Heat::TestResource", "depends_on": "g", "properties": {"fail": fails}}
    text = yaml.safe_dump({"resources": {"g": group, "last": last}})
    return Bundle(VERSION + text, files=files, **more)


def make_version(
    kind: str, way: str, version: str, leaf: str = LEAF, *, fails: bool = False
) -> Bundle:
    """The stack with members of one version; nothing in it tells of any other."""
    file, name = f"/{version}.yaml", f"My::Member::{version}"
    registry: dict[str, Any] = {name: file}
    group = make_group(name, kind)
    if way == "file":
        registry, group = {}, make_group(file, kind)
    elif way == "pattern":
        registry = {
            f"My::Member::{version[0]}*": f"Their::{version[0]}*",
            f"Their::{version}": file,
        }
    elif way == "resource":
        registry = {"resources": {"g": {str(number): {name: file} for number in range(4)}}}
    elif way == "chain":
        group = make_group("OS::Heat::ResourceChain", kind, resources=[name])
    elif way == "group":
        group = make_group("OS::Heat::ResourceGroup", kind, resource_def={"type": name})
    environment = json.dumps({"resource_registry": registry})
    return make_bundle(group, {file: leaf}, fails=fails, environment=environment)


def run(stack: InlineStack, bundle: Bundle, **more: Any) -> StackView:
    """Create or update the stack, with an engine that has only what is stored afterwards."""
    action = UpdateStack if stack.engine.reader.stacks() else CreateStack
    found = stack.engine.run(action(stack.name, bundle, **more))
    stack.restart()
    return found


def get_nested(stack: InlineStack) -> StackRow:
    """The nested stack of the group."""
    reader = stack.engine.reader
    (root,) = reader.stacks()
    group = next(row.id for row in reader.resource_rows(root.id) if row.name == "g")
    return next(row for row in reader.tree(root.id) if row.owner_resource_id == group)


def list_files(stack: InlineStack) -> set[str]:
    """The files that the nested template of the group is stored with."""
    reader = stack.engine.reader
    template = reader.template(str(get_nested(stack).template_id))
    return set(reader.template(str(template.base_id)).body["files"])


def list_member_types(stack: InlineStack) -> list[str]:
    rows = stack.engine.reader.resource_rows(get_nested(stack).id)
    return sorted(row.type for row in rows if row.want == "PRESENT")


def list_versions(stack: InlineStack) -> set[str]:
    """The files that templates of the tree's leaves come from."""
    reader = stack.engine.reader
    (root,) = reader.stacks()
    specs = (reader.template(str(row.template_id)).body.get("spec") for row in reader.tree(root.id))
    return {spec["file"] for spec in specs if spec is not None and spec["file"] is not None}


def test_members_change_in_batches(stack: InlineStack, case: tuple[str, str]) -> None:
    for version in "abc":
        found = run(stack, make_version(*case, version))
        assert found.state.endswith("_COMPLETE"), found.status_reason
        assert list_versions(stack) == {f"/{version}.yaml"}
        assert list_files(stack) == {f"/{version}.yaml"}


def test_a_rollback_goes_back_in_batches(stack: InlineStack, case: tuple[str, str]) -> None:
    run(stack, make_version(*case, "a"))
    found = run(stack, make_version(*case, "b", fails=True), rollback=True)
    assert found.state == "ROLLBACK_COMPLETE", found.status_reason
    assert list_versions(stack) == list_files(stack) == {"/a.yaml"}


def test_a_snapshot_is_restored_in_batches(stack: InlineStack, case: tuple[str, str]) -> None:
    run(stack, make_version(*case, "a"))
    stack.engine.run(SnapshotStack(stack.name, "first"))
    run(stack, make_version(*case, "b"))
    stack.restart()
    found = stack.engine.run(RestoreSnapshot(stack.name, "first"))
    assert found.state == "RESTORE_COMPLETE", found.status_reason
    assert list_versions(stack) == {"/a.yaml"}


def test_a_failed_batch_is_rolled_back(stack: InlineStack, case: tuple[str, str]) -> None:
    run(stack, make_version(*case, "a"))
    found = run(stack, make_version(*case, "b", FAILING), rollback=True)
    assert found.state == "ROLLBACK_COMPLETE", found.status_reason
    assert list_versions(stack) == {"/a.yaml"}


def test_whatever_follows_a_failed_batch_works(stack: InlineStack, case: tuple[str, str]) -> None:
    run(stack, make_version(*case, "a"))
    broken = run(stack, make_version(*case, "b", FAILING), rollback=False)
    assert broken.state == "UPDATE_FAILED"
    assert "x: " in broken.status_reason
    assert list_versions(stack) == {"/a.yaml", "/b.yaml"}
    for action in (CheckStack, SuspendStack, ResumeStack):
        found = stack.engine.run(action(stack.name))
        stack.restart()
        assert "fetch" not in found.status_reason
        assert "could not be found" not in found.status_reason
    found = run(stack, make_version(*case, "c"))
    assert found.state == "UPDATE_COMPLETE", found.status_reason
    assert list_versions(stack) == {"/c.yaml"}
    assert stack.engine.run(DeleteStack(stack.name)).state == "DELETE_COMPLETE"


def test_entries_for_single_members_are_kept(stack: InlineStack) -> None:
    run(stack, make_version(GROUPS[0], "resource", "a"))
    broken = make_version(GROUPS[0], "resource", "b", fails=True)
    assert run(stack, broken, rollback=True).state == "ROLLBACK_COMPLETE"
    assert list_versions(stack) == {"/a.yaml"}


@pytest.mark.parametrize("steps", range(1, 400, 39))
def test_an_engine_that_ends_in_a_rollback_goes_on(stack: InlineStack, steps: int) -> None:
    run(stack, make_version(GROUPS[0], "registry", "a"))
    bundle = make_version(GROUPS[0], "registry", "b", fails=True)
    stack.engine.begin(UpdateStack(stack.name, bundle, rollback=True))
    for _ in range(steps):
        stack.engine._run_once()
    stack.restart()
    stack.engine.recover()
    stack.engine.settle()
    (found,) = stack.engine.reader.stacks()
    assert found.state == "ROLLBACK_COMPLETE", found.status_reason
    assert list_versions(stack) == {"/a.yaml"}


def test_members_that_failed_do_not_keep_what_they_failed_with(
    stack: InlineStack, case: tuple[str, str]
) -> None:
    run(stack, make_version(*case, "a"))
    for _ in range(2):  # in the first batch, then in the second
        failed = run(stack, make_version(*case, "b", FAILING), rollback=False)
        assert failed.state == "UPDATE_FAILED"
    found = run(stack, make_version(*case, "c"))
    assert found.state == "UPDATE_COMPLETE", found.status_reason
    assert list_versions(stack) == {"/c.yaml"}


@pytest.mark.parametrize("kind", GROUPS)
def test_members_that_were_not_reached_do_not_get_what_others_fail_with(
    stack: InlineStack, kind: str
) -> None:
    run(stack, make_version(kind, "registry", "a"))
    for steps in range(0, 40, 3):
        failing = make_version(kind, "registry", f"b{steps}", FAILING)
        stack.engine.begin(UpdateStack(stack.name, failing, rollback=False))
        for _ in range(steps):
            stack.engine._run_once()
        with suppress(NotSupported):  # it has failed by then
            stack.engine.run(CancelStack(stack.name, rollback=False))
        found = run(stack, make_version(kind, "registry", f"c{steps}"))
        assert found.state == "UPDATE_COMPLETE", (steps, found.status_reason)


def test_only_what_kept_members_reach_is_kept(stack: InlineStack) -> None:
    files = {
        "/a.yaml": VERSION + "resources: {x: {type: My::Inner}}\n",
        "/b.yaml": VERSION
        + "resources: {x: {type: OS::Heat::Value, properties: {value: {get_file: /c}}}}\n",
        "/c": "text",
        "/d.yaml": LEAF,
    }
    environment = "resource_registry: {My::Inner: /b.yaml, My::Other: /d.yaml}"
    run(stack, make_bundle(make_group("/a.yaml"), files, environment=environment))
    broken = make_bundle(make_group("/e.yaml"), {"/e.yaml": FAILING})
    assert run(stack, broken, rollback=False).state == "UPDATE_FAILED"
    assert list_files(stack) == {"/a.yaml", "/b.yaml", "/c", "/e.yaml"}
    assert list(stack.engine.reader.template(stack_template(stack)).body["files"]) == ["/e.yaml"]


def stack_template(stack: InlineStack) -> str:
    """The id of the template of the stack itself."""
    (root,) = stack.engine.reader.stacks()
    return str(root.template_id)


def test_a_name_in_a_template_still_means_its_file(stack: InlineStack) -> None:
    """As the command line sends them: files by URLs, names by links."""
    for name in ("one.yaml", "two.yaml", "three.yaml"):
        url = f"file:///x/{name}"
        bundle = make_bundle(make_group(name), {url: LEAF}, links={"template": {name: url}})
        found = run(stack, bundle)
        assert found.state.endswith("_COMPLETE"), found.status_reason
    broken = make_bundle(make_group("/e.yaml"), {"/e.yaml": FAILING})
    assert run(stack, broken, rollback=True).state == "ROLLBACK_COMPLETE"
    assert list_files(stack) == {"file:///x/three.yaml"}
