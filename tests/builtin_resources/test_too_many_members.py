"""Groups that would have more members than a stack may have resources: refused, nothing is made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import DeleteStack
from zonda.core.store.read.reader import Reader
from zonda.core.store.write.transaction import Transaction
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import TooManyResources, ValidationErrors

from .lives import Life

HUGE = 10**9


def group(count: object = 1, more: str = "") -> str:
    return f"""
        resources:
          g:
            type: OS::Heat::ResourceGroup
            properties: {{count: {count}, resource_def: {{type: OS::Heat::None}}}}
        {more}
        """


def scaling(least: int = 1, wanted: int = HUGE, more: str = "") -> str:
    return f"""
        resources:
          g:
            type: OS::Heat::AutoScalingGroup
            properties:
              min_size: {least}
              max_size: {HUGE}
              resource: {{type: OS::Heat::None}}
          p:
            type: OS::Heat::ScalingPolicy
            properties:
              auto_scaling_group_id: {{get_resource: g}}
              adjustment_type: exact_capacity
              scaling_adjustment: {wanted}
          {more}
        """


@pytest.mark.parametrize("text", [group(HUGE), scaling(HUGE)], ids=["fixed", "scaling"])
def test_a_group_that_is_too_large_is_refused_by_the_check(life: Life, text: str) -> None:
    with pytest.raises(ValidationErrors) as caught:
        life.create(text)
    (fault,) = caught.value.errors
    assert isinstance(fault, TooManyResources)
    assert str(fault) == f"A stack may have 10000 resources; this one would have {HUGE}."
    assert fault.place is not None


def test_a_size_that_only_another_resource_tells_fails_when_it_is_known(life: Life) -> None:
    text = """
        resources:
          n: {type: OS::Heat::Value, properties: {type: number, value: 1000000000}}
          g:
            type: OS::Heat::ResourceGroup
            properties: {count: {get_attr: [n, value]}, resource_def: {type: OS::Heat::None}}
        """
    made = life.create(text)
    assert made.state == "CREATE_FAILED"
    assert f"would have {HUGE}" in made.status_reason


def test_a_signal_that_asks_for_too_many_is_refused_and_keeps_nothing(life: Life) -> None:
    life.create(scaling())
    with pytest.raises(Exception, match=f"would have {HUGE}"):
        life.signal("p")
    assert len(life.members("g")) == 1
    assert life.update(scaling(least=2)).state == "UPDATE_COMPLETE"
    assert len(life.members("g")) == 2


def test_a_size_that_was_stored_before_hinders_neither_update_nor_deletion(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    life.create(scaling())
    with monkeypatch.context() as patch:
        patch.setattr(
            "zonda.builtin_resources.autoscaling.base.ScaledGroup._compute_signalled_size",
            lambda *_: HUGE,
        )
        life.signal("p")
    events = life.engine.reader.events(life.child_of_root)
    assert [each.status for each in events if each.action == "SIGNAL"][-1] == "FAILED"
    assert life.update(scaling(least=2)).state == "UPDATE_COMPLETE"
    assert len(life.members("g")) == 2
    life.run(DeleteStack("test"))


def rows_of(width: str, height: int) -> str:
    """A group of groups."""
    return f"""
        resources:
          n: {{type: OS::Heat::Value, properties: {{type: number, value: {width}}}}}
          g:
            type: OS::Heat::ResourceGroup
            properties:
              count: {{get_attr: [n, value]}}
              resource_def:
                type: OS::Heat::ResourceGroup
                properties: {{count: {height}, resource_def: {{type: OS::Heat::None}}}}
        """


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Life]:
    """A stack with all that is nested in it may have twenty resources."""
    (tmp_path / "zonda.toml").write_text("max_resources_per_stack = 20\n")
    stack = InlineStack(tmp_path)
    yield Life(stack)
    stack.close()


def test_all_that_is_nested_in_a_stack_counts(small: Life) -> None:
    """Each nested stack was counted by itself, so a group of groups could have any number."""
    made = small.create(rows_of("4", 4))  # 2, and 4, and 4 of each
    assert made.state == "CREATE_FAILED"
    limit = "A stack with all that is nested in it may have 20 resources; this one would have 22."
    assert limit in made.status_reason
    assert small.engine.reader.tree_size(small.child_of_root) == 18
    assert small.stack.delete().state == "DELETE_COMPLETE"


def test_what_goes_makes_room(small: Life) -> None:
    assert small.create(rows_of("3", 5)).state == "CREATE_COMPLETE"  # 2, and 3, and 5 of each
    assert small.update(rows_of("3", 6)).state == "UPDATE_FAILED"
    small.stack.restart()
    small.engine = small.stack.engine
    assert small.update(rows_of("2", 5)).state == "UPDATE_COMPLETE"
    assert small.update(rows_of("2", 8)).state == "UPDATE_COMPLETE"  # 2, and 2, and 8 of each
    assert small.engine.reader.tree_size(small.child_of_root) == 20


def test_a_tree_is_counted_once(small: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    def watch(cls: type[Any]) -> None:
        count = cls.tree_size

        def counting(self: Any, root_id: str, **more: bool) -> Any:
            counted.append(root_id)
            return count(self, root_id, **more)

        monkeypatch.setattr(cls, "tree_size", counting)

    watch(Reader)
    watch(Transaction)
    assert small.create(rows_of("8", 1)).state == "CREATE_COMPLETE"
    assert len(counted) == 1


def test_what_the_stack_at_the_top_has_itself_counts_by_its_next_plan(small: Life) -> None:
    small.create(rows_of("3", 3))  # 2, and 3, and 3 of each
    more = "".join(f"\n          x{i}: {{type: OS::Heat::None}}" for i in range(4))
    updated = small.update(rows_of("3", 4).replace("resources:", f"resources:{more}", 1))
    assert updated.state == "UPDATE_FAILED"  # 6, and 3, and 4 of each
    assert "would have 21" in updated.status_reason
