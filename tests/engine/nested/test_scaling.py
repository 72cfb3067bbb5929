"""Signals that have begun in a nested stack, and further signals meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import showing

from zonda.core.engine.actions import (
    CancelStack,
    CheckStack,
    CreateStack,
    DeleteStack,
    SignalResource,
    SnapshotStack,
    SuspendStack,
    UpdateStack,
)
from zonda.core.engine.nested import plan
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import NotSupported

VERSION = "heat_template_version: 2018-08-31\n"
POLICY = """
  p:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      auto_scaling_group_id: {get_resource: g}
      scaling_adjustment: 3
"""
ROOT = f"""{VERSION}
parameters: {{v: {{type: string, default: one}}}}
resources:
  other: {{type: OS::Heat::Value, properties: {{value: {{get_param: v}}}}}}
  g:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 9
      resource: {{type: OS::Heat::TestResource, properties: {{value: x, wait_secs: 100}}}}
{POLICY}
outputs: {{n: {{value: {{get_attr: [g, current_size]}}}}}}
"""


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[InlineStack]:
    made = InlineStack(tmp_path, name="s")
    yield made
    made.close()


@pytest.fixture
def scaling(stack: InlineStack) -> InlineStack:
    """Members are being made."""
    made = stack.engine.run(CreateStack("s", Bundle(ROOT)))
    stack.engine.begin(SignalResource("s", "p", {}))
    for _ in range(500):
        rows = members(stack, made.id)
        if any(row.op for row in rows):
            return stack
        stack.engine._run_once()
    raise AssertionError("it never came so far")


def members(stack: InlineStack, root: str) -> list[Any]:
    found = [
        row
        for each in stack.engine.reader.tree(root)[1:]
        for row in stack.engine.reader.resource_rows(each.id)
    ]
    return found


def ends(stack: InlineStack) -> list[str]:
    events = stack.engine.reader.events(stack.engine.reader.stack("s").id)
    return [event.reason for event in events if (event.action, event.status) == SIGNAL_FAILED]


SIGNAL_FAILED = ("SIGNAL", "FAILED")


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(CheckStack("s"), id="check"),
        pytest.param(SnapshotStack("s", "kept"), id="snapshot"),
        pytest.param(UpdateStack("s", Bundle(ROOT, parameters={"v": "two"})), id="update"),
    ],
)
def test_what_has_nothing_against_it_waits_for_it(scaling: InlineStack, action: Any) -> None:
    found = scaling.engine.run(action)
    assert found.status == "COMPLETE"
    assert ends(scaling) == []
    (output,) = showing(scaling.engine).outputs(found.id)
    assert output.value == 4


def test_what_wants_something_else_breaks_it_off(scaling: InlineStack) -> None:
    scaling.engine.run(SuspendStack("s"))
    assert ends(scaling) != []


@pytest.mark.parametrize("rollback", [False, True], ids=["as-it-is", "going-back"])
def test_it_can_be_cancelled(scaling: InlineStack, rollback: bool) -> None:
    began = scaling.engine.clock.now()
    grace = scaling.engine.settings.cancel_grace
    scaling.engine.run(CancelStack("s", rollback))
    assert len(ends(scaling)) == 1
    events = scaling.engine.reader.events(scaling.engine.reader.stack("s").id)
    assert max(event.at for event in events) <= began + grace
    assert scaling.engine.reader.stack("s").state == "CREATE_COMPLETE"
    with pytest.raises(NotSupported, match="no action in progress"):
        scaling.engine.run(CancelStack("s"))


def test_a_nested_stack_is_made_in_the_tree_that_its_owner_is_in_by_then(
    stack: InlineStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was made in the tree that its owner's had been taken out of meanwhile."""
    engine, files = stack.engine, {"leaf.yaml": LEAF, "child.yaml": CHILD}
    root = engine.run(CreateStack("s", Bundle(KEEPING, files=files)))
    kept = engine.reader.tree(root.id)[1]
    original, met = plan.build_plan, list[str]()

    def proposed(services: Any, child: Any, spec: Any, *rest: Any) -> Any:
        made = original(services, child, spec, *rest)
        if spec.file and "leaf" in spec.file and not child.generation and not met:
            met.append(child.id)
            engine.begin(UpdateStack("s", Bundle(WITHOUT, files=files)))
            while not engine.reader.stack("s").idle:
                engine._run_once()
        return made

    monkeypatch.setattr(plan, "build_plan", proposed)
    engine.begin(SignalResource(kept.id, "p", {}))
    engine.settle()
    assert met
    assert [each.id for each in engine.reader.tree(root.id)] == [root.id]
    engine.run(DeleteStack("s"))
    assert engine.reader.tree(root.id) == []


LEAF = VERSION + "resources: {a: {type: OS::Heat::TestResource}}\n"
CHILD = f"""{VERSION}
resources:
  g:
    type: OS::Heat::AutoScalingGroup
    properties: {{min_size: 1, max_size: 9, resource: {{type: leaf.yaml}}}}
{POLICY}
"""
WITHOUT = VERSION + "resources:\n  k: {type: OS::Heat::Value, properties: {value: x}}\n"
KEEPING = WITHOUT + "  c: {type: child.yaml, deletion_policy: Retain}\n"
