"""Members of groups that keep a definition whose files an update does not bring any more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.store.read.views import StackView
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

VERSION = "heat_template_version: 2018-08-31\n"
LEAF = VERSION + "resources: {x: {type: OS::Heat::TestResource}}\n"
FAILING = VERSION + "resources: {x: {type: OS::Heat::TestResource, properties: {fail: true}}}\n"


@pytest.fixture
def stack(tmp_path: Path) -> InlineStack:
    return InlineStack(tmp_path)


def make_group(member: str) -> dict[str, Any]:
    properties = {"count": 4, "resource_def": {"type": member}}
    return {
        "type": "OS::Heat::ResourceGroup",
        "properties": properties,
        "update_policy": {"rolling_update": {"min_in_service": 1, "max_batch_size": 3}},
    }


def make_bundle(
    group: Mapping[str, Any], files: Mapping[str, str], *, fails: bool = False, **more: Any
) -> Bundle:
    last = {"type": "OS::Heat::TestResource", "depends_on": "g", "properties": {"fail": fails}}
    text = yaml.safe_dump({"resources": {"g": group, "last": last}})
    return Bundle(VERSION + text, files=files, **more)


def run(stack: InlineStack, bundle: Bundle, **more: Any) -> StackView:
    """Create or update the stack, with an engine that has only what is stored afterwards."""
    action = UpdateStack if stack.engine.reader.stacks() else CreateStack
    found = stack.engine.run(action(stack.name, bundle, **more))
    stack.restart()
    return found


def list_files(stack: InlineStack) -> set[str]:
    """The files that are stored with the present template."""
    reader = stack.engine.reader
    (found,) = reader.stacks()
    return set(reader.template(str(found.template_id)).body["files"])


def list_member_types(stack: InlineStack) -> list[str]:
    reader = stack.engine.reader
    (found,) = reader.stacks()
    child = next(row for row in reader.tree(found.id) if row.owner_resource_id is not None)
    return sorted(row.type for row in reader.resource_rows(child.id) if row.want == "PRESENT")


def test_members_change_in_batches_from_one_file_to_another(stack: InlineStack) -> None:
    for number in range(3):
        file = f"/opt{number}/provider.yaml"
        found = run(stack, make_bundle(make_group(file), {file: LEAF}))
        assert found.state.endswith("_COMPLETE"), found.status_reason
    assert list_member_types(stack) == ["/opt2/provider.yaml"] * 4
    assert list_files(stack) == {"/opt1/provider.yaml", "/opt2/provider.yaml"}
    run(stack, make_bundle(make_group(file), {file: LEAF}))
    assert list_files(stack) == {"/opt2/provider.yaml"}


def test_only_the_files_that_kept_members_reach_are_kept(stack: InlineStack) -> None:
    files = {
        "/a.yaml": VERSION + "resources: {x: {type: /b.yaml}}\n",
        "/b.yaml": VERSION
        + "resources: {x: {type: OS::Heat::Value, properties: {value: {get_file: /c}}}}\n",
        "/c": "text",
        "/d.yaml": LEAF,
    }
    run(stack, make_bundle(make_group("/a.yaml"), files))
    found = run(stack, make_bundle(make_group("/e.yaml"), {"/e.yaml": LEAF}))
    assert found.state == "UPDATE_COMPLETE", found.status_reason
    assert list_files(stack) == {"/a.yaml", "/b.yaml", "/c", "/e.yaml"}


def test_a_name_in_a_template_still_means_its_file(stack: InlineStack) -> None:
    """As the command line sends them: files by URLs, names by links."""
    for name in ("one.yaml", "two.yaml", "three.yaml"):
        url = f"file:///x/{name}"
        bundle = make_bundle(make_group(name), {url: LEAF}, links={"template": {name: url}})
        found = run(stack, bundle)
        assert found.state.endswith("_COMPLETE"), found.status_reason
    assert list_files(stack) == {"file:///x/two.yaml", "file:///x/three.yaml"}


def test_an_update_after_a_failed_batch_has_the_files_of_all_members(stack: InlineStack) -> None:
    run(stack, make_bundle(make_group("/a.yaml"), {"/a.yaml": LEAF}))
    broken = run(stack, make_bundle(make_group("/b.yaml"), {"/b.yaml": FAILING}), rollback=False)
    assert broken.state == "UPDATE_FAILED"
    assert "fetch" not in broken.status_reason
    found = run(stack, make_bundle(make_group("/c.yaml"), {"/c.yaml": LEAF}))
    assert found.state == "UPDATE_COMPLETE", found.status_reason
    assert list_member_types(stack) == ["/c.yaml"] * 4


def test_a_failed_batch_is_rolled_back_to_the_earlier_file(stack: InlineStack) -> None:
    run(stack, make_bundle(make_group("/a.yaml"), {"/a.yaml": LEAF}))
    found = run(stack, make_bundle(make_group("/b.yaml"), {"/b.yaml": FAILING}), rollback=True)
    assert found.state == "ROLLBACK_COMPLETE", found.status_reason
    assert list_member_types(stack) == ["/a.yaml"] * 4


def test_an_update_after_a_rollback_in_batches_has_the_files_of_all_members(
    stack: InlineStack,
) -> None:
    """Which fails half-way: the earlier template has no files of the newer one."""
    run(stack, make_bundle(make_group("/a.yaml"), {"/a.yaml": LEAF}))
    bundle = make_bundle(make_group("/b.yaml"), {"/b.yaml": LEAF}, fails=True)
    assert run(stack, bundle, rollback=True).state == "ROLLBACK_FAILED"
    found = run(stack, make_bundle(make_group("/a.yaml"), {"/a.yaml": LEAF}))
    assert found.state == "UPDATE_COMPLETE", found.status_reason
    assert list_member_types(stack) == ["/a.yaml"] * 4
