"""Attributes of an owner after a signal below it: none is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.conftest import showing

from zonda.core.engine.actions import CreateStack, SignalResource, UpdateStack
from zonda.core.engine.model.effects import Call, Step
from zonda.core.engine.nested.operation import ChildOperation
from zonda.core.engine.nested.refresh import refresh
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack

VERSION = "heat_template_version: 2018-08-31\n"
CHILD = (
    VERSION
    + """
parameters: {v: {type: string, default: one}}
resources:
  g:
    type: OS::Heat::AutoScalingGroup
    properties:
      {min_size: 1, max_size: 9, resource: {type: OS::Heat::TestResource, properties: {value: x}}}
  p:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      auto_scaling_group_id: {get_resource: g}
      scaling_adjustment: 1
outputs:
  n: {value: {get_attr: [g, current_size]}}
  v: {value: {get_param: v}}
"""
)
MIDDLE = (
    VERSION
    + """
parameters: {v: {type: string, default: one}}
resources: {d: {type: child.yaml, properties: {v: {get_param: v}}}}
outputs: {n: {value: {get_attr: [d, n]}}}
"""
)
ROOT = (
    VERSION
    + """
parameters: {v: {type: string, default: one}}
resources: {c: {type: middle.yaml, properties: {v: {get_param: v}}}}
outputs: {n: {value: {get_attr: [c, n]}}}
"""
)


def bundle(**parameters: str) -> Bundle:
    files = {"middle.yaml": MIDDLE, "child.yaml": CHILD}
    return Bundle(ROOT, parameters=parameters, files=files)


class Scaled:
    """A stack with a group two levels below it."""

    def __init__(self, stack: InlineStack) -> None:
        self.stack = stack
        self.id = stack.engine.run(CreateStack("s", bundle())).id
        self.signal = SignalResource(stack.engine.reader.tree(self.id)[2].id, "p", {})

    @property
    def engine(self) -> Any:
        return self.stack.engine

    @property
    def shown(self) -> Any:
        (output,) = showing(self.engine).outputs(self.id)
        return output.value

    def row(self, name: str) -> ResourceRow:
        rows = [
            row
            for stack in self.engine.reader.tree(self.id)
            for row in self.engine.reader.resource_rows(stack.id)
        ]
        return next(row for row in rows if row.name == name)

    def until(self, is_so: Any) -> None:
        for _ in range(500):
            if is_so():
                return
            self.engine._run_once()
        raise AssertionError("it never came so far")

    def scale(self) -> None:
        """Until the group has changed, and no further."""
        fence = self.row("g").fence
        self.engine.begin(self.signal)
        self.until(lambda: self.row("g").fence > fence and not self.row("g").op)

    def is_behind(self, name: str) -> bool:
        return self.row(name).below != self.row(name).below_seen


def late(step: Step, said: Any) -> Step:
    """The rest of a step whose first call has answered ``said`` at last."""
    effect = step.send(said)
    while True:
        answer = yield effect
        try:
            effect = step.send(answer)
        except StopIteration:
            return


@pytest.fixture
def scaled(tmp_path: Path) -> Iterator[Scaled]:
    stack = InlineStack(tmp_path, name="s")
    yield Scaled(stack)
    stack.close()


def test_owners_show_what_a_signal_below_has_changed(scaled: Scaled) -> None:
    scaled.engine.run(scaled.signal)
    assert scaled.shown == 2
    assert not scaled.is_behind("c")
    assert not scaled.is_behind("d")


def test_what_owners_are_to_show_outlives_the_process(scaled: Scaled) -> None:
    scaled.scale()
    assert scaled.shown == 1
    scaled.stack.restart()
    scaled.engine.recover()
    scaled.engine.settle()
    assert scaled.shown == 2


def test_it_does_so_between_two_levels(scaled: Scaled) -> None:
    scaled.scale()
    scaled.until(lambda: not scaled.is_behind("d"))
    assert scaled.is_behind("c")
    scaled.stack.restart()
    scaled.engine.recover()
    scaled.engine.settle()
    assert scaled.shown == 2


def test_an_owner_that_could_not_be_asked_is_asked_again(scaled: Scaled, monkeypatch: Any) -> None:
    original = ChildOperation.state

    def broken(self: Any) -> Any:
        if self.row.name == "d":
            raise OSError("away")
        return original(self)

    with monkeypatch.context() as patch:
        patch.setattr(ChildOperation, "state", broken)
        scaled.scale()
        scaled.engine.settle()
    assert scaled.shown == 1
    scaled.engine.recover()
    scaled.engine.settle()
    assert scaled.shown == 2


def test_an_answer_from_before_a_change_does_not_hide_that(scaled: Scaled) -> None:
    scaled.scale()
    slow = refresh(scaled.engine.services, scaled.row("d").id)
    call = next(slow)
    assert isinstance(call, Call)
    said = call.run()
    scaled.engine.settle()
    scaled.engine.run(scaled.signal)
    scaled.engine.driver.start(late(slow, said))
    scaled.engine.settle()
    assert scaled.shown == 3


def test_an_operation_that_asked_before_a_change_does_not_hide_that(
    scaled: Scaled, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, met = ChildOperation._build_final, list[str]()

    def final(self: Any, **given: Any) -> Any:
        answer = original(self, **given)
        if self.row.name == "d" and self.action == "UPDATE" and not met:
            met.append(self.row.op)
            scaled.scale()
        return answer

    monkeypatch.setattr(ChildOperation, "_build_final", final)
    scaled.engine.run(UpdateStack("s", bundle(v="two")))
    assert met == ["UPDATE"]
    assert scaled.shown == 2


def test_each_owner_is_asked_once_at_a_time(scaled: Scaled) -> None:
    """What is told of meanwhile is asked for afterwards."""
    scaled.scale()
    driver, key = scaled.engine.driver, scaled.row("d").id
    waiting = len(scaled.engine._calls)
    driver.refresh(key)
    driver.refresh(key)
    assert len(scaled.engine._calls) <= max(waiting, 1)
    scaled.engine.settle()
    assert scaled.shown == 2
