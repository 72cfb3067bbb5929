"""The life cycle of resources and stacks, action by action, on the inline engine."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.engine.stored import read_tables

from zonda.core.engine.actions import MarkResource
from zonda.hooks.errors import (
    Conflict,
    NotFound,
    NotReady,
    NotSupported,
    TemplateError,
    UpdateReplace,
)

ONE = "a: {type: Test::Box, properties: {value: one}}"
TWO = """
    a: {type: Test::Box, properties: {value: one}}
    b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
"""


# -- create -----------------------------------------------------------------------------------


def test_requirements_are_created_first_and_their_attributes_are_read(bench: Any) -> None:
    stack = bench.create(TWO)
    assert stack.state == "CREATE_COMPLETE"
    assert stack.status_reason == "Stack CREATE completed successfully"
    assert bench.journal.calls == [("a", "handle_create"), ("b", "handle_create")]
    assert bench.resource("b").properties == {"value": "one"}
    assert bench.resource("b").requires == ("a",)


def test_an_empty_template_makes_an_empty_stack(bench: Any) -> None:
    assert bench.create("").state == "CREATE_COMPLETE"


def test_a_bad_template_creates_nothing(bench: Any) -> None:
    with pytest.raises(TemplateError):
        bench.create("a: {type: Test::Box, properties: {nothing: 1}}")
    with pytest.raises(NotFound):
        _ = bench.stack


def test_a_name_is_taken_once(bench: Any) -> None:
    bench.create(ONE)
    with pytest.raises(Conflict) as caught:
        bench.create(ONE)
    assert caught.value.heat_type == "StackExists"
    bench.delete()
    assert bench.create(ONE).state == "CREATE_COMPLETE"


def test_a_failure_stops_its_dependants_and_nobody_else(bench: Any) -> None:
    bench.fails("a", "handle_create", ValueError("bad luck"))
    stack = bench.create(TWO + "    c: {type: Test::Box}\n    d: {type: Test::Box, depends_on: c}")
    assert stack.state == "CREATE_FAILED"
    assert stack.status_reason == "Resource CREATE failed: ValueError: resources.a: bad luck"
    assert bench.states() == {
        "a": "CREATE_FAILED",
        "b": "INIT_COMPLETE",
        "c": "CREATE_COMPLETE",
        "d": "CREATE_COMPLETE",
    }


def test_a_failed_creation_is_undone_where_that_was_asked_for(bench: Any) -> None:
    bench.fails("b", "handle_create")
    stack = bench.create(TWO, rollback=True)
    assert stack.state == "ROLLBACK_COMPLETE"
    assert bench.states() == {}
    assert bench.journal.calls[-2:] == [("b", "handle_delete"), ("a", "handle_delete")]


def test_a_value_that_does_not_fit_fails_the_creation_of_its_resource(bench: Any) -> None:
    stack = bench.create("""
        a: {type: Test::Box, properties: {value: one}}
        b: {type: Test::Box, properties: {value: {str_split: [",", {get_attr: [a, value]}]}}}
    """)
    assert stack.state == "CREATE_FAILED"
    assert "resources.b: Property error: b.Properties.value" in stack.status_reason
    assert bench.journal.of("b") == []
    bench.delete()
    assert bench.journal.of("b") == []


# -- update -----------------------------------------------------------------------------------


def test_an_update_without_a_change_calls_nobody(bench: Any) -> None:
    bench.create(TWO)
    bench.journal.calls.clear()
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == []


def test_a_change_travels_along_the_attributes(bench: Any) -> None:
    bench.create(TWO)
    bench.journal.calls.clear()
    bench.update(TWO.replace("one", "two"))
    assert bench.journal.calls == [("a", "handle_update"), ("b", "handle_update")]
    assert bench.resource("b").properties == {"value": "two"}


def test_a_dependant_that_reads_nothing_new_is_left_alone(bench: Any) -> None:
    both = "a: {type: Test::Box, properties: {value: %s}}\nb: {type: Test::Box, depends_on: a}"
    bench.create(both % "one")
    bench.journal.calls.clear()
    bench.update(both % "two")
    assert bench.journal.calls == [("a", "handle_update")]


def test_a_replacement_is_made_before_the_old_one_goes(bench: Any) -> None:
    text = """
        a: {type: Test::Box, properties: {fixed: %s}}
        b: {type: Test::Box, properties: {value: {get_resource: a}}}
    """
    bench.create(text % "x")
    old = bench.resource("a")
    bench.journal.calls.clear()
    bench.update(text % "y")
    new = bench.resource("a")
    assert bench.journal.calls == [
        ("a", "handle_create"),
        ("b", "handle_update"),
        ("a", "handle_delete"),
    ]
    assert new.replaces_id == old.id
    assert bench.resource("b").properties == {"value": new.physical_id}


def test_a_plugin_may_ask_for_a_replacement_while_it_updates(bench: Any) -> None:
    bench.create(ONE)
    bench.fails("a", "handle_update", UpdateReplace("a"))
    assert bench.update(ONE.replace("one", "two")).state == "UPDATE_COMPLETE"
    assert bench.journal.of("a")[1:] == ["handle_update", "handle_create", "handle_delete"]


def test_what_the_template_no_longer_has_goes_dependants_first(bench: Any) -> None:
    bench.create(TWO)
    bench.journal.calls.clear()
    bench.update("c: {type: Test::Box}")
    assert bench.journal.calls == [
        ("c", "handle_create"),
        ("b", "handle_delete"),
        ("a", "handle_delete"),
    ]


def test_a_resource_that_failed_is_replaced_by_the_next_update(bench: Any) -> None:
    bench.create(ONE)
    bench.fails("a", "handle_update")
    assert bench.update(ONE.replace("one", "two")).status_reason == "resources.a: no"
    before = bench.resource("a").id
    assert bench.update(ONE).state == "UPDATE_COMPLETE"
    assert bench.resource("a").id != before


def test_an_immutable_property_fails_the_update(bench: Any) -> None:
    bench.create("a: {type: Test::Box, properties: {frozen: x}}")
    stack = bench.update("a: {type: Test::Box, properties: {frozen: y}}")
    assert stack.status_reason == (
        "NotSupported: resources.a: Update to properties frozen of a (Test::Box) is not supported."
    )


def test_a_failed_update_goes_back_to_the_last_good_template(bench: Any) -> None:
    bench.create(TWO)
    kept = bench.resource("a").id
    text = TWO.replace("one", "two") + "    c: {type: Test::Box, depends_on: b}"
    bench.fails("c", "handle_create")
    stack = bench.update(text, rollback=True)
    assert stack.state == "ROLLBACK_COMPLETE"
    assert bench.resource("a").id == kept
    assert bench.resource("b").properties == {"value": "one"}
    assert set(bench.states()) == {"a", "b"}


def test_a_rollback_finds_the_replaced_instance_alive(bench: Any) -> None:
    text = "a: {type: Test::Box, properties: {fixed: %s}}"
    bench.create(text % "x")
    kept = bench.resource("a").id
    bench.fails("b", "handle_create")
    bench.update(text % "y" + "\nb: {type: Test::Box, depends_on: a}", rollback=True)
    assert bench.stack.state == "ROLLBACK_COMPLETE"
    assert bench.resource("a").id == kept
    assert bench.journal.of("a") == ["handle_create", "handle_create", "handle_delete"]


def test_existing_keeps_parameters_that_are_not_given_again(bench: Any) -> None:
    rest = "parameters: {p: {type: string, default: d}, q: {type: string, default: e}}\n"
    both = "{list_join: ['-', [{get_param: p}, {get_param: q}]]}"
    text = f"a: {{type: Test::Box, properties: {{value: {both}}}}}"
    bench.create(text, rest=rest, parameters={"p": "P"})
    bench.update(text, rest=rest, parameters={"q": "Q"}, existing=True)
    assert bench.resource("a").properties == {"value": "P-Q"}
    bench.update(text, rest=rest, parameters={"q": "Q"})
    assert bench.resource("a").properties == {"value": "d-Q"}


# -- delete -----------------------------------------------------------------------------------


def test_a_stack_is_deleted_dependants_first(bench: Any) -> None:
    bench.create(TWO)
    stack_id = bench.stack.id
    bench.journal.calls.clear()
    stack = bench.delete()
    assert stack.state == "DELETE_COMPLETE"
    assert stack.deleted_at is not None
    assert bench.journal.calls == [("b", "handle_delete"), ("a", "handle_delete")]
    assert bench.engine.reader.resources(stack_id, absent=True) == []


def test_a_deletion_that_failed_can_be_repeated(bench: Any) -> None:
    bench.create(TWO)
    bench.fails("b", "handle_delete")
    stack = bench.delete()
    assert stack.state == "DELETE_FAILED"
    assert stack.status_reason == "Resource DELETE failed: resources.b: no"
    assert "handle_delete" not in bench.journal.of("a")
    bench.heals("b", "handle_delete")
    assert bench.delete().state == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param("{type: Test::Box, deletion_policy: Retain}", id="retained"),
        pytest.param("{type: Test::Box, external_id: e-1}", id="external"),
    ],
)
def test_what_is_kept_outside_is_never_deleted(entry: str, bench: Any) -> None:
    bench.create(f"a: {entry}")
    assert bench.delete().state == "DELETE_COMPLETE"
    assert "handle_delete" not in bench.journal.of("a")


def test_an_external_resource_is_checked_not_created(bench: Any) -> None:
    bench.create("a: {type: Test::Box, external_id: e-1}")
    assert bench.journal.of("a") == ["handle_check"]
    assert bench.states() == {"a": "CHECK_COMPLETE"}
    assert bench.resource("a").reference == "e-1"


# -- suspend, resume, check, signal -----------------------------------------------------------


def test_suspend_walks_down_and_resume_walks_up(bench: Any) -> None:
    bench.create(TWO)
    bench.journal.calls.clear()
    assert bench.suspend().state == "SUSPEND_COMPLETE"
    assert bench.resume().state == "RESUME_COMPLETE"
    assert bench.journal.calls == [
        ("b", "handle_suspend"),
        ("a", "handle_suspend"),
        ("a", "handle_resume"),
        ("b", "handle_resume"),
    ]
    assert bench.update(TWO).state == "UPDATE_COMPLETE"


def test_a_suspended_stack_is_not_updated(bench: Any) -> None:
    bench.create(ONE)
    bench.suspend()
    with pytest.raises(NotSupported, match="Updating a stack when it is suspended"):
        bench.update(ONE)


def test_only_what_is_suspended_is_resumed(bench: Any) -> None:
    bench.create(ONE)
    stack = bench.resume()
    assert stack.state == "RESUME_FAILED"
    assert "invalid for resume" in stack.status_reason
    assert bench.journal.of("a") == ["handle_create"]


def test_a_check_tells_every_fault_and_changes_nothing(bench: Any) -> None:
    bench.create(TWO)
    bench.fails("a", "handle_check")
    bench.fails("b", "handle_check")
    stack = bench.check()
    assert stack.state == "CHECK_FAILED"
    assert stack.status_reason == ("Resource CHECK failed: ['resources.a: no', 'resources.b: no']")
    assert bench.resource("a").physical_id is not None


def test_a_type_that_cannot_be_checked_is_told(bench: Any) -> None:
    bench.create("a: {type: Test::Plain}")
    stack = bench.check()
    assert stack.status_reason == (
        "Stack CHECK completed successfully. 'CHECK' not fully supported (see resources)"
    )
    assert bench.resource("a").status_reason == "CHECK not supported for Test::Plain"


def test_a_signal_reaches_its_resource_and_its_attributes(bench: Any) -> None:
    rest = "outputs: {o: {value: {get_attr: [a, value]}}}\n"
    bench.create(ONE, rest=rest)
    bench.signal("a", word="news")
    assert bench.outputs() == {"o": "news"}
    with pytest.raises(NotFound):
        bench.signal("z")


def test_a_signal_to_a_type_that_knows_none_is_refused(bench: Any) -> None:
    bench.create("a: {type: Test::Plain}")
    with pytest.raises(NotSupported):
        bench.signal("a")


# -- polls, waits, deadlines ------------------------------------------------------------------


@pytest.mark.parametrize("jump", [0.0, 3600.0, -3600.0])
def test_polls_become_rarer_with_the_age_of_the_operation(bench: Any, jump: float) -> None:
    times: list[float] = []

    def check(resource: Any) -> bool:
        times.append(bench.clock.monotonic())
        if len(times) == 10:
            bench.clock.jump(jump)  # an hour more or less on the wall says nothing of the age
        return len(times) > 60

    bench.journal.behave["a", "check"] = check
    bench.create("a: {type: Test::Slow}")
    gaps = [(later - earlier, earlier - times[0]) for earlier, later in itertools.pairwise(times)]
    assert all(0.4 <= gap <= max(0.5, age / 10) + 0.001 for gap, age in gaps)
    assert 12.0 <= max(gap for gap, _ in gaps) <= 15.001


def test_a_handler_that_is_not_ready_is_called_again_with_its_key(bench: Any) -> None:
    def busy(resource: Any) -> None:
        if len(bench.journal.of("a")) < 3:
            raise NotReady(40.0)
        assert resource.context.operation.attempt == 3

    bench.journal.behave["a", "handle_create"] = busy
    start = bench.clock.now()
    assert bench.create(ONE).state == "CREATE_COMPLETE"
    assert bench.clock.now() - start == 80.0
    assert len(set(bench.journal.op_ids)) == 1


def test_what_stands_in_a_queue_is_called_again_and_nothing_is_stored(bench: Any) -> None:
    seen: list[tuple[str, int]] = []

    def queue(resource: Any) -> None:
        [row] = bench.engine.reader.resource_rows(bench.stack.id)
        seen.append((row.op_state, resource.context.operation.attempt))
        if len(seen) < 3:
            raise NotReady(40.0, queued=True)

    bench.journal.behave["a", "handle_create"] = queue
    start = bench.clock.now()
    assert bench.create("a: {type: Test::Slow}").state == "CREATE_COMPLETE"
    assert bench.clock.now() - start >= 80.0
    assert seen == [("STARTING", 1)] * 3
    assert len(set(bench.journal.op_ids)) == 1


def test_the_check_may_say_when_to_ask_again(bench: Any) -> None:
    def check(resource: Any) -> bool:
        if len(bench.journal.of("a")) < 3:
            raise NotReady(100.0)
        return True

    bench.journal.behave["a", "check"] = check
    start = bench.clock.now()
    bench.create("a: {type: Test::Slow}")
    assert bench.clock.now() - start == 100.0


# -- secrets ----------------------------------------------------------------------------------


def test_hidden_values_are_nowhere_in_the_clear(bench: Any) -> None:
    rest = "parameters: {p: {type: string, hidden: true, default: default-hush}}\n"
    bench.fails("b", "handle_create", ValueError("refused: given-hush"))
    bench.create(
        """
        a: {type: Test::Box, properties: {secret: {get_param: p}, value: {get_param: p}}}
        b: {type: Test::Box, properties: {value: {list_join: ["", [x, {get_param: p}]]}}}
        """,
        rest=rest
        + "outputs: {o: {value: {get_attr: [a, value]}}, t: {value: {get_attr: [a, token]}}}\n",
        parameters={"p": "given-hush"},
    )
    assert bench.resource("a").properties == {"secret": "(hidden)", "value": "(hidden)"}
    assert bench.outputs() == {"o": "(hidden)", "t": "(hidden)"}
    assert "refused: (hidden)" in bench.stack.status_reason
    assert "hush" not in str(read_tables(bench.store))


def test_open_values_are_not_sealed(bench: Any) -> None:
    bench.create(ONE)
    assert '"value": "one"' in str(read_tables(bench.store))


def test_what_was_never_made_is_not_marked(bench: Any) -> None:
    bench.fails("a", "handle_create")
    bench.create("a: {type: Test::Box}")

    with pytest.raises(NotSupported, match="not been created"):
        bench.run(MarkResource("s", "a"))

    assert bench.states() == {"a": "CREATE_FAILED"}
