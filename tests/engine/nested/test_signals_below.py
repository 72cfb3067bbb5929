"""What signals have begun below a stack that starts nothing more, however deep that is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Bench
from tests.engine.handlers.test_cancel import GRACE, wait
from tests.engine.nested_trees import Tree, template

from zonda.core.engine.actions import CancelStack, SignalResource, UpdateStack
from zonda.hooks.errors import Conflict, ResourceFailure
from zonda.hooks.resources.nested_stack import CONVERGE, Child, ChildTemplate, NestedStack

FILES = {"child.yaml": template("g: {type: Test::Growing}\nh: {type: Test::Growing}")}


class Growing(NestedStack):
    """A signal has two more members made, one after the other, after a pause."""

    def next_template(self, child: Child | None, applied: int) -> ChildTemplate | None:
        members: dict[str, Any] = {"m0": {"type": "Test::Box"}}
        if self.data():
            members["m1"] = {"type": "Test::Slow"}
            members["m2"] = {"type": "Test::Box", "depends_on": "m1"}
        made = {"heat_template_version": "2018-08-31", "resources": members}
        pause = float(self.data().get("pause", 0.0))
        return None if applied else ChildTemplate(made, pause=pause)

    def handle_signal(self, details: Any = None) -> Any:
        self.data_set("pause", str(details["pause"]))
        return CONVERGE


class Life(Tree):
    """A root with a group at ``way``, which a signal has made grow, and an update after that."""

    def __init__(self, bench: Bench, way: str) -> None:
        super().__init__(bench)
        self.way = way
        above, _, self.group = way.rpartition("/")
        self.owner = f"{above}: {{type: child.yaml}}" if above else "g: {type: Test::Growing}"
        bench.types["Test::Growing"] = Growing
        bench.restart()

    def write(self, value: str) -> str:
        return template(f"r: {{type: Test::Slow, properties: {{value: {value}}}}}\n{self.owner}")

    def grow(self, pause: float = 0.0) -> None:
        """The signal has come to ``m1``, or to its pause."""
        self.create(self.write("one"), files=FILES)
        self.bench.journal.behave["m1", "check"] = lambda resource: False
        signal = SignalResource(self.resource(self.way).stack_id, self.group, {"pause": pause})
        self.begin(
            signal,
            until=lambda: self.resource(self.way).token if pause else "check" in self.calls("m1"),
        )

    def begin_update(self, **given: Any) -> None:
        """The update has come to ``r``."""
        self.bench.journal.behave["r", "check"] = lambda resource: False
        update = UpdateStack("s", self.bundle(self.write("two"), FILES), **given)
        self.bench.journal.calls.clear()
        self.begin(update, until=lambda: "check" in self.calls("r"))
        assert self.resource(self.way).op == "SIGNAL"

    def go_on(self) -> str:
        """All that hangs does so no more; gives the state of the stack in the end."""
        self.bench.journal.behave.clear()
        return str(self.settle().state)


@pytest.fixture(params=["g", "c/g"], ids=["in-the-root", "in-an-idle-stack"])
def life(bench: Bench, request: Any) -> Life:
    return Life(bench, request.param)


def test_a_cancellation_has_a_signal_begin_nothing_more(life: Life) -> None:
    life.grow()
    life.begin_update()
    life.bench.engine.begin(CancelStack("s", rollback=False))
    assert life.go_on() == "UPDATE_FAILED"
    assert life.states()[f"{life.way}/m1"] == "CREATE_COMPLETE"
    assert life.calls("m2") == []


def test_after_the_grace_of_a_cancellation_what_a_signal_has_begun_is_told(life: Life) -> None:
    life.grow()
    life.begin_update()
    life.bench.engine.begin(CancelStack("s", rollback=False))
    wait(life.bench, GRACE + 1)
    assert life.calls("m1")[-1] == "handle_create_cancel"
    assert life.resource(life.way).op == ""
    assert {stack.phase for stack in life.stacks().values()} == {"IDLE"}


def test_a_cancellation_ends_a_signal_that_has_begun_nothing_yet(life: Life) -> None:
    life.grow(pause=1000.0)
    life.begin_update()
    life.bench.engine.begin(CancelStack("s", rollback=False))
    assert life.go_on() == "UPDATE_FAILED"
    assert life.resource(life.way).op == ""
    assert life.calls("m1") == []


@pytest.mark.parametrize("pause", [0.0, 1000.0], ids=["at-work", "in-a-pause"])
def test_the_time_of_the_stack_ends_what_a_signal_has_begun(life: Life, pause: float) -> None:
    life.grow(pause)
    life.begin_update(timeout_mins=1, rollback=False)
    wait(life.bench, 61.0)
    assert life.bench.stack.status_reason == "Update timed out"
    assert life.resource(life.way).op == ""
    assert life.calls("m1")[-1:] == ([] if pause else ["handle_create_cancel"])
    life.go_on()
    assert life.calls("m2") == []


def test_a_failure_that_is_rolled_back_has_a_signal_begin_nothing_more(life: Life) -> None:
    life.grow()
    life.begin_update(rollback=True)

    def fail(resource: Any) -> bool:
        if resource.context.operation.action == "UPDATE":
            raise ResourceFailure("no")
        return True

    life.bench.journal.behave["r", "check"] = fail
    life.bench.steps(20)
    assert life.bench.stack.action == "ROLLBACK"
    del life.bench.journal.behave["m1", "check"]
    assert life.settle().state == "ROLLBACK_COMPLETE"
    events = life.reader.events(life.resource(life.way).stack_id)
    (reason,) = [e.reason for e in events if (e.action, e.status) == ("SIGNAL", "FAILED")]
    assert reason == "ResourceFailure: resources.g: Stopped with the stack above"


def test_a_signal_is_refused_below_a_stack_that_was_cancelled(bench: Bench) -> None:
    """It was begun, and then broken off."""
    life = Life(bench, "c/g")
    life.grow()
    life.begin_update()
    bench.engine.begin(CancelStack("s", rollback=False))
    with pytest.raises(Conflict, match=r"Resource h is being worked on \(UPDATE\)"):
        bench.engine.begin(SignalResource(life.resource("c/h").stack_id, "h", {"pause": 0.0}))
