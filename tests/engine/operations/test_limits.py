"""Timeouts and retries of single operations, as set in the environment's section."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.core.engine import actions
from zonda.hooks.errors import NotReady, Permanent, ResourceFailure
from zonda.hooks.resources.resource import Resource

A = "a: {type: Test::Box, properties: {value: one}}"
SLOW = "a: {type: Test::Slow, properties: {value: one}}"
THRICE = "zonda: {retries: {a: {create: {attempts: 3, delay: 10}}}}"


def failing(times: int, error: Exception | None = None) -> Any:
    """A behaviour that fails ``times`` times, then works."""
    left = [times]

    def behave(resource: Resource) -> Any:
        if left[0] > 0:
            left[0] -= 1
            raise error or ResourceFailure("no")
        return None

    return behave


def told(bench: Any, name: str = "a") -> list[str]:
    events = bench.engine.reader.events(bench.stack.id)
    return [f"{one.state} {one.reason}" for one in events if one.resource_name == name]


def last_event(bench: Any) -> Any:
    return bench.engine.reader.events(bench.stack.id)[-1]


# -- timeouts ---------------------------------------------------------------------------------


def test_an_operation_that_takes_too_long_fails_and_its_plug_in_is_told(bench: Any) -> None:
    bench.journal.behave["a", "check"] = lambda resource: False
    begun = bench.clock.now()

    view = bench.create(SLOW, environment="zonda: {timeouts: {a: {create: 20}}}")

    assert view.state == "CREATE_FAILED"
    assert bench.resource("a").status_reason.endswith("CREATE timed out after 20 s")
    assert bench.clock.now() - begun == pytest.approx(20)
    assert bench.journal.of("a")[-1] == "handle_create_cancel"


def test_a_limit_is_for_its_action_only(bench: Any) -> None:
    environment = "zonda: {timeouts: {a: {delete: 20}}}"
    bench.journal.behave["a", "check"] = lambda resource: len(bench.journal.of("a")) > 20

    assert bench.create(SLOW, environment=environment).state == "CREATE_COMPLETE"

    bench.journal.behave["a", "check"] = lambda resource: False
    assert bench.delete().state == "DELETE_FAILED"
    assert bench.resource_rows()[0].status_reason.endswith("DELETE timed out after 20 s")


def test_the_limit_of_the_stack_comes_first_where_it_is_shorter(bench: Any) -> None:
    bench.engine.begin(
        actions.CreateStack(
            "s",
            bench.bundle(SLOW, environment="zonda: {timeouts: {a: 2h}}"),
            timeout_mins=10,
        )
    )
    bench.steps(8)

    assert bench.resource("a").op_deadline == bench.stack.deadline


def test_a_last_look_is_taken_at_the_deadline(bench: Any) -> None:
    begun = bench.clock.monotonic()  # the times of day are rounded
    bench.journal.behave["a", "check"] = lambda resource: bench.clock.monotonic() - begun >= 20

    view = bench.create(SLOW, environment="zonda: {timeouts: {a: 20}}")

    assert view.state == "CREATE_COMPLETE"


# -- retries ----------------------------------------------------------------------------------


def test_a_handler_that_fails_is_called_again_after_growing_pauses(bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = failing(2)
    begun = bench.clock.now()

    view = bench.create(A, environment=THRICE)

    assert view.state == "CREATE_COMPLETE"
    # 10 s and 20 s, each give or take a fifth
    assert 24 <= bench.clock.now() - begun <= 36
    assert len(set(bench.journal.op_ids)) == len(bench.journal.op_ids)
    said = told(bench)
    assert said[0] == "CREATE_IN_PROGRESS state changed"
    assert said[1].startswith("CREATE_IN_PROGRESS attempt 1 of 3 failed: resources.a: no; the next")
    assert "CREATE_IN_PROGRESS attempt 3 of 3" in said
    assert said[-1] == "CREATE_COMPLETE state changed"


def test_the_last_attempt_that_fails_fails_the_resource(bench: Any) -> None:
    bench.fails("a", "handle_create")

    view = bench.create(A, environment=THRICE)

    assert view.state == "CREATE_FAILED"
    assert bench.resource("a").status_reason == "resources.a: no (attempt 3 of 3)"
    assert bench.journal.of("a").count("handle_create") == 3


def test_a_creation_that_left_something_has_it_removed_first(bench: Any) -> None:
    ids = []

    def behave(resource: Resource) -> Any:
        ids.append(resource.resource_id)
        resource.data_set("left", "over")
        if len(ids) == 1:
            raise ResourceFailure("no")
        return None

    bench.journal.behave["a", "handle_create"] = behave
    bench.journal.behave["a", "handle_delete"] = lambda resource: ids.append(
        f"deleted {resource.resource_id}"
    )

    assert bench.create(A, environment=THRICE).state == "CREATE_COMPLETE"

    assert bench.journal.of("a") == ["handle_create", "handle_delete", "handle_create"]
    assert ids[1] == f"deleted {ids[0]}"
    assert "CREATE_IN_PROGRESS removing what attempt 1 has left" in told(bench)


def test_nothing_of_a_removed_attempt_is_left_in_the_next(bench: Any) -> None:
    seen: list[Any] = []

    class Late(Resource):
        def handle_create(self) -> None:
            seen.append((self.resource_id, self.data()))
            self.resource_id_set(f"thing-{len(seen)}")
            self.data_set("left", "over")
            if len(seen) < 3:
                raise ResourceFailure("no")

    bench.types["Test::Late"] = Late
    bench.restart()

    assert bench.create("a: {type: Test::Late}", environment=THRICE).state == "CREATE_COMPLETE"

    assert seen == [(None, {})] * 3


def test_each_operation_has_its_own_attempts(bench: Any) -> None:
    environment = "zonda: {retries: {a: {attempts: 2, delay: 1}}}"
    bench.journal.behave["a", "handle_create"] = failing(1)
    bench.create(A, environment=environment)
    bench.journal.behave["a", "handle_update"] = failing(1)

    view = bench.update(A.replace("one", "two"), environment=environment)

    assert view.state == "UPDATE_COMPLETE"
    assert bench.update(A.replace("one", "three")).state == "UPDATE_COMPLETE"
    assert bench.resource("a").most_attempts == 1


def test_a_signal_does_not_shorten_a_pause(bench: Any) -> None:
    paused(bench)
    until = bench.resource("a").next_attempt_at

    bench.signal("a", word="hurry")

    assert bench.stack.state == "CREATE_COMPLETE"
    begun = next(one for one in told_with_times(bench) if one[1] == "attempt 2 of 3")
    assert begun[0] >= until


def told_with_times(bench: Any) -> list[tuple[float, str]]:
    return [(one.at, one.reason) for one in bench.engine.reader.events(bench.stack.id)]


def test_what_cannot_be_removed_costs_an_attempt(bench: Any) -> None:
    bench.fails("a", "handle_create")
    bench.fails("a", "handle_delete", ResourceFailure("stuck"))

    bench.create(A, environment=THRICE)

    assert bench.journal.of("a") == ["handle_create", "handle_delete", "handle_delete"]
    reason = "resources.a: stuck (removing a failed attempt) (attempt 3 of 3)"
    assert bench.resource("a").status_reason == reason


def test_a_check_that_fails_begins_a_new_attempt(bench: Any) -> None:
    bench.journal.behave["a", "check"] = failing(1)

    view = bench.create(SLOW, environment=THRICE)

    assert view.state == "CREATE_COMPLETE"
    # the check of the removal is the one in the middle
    calls = ["handle_create", "check", "handle_delete", "check", "handle_create", "check"]
    assert bench.journal.of("a") == calls


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        pytest.param(Permanent("never"), 1, id="permanent"),
        pytest.param(ValueError("a bug, perhaps"), 3, id="anything-else"),
    ],
)
def test_what_no_retry_can_help(bench: Any, error: Exception, calls: int) -> None:
    bench.fails("a", "handle_create", error)

    bench.create(A, environment=THRICE)

    assert bench.journal.of("a").count("handle_create") == calls


def test_a_key_is_used_again_where_nobody_knows_what_became_of_it(bench: Any) -> None:
    template = "a: {type: Test::Idempotent, properties: {value: one}}"
    bench.journal.behave["a", "handle_create"] = failing(1, ConnectionError("lost"))

    assert bench.create(template, environment=THRICE).state == "CREATE_COMPLETE"

    assert bench.journal.of("a").count("handle_delete") == 0
    assert len(set(bench.journal.op_ids)) == 1


def test_a_finder_is_asked_before_it_is_begun_once_more(bench: Any) -> None:
    template = "a: {type: Test::Finder, properties: {value: one}}"
    bench.journal.behave["a", "handle_create"] = failing(1, ConnectionError("lost"))
    bench.journal.behave["a", "handle_find"] = lambda resource: "token"

    assert bench.create(template, environment=THRICE).state == "CREATE_COMPLETE"

    assert bench.journal.of("a") == ["handle_create", "handle_find", "check"]


def test_not_ready_costs_no_attempt(bench: Any) -> None:
    bench.journal.behave["a", "handle_create"] = failing(5, NotReady(1))

    assert bench.create(A, environment=THRICE).state == "CREATE_COMPLETE"
    assert bench.resource("a").status_reason == "state changed"


@pytest.mark.parametrize(
    ("action", "call"),
    [("update", "handle_update"), ("delete", "handle_delete"), ("suspend", "handle_suspend")],
)
def test_every_action_may_have_attempts(bench: Any, action: str, call: str) -> None:
    environment = f"zonda: {{retries: {{'*': {{{action}: 2}}}}}}"
    bench.create(A, environment=environment)
    bench.journal.behave["a", call] = failing(1)

    if action == "update":
        view = bench.update(A.replace("one", "two"), environment=environment)
    else:
        view = getattr(bench, action)()

    assert view.state == f"{action.upper()}_COMPLETE"
    assert bench.journal.of("a").count(call) == 2


def test_a_pause_that_outlasts_the_deadline_is_not_begun(bench: Any) -> None:
    bench.fails("a", "handle_create")
    begun = bench.clock.now()

    bench.create(
        A, environment="zonda: {retries: {a: {attempts: 9, delay: 60}}, timeouts: {a: 30}}"
    )

    assert bench.clock.now() == begun
    assert bench.resource("a").status_reason.endswith("(attempt 1 of 9)")


def paused(bench: Any, environment: str = THRICE, **given: Any) -> None:
    """A stack whose resource pauses between two attempts."""
    bench.journal.behave["a", "handle_create"] = failing(1)
    template = "a: {type: Test::Idempotent, properties: {value: one}}"
    bench.engine.begin(
        actions.CreateStack("s", bench.bundle(template, environment=environment), **given)
    )
    while bench.resource("a").next_attempt_at is None:
        bench.steps(1)


def test_a_pause_survives_a_crash(bench: Any) -> None:
    paused(bench)
    until = bench.resource("a").next_attempt_at

    bench.restart().recover()
    bench.engine.settle()

    assert bench.stack.state == "CREATE_COMPLETE"
    assert bench.clock.now() == pytest.approx(until)
    assert bench.resource("a").failed_attempts == 1


def test_a_removal_survives_a_crash(bench: Any) -> None:
    paused(bench)
    bench.journal.behave["a", "check"] = lambda resource: resource.action == "x"
    bench.clock.advance(60)
    bench.restart().recover()
    bench.steps(30)
    assert bench.resource("a").status_reason.startswith("attempt 1 of 3 failed")
    del bench.journal.behave["a", "check"]

    bench.restart().recover()
    bench.engine.settle()

    assert bench.stack.state == "CREATE_COMPLETE"
    calls = bench.journal.of("a")
    assert calls.count("handle_create") == 2
    assert calls.count("handle_delete") == 2


def test_a_newer_update_ends_a_pause_at_once(bench: Any) -> None:
    paused(bench, "zonda: {retries: {a: {attempts: 3, delay: 5m}}}")
    begun = bench.clock.now()

    view = bench.update("a: {type: Test::Idempotent, properties: {value: two}}")

    assert view.state == "UPDATE_COMPLETE"
    assert last_event(bench).at == begun


def test_a_cancelled_stack_begins_no_attempt(bench: Any) -> None:
    paused(bench, "zonda: {retries: {a: {attempts: 3, delay: 5m}}}")
    begun = bench.clock.now()

    bench.cancel()

    assert bench.stack.state == "CREATE_FAILED"
    assert last_event(bench).at == begun
    assert bench.resource("a").status_reason == "attempt 1 of 3 failed: resources.a: no"


def test_what_is_cancelled_while_it_is_removed_is_not_made_again(bench: Any) -> None:
    paused(bench)
    bench.journal.behave["a", "check"] = lambda resource: bench.clock.now() > 1_700_000_100
    while "handle_delete" not in bench.journal.of("a"):
        bench.steps(1)

    bench.cancel()

    assert bench.stack.state == "CREATE_FAILED"
    assert bench.journal.of("a").count("handle_create") == 1
    assert bench.resource("a").physical_id is None


def test_a_deletion_ends_a_pause_and_removes_what_is_left(bench: Any) -> None:
    paused(bench, "zonda: {retries: {a: {attempts: 3, delay: 5m}}}")
    begun, stack_id = bench.clock.now(), bench.stack.id

    bench.delete()

    assert bench.engine.reader.stack(stack_id).state == "DELETE_COMPLETE"
    assert bench.engine.reader.events(stack_id)[-1].at == begun
    assert bench.journal.of("a") == ["handle_create", "handle_delete", "check"]


def test_attempts_are_shown_while_they_last(bench: Any) -> None:
    paused(bench)

    view = bench.resource("a")

    assert (view.state, view.failed_attempts, view.most_attempts) == ("CREATE_IN_PROGRESS", 1, 3)
    assert view.next_attempt_at > bench.clock.now()
    assert view.status_reason == "attempt 1 of 3 failed: resources.a: no"


def test_an_interrupted_start_is_not_repeated(bench: Any) -> None:
    bench.engine.begin(actions.CreateStack("s", bench.bundle(A, environment=THRICE)))
    while bench.resource("a").op != "CREATE":
        bench.steps(1)
    bench.restart().recover()

    bench.engine.settle()

    assert bench.stack.state == "CREATE_FAILED"
    assert "outcome unknown" in bench.resource("a").status_reason
