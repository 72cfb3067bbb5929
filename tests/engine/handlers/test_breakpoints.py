"""Breakpoints: where resources wait, who clears them, and what ends the wait."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine.actions import (
    ClearHooks,
    CreateStack,
    RetryStack,
    SignalResource,
    UpdateStack,
)
from zonda.hooks.errors import NotFound, NotSupported

A = "a: {type: Test::Box, properties: {value: one}}\n"
TWO = A + "b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}\n"


def hooks(said: str, own: str = "") -> str:
    return f"resource_registry: {{resources: {{{said}}}}}\n{own}"


def told(bench: Any, name: str = "a") -> list[str]:
    events = bench.engine.reader.events(bench.stack.id)
    return [f"{one.state} {one.reason}" for one in events if one.resource_name == name]


def clear(bench: Any, *resources: str, hooks: tuple[str, ...] = ()) -> Any:
    return bench.run(ClearHooks("s", resources, hooks))


def unset(bench: Any, name: str, hook: str) -> Any:
    return bench.run(SignalResource("s", name, {"unset_hook": hook}))


PRE_CREATE = hooks("a: {hooks: pre-create}")


def test_a_creation_waits_until_its_hook_is_cleared(bench: Any) -> None:
    view = bench.create(TWO, environment=PRE_CREATE)

    assert view.state == "CREATE_IN_PROGRESS"
    assert bench.states() == {"a": "INIT_COMPLETE", "b": "INIT_COMPLETE"}
    assert bench.resource("a").hook == "pre-create"
    assert bench.journal.calls == []

    assert unset(bench, "a", "pre-create").state == "CREATE_COMPLETE"
    assert told(bench)[:3] == [
        "INIT_COMPLETE CREATE paused until Hook pre-create is cleared",
        "INIT_COMPLETE Hook pre-create is cleared",
        "CREATE_IN_PROGRESS state changed",
    ]
    assert bench.resource("a").hook == ""


def test_after_a_creation_what_needs_it_waits_too(bench: Any) -> None:
    bench.create(TWO, environment=hooks("a: {hooks: [post-create]}"))

    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "INIT_COMPLETE"}
    assert bench.stack.state == "CREATE_IN_PROGRESS"
    assert told(bench)[-1] == "CREATE_COMPLETE CREATE paused until Hook post-create is cleared"

    assert clear(bench, "a").state == "CREATE_COMPLETE"
    assert bench.resource("b").properties["value"] == "one"


def test_globs_and_lists_of_hooks(bench: Any) -> None:
    both = "'*': {hooks: [pre-create, post-create]}"
    bench.create(TWO, environment=hooks(both))
    seen = []

    while not bench.stack.idle:
        seen += [(row.name, row.hook) for row in bench.resource_rows() if row.hook]
        clear(bench, "*")

    assert seen == [
        ("a", "pre-create"),
        ("a", "post-create"),
        ("b", "pre-create"),
        ("b", "post-create"),
    ]


def test_hooks_of_nested_stacks_may_stand_in_the_environment(bench: Any) -> None:
    view = bench.create(A, environment=hooks("nested: {a: {hooks: pre-create}}"))

    assert view.state == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("changed", "calls"),
    [
        pytest.param("{value: two}", ["handle_create", "handle_update"], id="update"),
        pytest.param(
            "{value: one, fixed: x}",
            ["handle_create", "handle_create", "handle_delete"],
            id="replacement",
        ),
    ],
)
def test_before_an_update(bench: Any, changed: str, calls: list[str]) -> None:
    bench.create(A)

    view = bench.update(
        A.replace("{value: one}", changed), environment=hooks("a: {hooks: pre-update}")
    )

    assert view.state == "UPDATE_IN_PROGRESS"
    assert bench.states() == {"a": "CREATE_COMPLETE"}
    assert told(bench)[-1] == "CREATE_COMPLETE UPDATE paused until Hook pre-update is cleared"
    assert unset(bench, "a", "pre-update").state == "UPDATE_COMPLETE"
    assert bench.journal.of("a") == calls


def test_an_update_stops_once_at_what_it_does_not_change(bench: Any) -> None:
    environment = hooks("a: {hooks: [pre-update, post-update]}")
    bench.create(TWO, environment=environment)

    view = bench.update(TWO, environment=environment)

    assert view.state == "UPDATE_IN_PROGRESS"
    assert told(bench)[-1] == "CREATE_COMPLETE UPDATE paused until Hook pre-update is cleared"
    assert unset(bench, "a", "pre-update").state == "UPDATE_COMPLETE"
    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}
    assert bench.journal.of("a") == ["handle_create"]


def test_an_update_looks_at_nothing_else_that_it_does_not_change(bench: Any) -> None:
    bench.create(TWO)

    proposal = bench.update(TWO, environment=hooks("'*': {hooks: [post-update]}"))

    assert proposal.state == "UPDATE_COMPLETE"
    assert [row.generation for row in bench.resource_rows()] == [1, 1]


def test_the_repetition_of_a_creation_does_not_stop_as_an_update(bench: Any) -> None:
    bench.fails("b", "handle_create")
    bench.create(TWO, environment=hooks("a: {hooks: pre-update}"))
    del bench.journal.behave["b", "handle_create"]

    assert bench.run(RetryStack("s")).state == "CREATE_COMPLETE"


def test_after_an_update(bench: Any) -> None:
    environment = hooks("a: {hooks: post-update}")
    bench.create(TWO, environment=environment)

    bench.update(TWO.replace("one", "two"), environment=environment)

    assert bench.states() == {"a": "UPDATE_COMPLETE", "b": "CREATE_COMPLETE"}
    assert clear(bench, "a").state == "UPDATE_COMPLETE"
    assert bench.resource("b").properties["value"] == "two"


def test_around_a_deletion(bench: Any) -> None:
    bench.create(TWO, environment=hooks("'*': {hooks: [pre-delete, post-delete]}"))

    assert bench.delete().state == "DELETE_IN_PROGRESS"
    assert [(row.name, row.hook) for row in bench.resource_rows() if row.hook] == [
        ("b", "pre-delete")
    ]
    clear(bench, "b")
    assert bench.journal.of("b")[-1] == "handle_delete"
    assert [row.hook for row in bench.resource_rows() if row.name == "b"] == ["post-delete"]
    clear(bench, "b")
    assert [row.name for row in bench.resource_rows()] == ["a"]
    clear(bench, "a", hooks=("pre-delete",))
    stack_id = bench.stack.id
    bench.engine.run(ClearHooks(stack_id, ("a",)))

    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"


def test_a_wait_survives_a_crash(bench: Any) -> None:
    bench.create(A, environment=PRE_CREATE)

    bench.restart().recover()
    bench.engine.settle()

    assert bench.resource("a").hook == "pre-create"
    assert unset(bench, "a", "pre-create").state == "CREATE_COMPLETE"


def test_a_clearing_survives_a_crash(bench: Any) -> None:
    bench.create(A, environment=PRE_CREATE)
    bench.engine.begin(ClearHooks("s", ("a",)))

    bench.restart().recover()
    bench.engine.settle()

    assert bench.stack.state == "CREATE_COMPLETE"


def test_a_hook_is_cleared_when_its_time_is_over(bench: Any) -> None:
    own = "zonda: {timeouts: {a: {pre-create: 30m}, '*': 5}}"
    bench.create(A, environment=hooks("a: {hooks: pre-create}", own))
    assert bench.resource("a").hook_until == bench.clock.now() + 1800

    bench.clock.advance(1799)
    bench.engine.sweep_deadlines()
    assert bench.resource("a").hook == "pre-create"
    bench.clock.advance(2)
    bench.engine.sweep_deadlines()
    bench.engine.settle()

    assert bench.stack.status == "COMPLETE"
    assert "INIT_COMPLETE Hook pre-create is cleared: its time is over" in told(bench)


def test_the_time_of_the_stack_ends_a_wait(bench: Any) -> None:
    bench.create(A, environment=PRE_CREATE)

    bench.clock.advance(3601)
    bench.engine.sweep_deadlines()
    bench.engine.settle()

    assert bench.stack.state == "CREATE_FAILED"
    assert bench.resource("a").hook == ""
    assert told(bench)[-1] == "INIT_COMPLETE Failure occurred while waiting."


@pytest.mark.parametrize("stopped", ["cancel", "delete"])
def test_whoever_waits_may_be_cancelled_or_deleted(bench: Any, stopped: str) -> None:
    bench.create(A, environment=PRE_CREATE)
    stack_id = bench.stack.id

    getattr(bench, stopped)()

    assert bench.engine.reader.stack(stack_id).idle
    assert bench.journal.calls == []


def test_a_cancelled_creation_is_rolled_back_without_its_breakpoints(bench: Any) -> None:
    bench.create(TWO, environment=hooks("a: {hooks: [post-create, pre-delete]}"))

    view = bench.cancel(rollback=True)

    assert view.state == "ROLLBACK_COMPLETE"
    assert bench.resource_rows() == []


def test_a_newer_update_takes_over_what_waits(bench: Any) -> None:
    bench.create(A, environment=PRE_CREATE)

    view = bench.update(A.replace("one", "two"))

    assert view.state == "UPDATE_COMPLETE"
    assert bench.resource("a").properties["value"] == "two"
    assert "INIT_COMPLETE Hook pre-create is left: CREATE was overtaken by UPDATE" in told(bench)


def test_a_newer_update_with_the_same_breakpoint_waits_anew(bench: Any) -> None:
    bench.create(A, environment=PRE_CREATE)
    bench.engine.begin(ClearHooks("s", ("a",)))
    bench.restart()

    bench.update(A.replace("one", "two"), environment=PRE_CREATE)

    assert bench.resource("a").hook == "pre-create"
    assert clear(bench, "a").state == "UPDATE_COMPLETE"


def test_an_update_after_a_wait_behind_the_creation(bench: Any) -> None:
    bench.create(TWO, environment=hooks("a: {hooks: post-create}"))

    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert bench.journal.of("a") == ["handle_create"]


def test_a_deletion_that_waited_behind_is_not_repeated(bench: Any) -> None:
    environment = hooks("a: {hooks: post-delete}")
    bench.create(A, environment=environment)
    bench.update("", environment=environment)
    assert bench.resource_rows()[0].action == "DELETE"

    assert bench.update("b: {type: Test::Box}").state == "UPDATE_COMPLETE"

    assert bench.journal.of("a").count("handle_delete") == 1
    assert list(bench.states()) == ["b"]


@pytest.mark.parametrize(
    ("action", "error", "hint"),
    [
        pytest.param(
            SignalResource("s", "a", {"unset_hook": "pre-craete"}),
            NotSupported,
            "Did you mean pre-create?",
            id="no-hook",
        ),
        pytest.param(
            SignalResource("s", "a", {"unset_hook": "pre-delete"}),
            NotSupported,
            "What waits: a at pre-create.",
            id="another-hook",
        ),
        pytest.param(
            ClearHooks("s", ("b",)), NotSupported, "What waits: a at pre-create.", id="not-waiting"
        ),
        pytest.param(ClearHooks("s", ("c",)), NotFound, "", id="no-such-resource"),
        pytest.param(
            ClearHooks("s", ("a", "b")),
            NotSupported,
            "What waits: a at pre-create.",
            id="one-of-two",
        ),
    ],
)
def test_what_cannot_be_cleared(bench: Any, action: Any, error: type[Exception], hint: str) -> None:
    bench.create(TWO, environment=PRE_CREATE)

    with pytest.raises(error) as raised:
        bench.run(action)

    assert raised.value.hint == hint  # type: ignore[attr-defined]
    assert bench.resource("a").hook == "pre-create"


def test_inward_types_wait_too(bench: Any) -> None:
    template = "a: {type: Test::Inward}\nb: {type: Test::Inward, depends_on: a}"

    bench.create(template, environment=hooks("'*': {hooks: [pre-create, pre-delete]}"))

    assert bench.resource("a").hook == "pre-create"
    clear(bench, "a")
    assert bench.resource("b").hook == "pre-create"
    assert clear(bench, "b").state == "CREATE_COMPLETE"
    bench.delete()
    assert bench.resource_rows()[1].hook == "pre-delete"


def test_the_plan_waits_although_another_resource_fails(bench: Any) -> None:
    bench.fails("b", "handle_create")
    template = A + "b: {type: Test::Box}"

    bench.engine.run(CreateStack("s", bench.bundle(template, environment=PRE_CREATE)))

    assert bench.stack.state == "CREATE_IN_PROGRESS"
    clear(bench, "a")
    assert bench.stack.state == "CREATE_FAILED"
    assert bench.states()["a"] == "CREATE_COMPLETE"
    bench.run(UpdateStack("s", bench.bundle(A)))


READS = """
    a: {type: Test::Box, properties: {value: %s, fixed: %s}}
    b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
    c: {type: Test::Box, properties: {value: {get_resource: a}}}
"""


@pytest.mark.parametrize("fixed", ["x", "y"], ids=["in place", "by another one"])
@pytest.mark.parametrize("how", ["overtaken", "cancelled", "cancelled and tried again"])
def test_what_changed_before_a_wait_that_was_ended_is_seen_by_those_who_read_it(
    bench: Any, fixed: str, how: str
) -> None:
    environment = hooks("a: {hooks: [post-create, post-update]}")
    bench.create(READS % ("one", "x"))
    bench.update(READS % ("two", fixed), environment=environment)
    assert not bench.stack.idle
    if how != "overtaken":
        bench.cancel()

    if how == "cancelled and tried again":
        view = bench.run(RetryStack("s"))
    else:
        view = bench.update(READS % ("two", fixed))

    assert view.state == "UPDATE_COMPLETE"
    assert bench.resource("b").properties["value"] == "two"
    assert bench.resource("c").properties["value"] == bench.resource("a").physical_id
