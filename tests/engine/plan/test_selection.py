"""Targets and exclusions: their consequences for other resources."""

from __future__ import annotations

import pytest

from zonda.core.engine.actions import CreateStack, UpdateStack
from zonda.core.engine.plan.scope import select
from zonda.hooks.errors import UsageError

#: web -> app -> db; job -> db; alone
WANTED = {"db": (), "app": ("db",), "web": ("app",), "job": ("db",), "alone": ()}
#: old is gone from the template; web used it
THERE = {**WANTED, "web": ("app", "old"), "old": ("older",), "older": ()}


@pytest.mark.parametrize(
    ("targets", "excludes", "names", "added"),
    [
        pytest.param(["app"], [], "app db", "db", id="a target brings what it requires"),
        pytest.param(
            [], ["app"], "db job alone", "web old older", id="who requires what is left out is, too"
        ),
        pytest.param([], ["alone"], "db app web job old older", "", id="the rest goes on"),
        pytest.param(
            ["old"], [], "old web app db", "db app web", id="to go: who uses it moves first"
        ),
        pytest.param(["older"], [], "older old web app db", "db app web old", id="to go, in a row"),
        pytest.param(["web"], ["job"], "web app db", "db app", id="both"),
    ],
)
def test_the_closure(targets: list[str], excludes: list[str], names: str, added: str) -> None:
    found = select(WANTED, THERE, targets, excludes)
    assert found is not None
    assert found.names == frozenset(names.split())
    assert set(found.added) == set(added.split())
    assert set(found.outside) == {*WANTED, *THERE} - found.names


def test_nothing_named_is_everything() -> None:
    assert select(WANTED, THERE, [], []) is None


@pytest.mark.parametrize(
    ("targets", "excludes", "said"),
    [
        pytest.param(["wep"], [], "There is no resource wep", id="unknown"),
        pytest.param(["web"], ["db"], "web is a target", id="contradiction"),
    ],
)
def test_what_cannot_be_selected(targets: list[str], excludes: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        select(WANTED, THERE, targets, excludes)


THREE = """
    a: {type: Test::Box, properties: {value: %s, fixed: %s}}
    b: {type: Test::Box, properties: {value: {get_resource: a}}}
    c: {type: Test::Box, properties: {value: %s}}
"""


def test_the_rest_is_left_and_the_next_full_update_picks_it_up(bench):
    bench.create(THREE % ("one", "x", "one"))
    bench.journal.calls.clear()
    bundle = bench.bundle(THREE % ("two", "x", "two"))
    stack = bench.run(UpdateStack("s", bundle, targets=("a",)))
    assert stack.state == "UPDATE_COMPLETE"
    assert bench.journal.calls == [("a", "handle_update")]
    bench.update(THREE % ("two", "x", "two"))
    assert bench.journal.calls == [("a", "handle_update"), ("c", "handle_update")]
    bench.journal.calls.clear()
    bench.update(THREE % ("two", "x", "two"))
    assert bench.journal.calls == []


def test_what_the_rest_still_uses_is_deleted_when_the_rest_has_moved_on(bench):
    bench.create(THREE % ("one", "x", "one"))
    old = bench.resource("a").physical_id
    bundle = bench.bundle(THREE % ("one", "y", "one"))
    bench.journal.calls.clear()
    assert bench.run(UpdateStack("s", bundle, targets=("a",))).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == [("a", "handle_create")]
    assert bench.resource("b").properties["value"] == old
    bench.update(THREE % ("one", "y", "one"))
    assert bench.journal.calls[1:] == [("b", "handle_update"), ("a", "handle_delete")]
    assert bench.resource("b").properties["value"] == bench.resource("a").physical_id != old


def test_what_is_gone_from_the_template_but_excluded_stays_until_it_is_not(bench):
    bench.create(THREE % ("one", "x", "one"))
    bundle = bench.bundle("a: {type: Test::Box, properties: {value: one, fixed: x}}")
    bench.run(UpdateStack("s", bundle, excludes=("b",)))
    assert set(bench.states()) == {"a", "b"}
    assert bench.run(UpdateStack("s", bundle)).state == "UPDATE_COMPLETE"
    assert set(bench.states()) == {"a"}


def test_a_stack_may_begin_as_a_part(bench):
    stack = bench.run(CreateStack("s", bench.bundle(THREE % ("one", "x", "one")), targets=("b",)))
    assert stack.state == "CREATE_COMPLETE"
    assert set(bench.states()) == {"a", "b"}
    bench.update(THREE % ("one", "x", "one"))
    assert set(bench.states()) == {"a", "b", "c"}


def test_delete_takes_what_an_update_was_not_meant_for(bench):
    bench.create(THREE % ("one", "x", "one"))
    bench.run(UpdateStack("s", bench.bundle(THREE % ("one", "y", "one")), targets=("a",)))
    assert bench.delete().state == "DELETE_COMPLETE"
    assert bench.journal.of("a").count("handle_delete") == 2
