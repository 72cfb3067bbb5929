"""Plans that a signal makes below follow the policies of the stack at the top."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.engine.conftest import Bench

from zonda.core.engine.actions import CreateStack, SignalResource, UpdateStack
from zonda.core.engine.nested import plan
from zonda.core.store.read.views import StackView
from zonda.core.template.environment.policies import Policies
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.resources.nested_stack import CONVERGE, Child, ChildTemplate, NestedStack

GROUP = "g: {type: Test::Fewer}\n"
PROTECTING = "zonda: {protect: {'Test::Box': true}}"
REFUSED = "Protected: resources.g: m1 in stack s-g-.* is protected"


class Fewer(NestedStack):
    """Two boxes; one less with every signal."""

    def child_template(self) -> dict[str, Any]:
        names = ["m0", "m1"][: int(self.data().get("size", 2))]
        resources = {name: {"type": "Test::Box"} for name in names}
        return {"heat_template_version": "2018-08-31", "resources": resources}

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        return None if applied else ChildTemplate(self.child_template())

    def handle_signal(self, details: Any = None) -> Any:
        self.data_set("size", str(int(self.data().get("size", 2)) - 1))
        return CONVERGE


@pytest.fixture
def group(bench: Bench) -> Bench:
    bench.types["Test::Fewer"] = Fewer
    return bench


def create(bench: Bench, environment: str = "") -> None:
    bundle = bench.bundle(GROUP, environment=environment)
    assert bench.run(CreateStack("s", bundle, rollback=False)).state == "CREATE_COMPLETE"


def update(bench: Bench, environment: str, more: str = "", rollback: bool = False) -> StackView:
    bundle: Bundle = bench.bundle(GROUP + more, environment=environment)
    return bench.run(UpdateStack("s", bundle, rollback=rollback))


def refusals(bench: Bench) -> list[str]:
    """Why what a signal begins has failed."""
    bench.run(SignalResource("s", "g", {}))
    events = bench.engine.reader.events(bench.stack.id)
    return [each.reason for each in events if (each.action, each.status) == ("SIGNAL", "FAILED")]


def child(bench: Bench) -> Any:
    return bench.engine.reader.tree(bench.stack.id)[1]


def members(bench: Bench) -> list[str]:
    return sorted(row.name for row in bench.engine.reader.resource_rows(child(bench).id))


def test_what_an_update_protects_that_planned_no_group(group: Bench) -> None:
    """The policies were those of the update that had planned the group."""
    create(group)
    update(group, PROTECTING)
    assert re.search(REFUSED, " ".join(refusals(group)))
    assert members(group) == ["m0", "m1"]


def test_what_an_update_protects_no_more(group: Bench) -> None:
    create(group, PROTECTING)
    update(group, "")
    assert refusals(group) == []
    assert members(group) == ["m0"]


def test_what_an_update_protects_no_more_that_has_failed(group: Bench) -> None:
    create(group, PROTECTING)
    group.fails("z", "handle_create")
    assert update(group, "", "z: {type: Test::Box}\n").state == "UPDATE_FAILED"
    assert re.search(REFUSED, " ".join(refusals(group)))


def test_what_is_protected_after_a_rollback(group: Bench) -> None:
    """It was not: what a rollback undoes may go, and the stack's last action was one."""
    create(group, PROTECTING)
    group.fails("z", "handle_create")
    found = update(group, PROTECTING, "z: {type: Test::Box}\n", rollback=True)
    assert found.state == "ROLLBACK_COMPLETE"
    assert re.search(REFUSED, " ".join(refusals(group)))
    assert members(group) == ["m0", "m1"]


def test_what_is_said_while_the_plan_below_is_made(
    group: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan was stored, although it heeded what had been said before."""
    create(group)
    texts, made = [Policies(before={"Test::Box": True}).to_text()], plan.build_plan

    def proposed(*given: Any) -> Any:
        proposal = made(*given)
        if texts:
            with group.store.transaction() as tx:
                tx.stack(group.stack.id).policies = texts.pop()
        return proposal

    monkeypatch.setattr(plan, "build_plan", proposed)
    assert re.search(REFUSED, " ".join(refusals(group)))
    assert members(group) == ["m0", "m1"]
