"""Groups that would have more members than a stack may have resources: refused, nothing is made."""

from __future__ import annotations

import pytest

from zonda.core.engine.actions import DeleteStack
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
        patch.setattr("zonda.builtin_resources.scaled_group.ScaledGroup._wanted", lambda *_: HUGE)
        life.signal("p")
    events = life.engine.reader.events(life.child_of_root)
    assert [each.status for each in events if each.action == "SIGNAL"][-1] == "FAILED"
    assert life.update(scaling(least=2)).state == "UPDATE_COMPLETE"
    assert len(life.members("g")) == 2
    life.run(DeleteStack("test"))
