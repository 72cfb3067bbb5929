"""Groups and chains that are abandoned and adopted again: every member is bound by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import showing

from zonda.core.engine.actions import (
    AbandonStack,
    AdoptStack,
    CreateStack,
    DeleteStack,
    RestoreSnapshot,
    SnapshotStack,
    UpdateStack,
)
from zonda.core.engine.templates import stored
from zonda.core.reports.export import StackExporter
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

LEAF = """\
heat_template_version: 2018-08-31
resources: {r: {type: OS::Heat::RandomString}}
outputs: {v: {value: {get_attr: [r, value]}}}
"""
ROOT = """\
heat_template_version: 2018-08-31
resources:
  g:
    type: OS::Heat::ResourceGroup
    update_policy: {batch_create: {max_batch_size: 1}}
    properties: {count: 3, resource_def: {type: leaf.yaml}}
  h:
    type: OS::Heat::AutoScalingGroup
    properties:
      {min_size: 1, max_size: 4, desired_capacity: 2, resource: {type: "OS::Heat::RandomString"}}
  c:
    type: OS::Heat::ResourceChain
    properties: {resources: [leaf.yaml, OS::Heat::RandomString]}
outputs:
  g: {value: {get_attr: [g, v]}}
  h: {value: {get_attr: [h, outputs, value]}}
  c: {value: {get_attr: [c, refs]}}
"""


def members(stack: InlineStack, root_id: str) -> dict[str, str | None]:
    """The physical ids of what is no nested stack, by the names of owner and member."""
    reader = stack.engine.reader
    rows = [row for each in reader.tree(root_id) for row in reader.resource_rows(each.id)]
    owners = {row.id: row.name for row in rows}
    below = {each.id: owners.get(each.owner_resource_id or "", "") for each in reader.tree(root_id)}
    return {
        f"{below[row.stack_id]}/{row.name}": row.physical_id
        for row in rows
        if reader.child_row(row.id) is None
    }


def test_what_was_abandoned_is_adopted_member_by_member(tmp_path: Path) -> None:
    stack = InlineStack(tmp_path)
    bundle = Bundle(ROOT, files={"leaf.yaml": LEAF})
    made = stack.engine.run(CreateStack("t", bundle))
    assert made.state == "CREATE_COMPLETE"
    before = members(stack, made.id)
    shown = {each.name: each.value for each in showing(stack.engine).outputs(made.id)}

    def read(given: Any, identity: Any) -> Any:
        return stack.engine.services.definitions.load(given, identity, None, False)

    export = StackExporter(stack.engine.reader, read).export(made.id, with_secrets=True)
    stack.engine.run(AbandonStack("t", export.digest))
    adopted = stack.engine.run(AdoptStack("t", bundle, export.values["resources"]))
    assert (adopted.state, adopted.status_reason) == (
        "ADOPT_COMPLETE",
        "Stack ADOPT completed successfully",
    )
    assert members(stack, adopted.id) == before
    again = {each.name: each.value for each in showing(stack.engine).outputs(adopted.id)}
    assert (again["g"], again["h"]) == (shown["g"], shown["h"])
    assert stack.engine.run(UpdateStack("t", bundle)).state == "UPDATE_COMPLETE"
    assert members(stack, adopted.id) == before
    assert stack.engine.run(DeleteStack("t")).state == "DELETE_COMPLETE"
    stack.close()


def test_groups_go_back_to_a_snapshot(tmp_path: Path) -> None:
    stack = InlineStack(tmp_path)
    made = stack.engine.run(CreateStack("t", Bundle(ROOT, files={"leaf.yaml": LEAF})))
    before = members(stack, made.id)
    assert stack.engine.run(SnapshotStack("t", "one")).state == "SNAPSHOT_COMPLETE"
    more = Bundle(ROOT.replace("count: 3", "count: 4"), files={"leaf.yaml": LEAF})
    stack.engine.run(UpdateStack("t", more))
    assert len(members(stack, made.id)) == len(before) + 1
    assert stack.engine.run(RestoreSnapshot("t", "one")).state == "RESTORE_COMPLETE"
    assert members(stack, made.id) == before
    stack.close()


def test_what_is_generated_is_not_written_out_to_be_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document has what templates mean: of a large tree their texts took most of the time."""
    stack = InlineStack(tmp_path)
    bundle = Bundle(ROOT, files={"leaf.yaml": LEAF})
    made = stack.engine.run(CreateStack("t", bundle))

    def read(given: Any, identity: Any) -> Any:
        return stack.engine.services.definitions.load(given, identity, None, False)

    def written(template: Any) -> str:
        raise AssertionError(template)

    monkeypatch.setattr(stored, "_format_template", written)
    for with_secrets in (True, False):
        found = StackExporter(stack.engine.reader, read).export(made.id, with_secrets=with_secrets)
        group = found.values["resources"]["g"]
        assert [*group["template"]["resources"]] == ["0", "1", "2"]
    stack.close()
