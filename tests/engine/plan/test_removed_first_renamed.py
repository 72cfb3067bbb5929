"""Incomplete resources that no plan wants are deleted before anything new is created.

A thing that is known by a property may be named by another resource of the next template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.engine.conftest import KEY
from tests.engine.plan.test_removed_first import ONE, OTHER, Named, Stage

from zonda.core.engine.actions import CreateStack, RetryStack, UpdateStack
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import open_store
from zonda.core.template.source.bundle import Bundle

RENAMED = ONE.replace("a:", "b:")
#: ``c`` is made first, then ``b``, which takes the place of ``a``.
BEHIND = RENAMED.replace("Named,", "Named, depends_on: c,") + "\nc: {type: Test::Plain}"
SEVERAL = "\n".join(
    f"{name}: {{type: Test::Named, properties: {{name: {name}, value: one}}}}" for name in "pqr"
)


@pytest.fixture
def stage() -> Iterator[Stage]:
    store = open_store(":memory:", sealer=Sealer(KEY))
    yield Stage(store)
    store.close()


@pytest.mark.parametrize(
    "text", [RENAMED, RENAMED.replace("Named", "Patient"), BEHIND], ids=["same", "type", "behind"]
)
def test_another_resource_that_names_the_thing_waits_for_the_removal(
    text: str, stage: Stage
) -> None:
    stage.broken(ONE)

    assert stage.update(text).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.calls("a") == ["handle_delete"]
    assert stage.state("b") == "CREATE_COMPLETE"
    assert len(stage.resource_rows()) == len(stage.states())


def test_a_replacement_under_another_name_waits_for_the_removal(stage: Stage) -> None:
    both = ONE + "\n" + RENAMED.replace("name: x", "name: y")
    stage.broken(both)
    assert stage.world == {"x": "one", "y": "one"}

    assert stage.update(RENAMED).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.calls("b")[-2:] == ["handle_create", "handle_delete"]


def test_an_update_in_place_does_not_wait_for_the_removal(stage: Stage) -> None:
    stage.broken(ONE + "\n" + RENAMED.replace("name: x", "name: y"))
    stage.fails("a", "handle_delete")

    view = stage.update(RENAMED.replace("name: x, value: one", "name: y, value: two"))

    assert view.state == "UPDATE_FAILED"
    assert stage.world == {"x": "one", "y": "two"}


def test_all_that_is_new_waits_for_all_that_is_removed(stage: Stage) -> None:
    for name in "pqr":
        stage.fails(name, "handle_create")
    stage.create(SEVERAL)
    new = SEVERAL
    for name in "pqr":
        stage.heals(name, "handle_create")
        new = new.replace(f"{name}: {{type", f"new_{name}: {{type")
    stage.journal.calls.clear()

    assert stage.update(new).state == "UPDATE_COMPLETE"

    assert stage.world == {"p": "one", "q": "one", "r": "one"}
    assert set(stage.states()) == {"new_p", "new_q", "new_r"}


@pytest.mark.parametrize("text", [RENAMED, BEHIND], ids=["alone", "behind"])
def test_where_a_removal_fails_nothing_new_is_made_behind_it(text: str, stage: Stage) -> None:
    stage.broken(ONE)
    stage.fails("a", "handle_delete")

    for action in (UpdateStack("s", stage.bundle(text)), RetryStack("s")):
        view = stage.run(action)
        assert view.state == "UPDATE_FAILED"
        assert view.status_reason == "resources.a: no"
        assert stage.state("b") == "INIT_COMPLETE"
        assert stage.world == {"x": "one"}

    stage.heals("a", "handle_delete")
    assert stage.run(RetryStack("s")).state == "UPDATE_COMPLETE"
    assert stage.world == {"x": "one"}
    assert "a" not in stage.states()


def test_one_of_several_removals_that_fails_stops_what_is_new(stage: Stage) -> None:
    for name in "pqr":
        stage.fails(name, "handle_create")
    stage.create(SEVERAL)
    stage.fails("q", "handle_delete")

    assert stage.update(RENAMED).state == "UPDATE_FAILED"

    assert stage.states() == {"b": "INIT_COMPLETE"}
    assert stage.calls("b") == []
    stage.heals("q", "handle_delete")
    assert stage.run(RetryStack("s")).state == "UPDATE_COMPLETE"
    assert stage.world == {"x": "one"}


def test_what_requires_something_new_is_removed_all_the_same(stage: Stage) -> None:
    """No circle: to be removed, what was never completed waits for nothing."""
    used = ONE.replace("Named,", "Named, depends_on: c,") + "\nc: {type: Test::Plain}"
    stage.broken(used)
    new = RENAMED + "\nc: {type: Test::Plain, depends_on: b}"

    assert stage.update(new).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.states() == {"b": "CREATE_COMPLETE", "c": "UPDATE_COMPLETE"}


def test_what_was_completed_goes_after_as_in_heat(stage: Stage) -> None:
    stage.create(ONE)
    stage.journal.calls.clear()

    assert stage.update(OTHER.replace("a:", "b:")).state == "UPDATE_COMPLETE"

    names = [
        name for name, call in stage.journal.calls if call in ("handle_create", "handle_delete")
    ]
    assert names == ["b", "a"]


class Slow(Named):
    """Is asked whether it is there."""

    def check_create_complete(self, token: Any) -> bool:
        return self.journal.note(self, "check_create") is not False


def test_a_creation_that_is_superseded_is_ended_and_removed_before(stage: Stage) -> None:
    shared = {"journal": stage.journal, "world": stage.world}
    stage.types["Test::Slow"] = type("Slow", (Slow,), shared)
    stage.restart()
    stage.journal.behave["a", "check_create"] = lambda resource: False
    stage.engine.begin(CreateStack("s", stage.bundle(ONE.replace("Named", "Slow"))))
    while "check_create" not in stage.journal.of("a"):
        stage.steps(1)

    stage.engine.begin(UpdateStack("s", stage.bundle(RENAMED)))
    stage.heals("a", "check_create")
    stage.engine.settle()

    assert stage.stack.state == "UPDATE_COMPLETE"
    assert stage.world == {"x": "one"}
    assert stage.states() == {"b": "CREATE_COMPLETE"}


def test_what_was_nested_is_removed_before_it_is_made_above(stage: Stage) -> None:
    child = "heat_template_version: 2018-08-31\nresources:\n  " + ONE + "\n"
    owner = stage.bundle("o: {type: child.yaml}")
    stage.fails("a", "handle_create")
    view = stage.run(CreateStack("s", Bundle(owner.template, files={"child.yaml": child})))
    assert view.state == "CREATE_FAILED"
    stage.heals("a", "handle_create")

    assert stage.update(RENAMED).state == "UPDATE_COMPLETE"

    assert stage.world == {"x": "one"}
    assert stage.states() == {"b": "CREATE_COMPLETE"}


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("text", [RENAMED, BEHIND], ids=["alone", "behind"])
def test_whatever_step_a_restart_comes_after_the_thing_is_there_in_the_end(
    text: str, fails: bool
) -> None:
    step = 0
    while True:
        store = open_store(":memory:", sealer=Sealer(KEY))
        stage = Stage(store)
        stage.broken(ONE)
        if fails:
            stage.fails("a", "handle_delete")
        stage.engine.begin(UpdateStack("s", stage.bundle(text)))
        stage.steps(step)
        is_over = stage.stack.status != "IN_PROGRESS"
        stage.restart()
        stage.engine.recover()
        stage.engine.settle()
        if fails:
            assert stage.stack.state == "UPDATE_FAILED"
            assert stage.calls("b") == []
            stage.heals("a", "handle_delete")
        if stage.stack.status == "FAILED":  # nobody knows whether something was made meanwhile
            stage.run(RetryStack("s"))
        assert stage.stack.state == "UPDATE_COMPLETE"
        assert stage.world == {"x": "one"}
        assert "a" not in stage.states()
        store.close()
        if is_over:
            break
        step += 1
    assert step > 3
