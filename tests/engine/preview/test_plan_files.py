"""Plan files: exactly what they say is done, or nothing where something has changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from zonda.core.engine.actions import (
    ApplyPlan,
    Caller,
    CreateStack,
    DeleteStack,
    MarkResource,
    ProtectStack,
    RetryStack,
    SignalResource,
    UpdateStack,
    from_json,
    to_json,
)
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.hooks import properties
from zonda.hooks.errors import Conflict, UpdateReplace, UsageError

ONE = """
    a: {type: Test::Box, properties: {value: %s, fixed: %s}}
    b: {type: Test::Box, properties: {value: {get_attr: [a, value]}, fixed: {get_resource: a}}}
    c: {type: Test::Box}
"""


def kept(bench: Any, action: Any) -> str:
    """The text of a plan file."""
    services = bench.engine.services
    return format_plan(build_preview(services, action), bench.store.sealer, services.definitions)


def update(bench: Any, resources: str, **more: Any) -> str:
    return kept(bench, UpdateStack("s", bench.bundle(resources), **more))


def refused(bench: Any, text: str, error: type[Exception] = Conflict) -> str:
    """Why a plan is not carried out; nothing has been done then."""
    before = bench.engine.reader.last_event()
    with pytest.raises(error) as caught:
        bench.run(ApplyPlan(text))
    assert bench.engine.reader.last_event() == before
    return str(caught.value)


def test_a_plan_is_carried_out(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    bench.journal.calls.clear()
    assert bench.run(ApplyPlan(text)).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == [("a", "handle_update"), ("b", "handle_update")]
    assert bench.resource("b").properties["value"] == "two"


def test_a_plan_of_a_new_stack_and_of_its_end(bench):
    text = kept(bench, CreateStack("s", bench.bundle(ONE % ("one", "x"))))
    assert bench.run(ApplyPlan(text)).state == "CREATE_COMPLETE"
    assert refused(bench, text) == "The plan is out of date: it was carried out already."
    create = text
    text = kept(bench, DeleteStack("s"))
    assert bench.run(ApplyPlan(text)).state == "DELETE_COMPLETE"
    assert "out of date" in refused(bench, text)
    assert "carried out already" in refused(bench, create)


def test_a_name_that_is_taken_meanwhile(bench):
    text = kept(bench, CreateStack("s", bench.bundle(ONE % ("one", "x"))))
    bench.create(ONE % ("one", "x"))
    assert "already exists" in refused(bench, text)


def test_a_new_stack_gets_the_id_that_its_plan_shows(bench):
    own = "a: {type: Test::Box, properties: {value: {get_param: 'OS::stack_id'}}}"
    text = kept(bench, CreateStack("s", bench.bundle(own)))
    (change,) = json.loads(text)["resources"][0]["changes"]
    assert bench.run(ApplyPlan(text)).id == change["after"]


def test_odd_keys_and_texts_stand_in_a_plan_file(bench):
    odd = """
    a: {type: Test::Box, metadata: {1: x, 1.5: y, true: z, null: n, "ä": "ö", n: .inf}}
    b: {type: Test::Box, metadata: {get_param: j}}
    """
    rest = "parameters: {j: {type: json}}\n"
    bundle = bench.bundle(odd, rest=rest, parameters={"j": {"k": "\ud800"}})
    text = kept(bench, CreateStack("s", bundle))
    text.encode()
    assert bench.run(ApplyPlan(text)).state == "CREATE_COMPLETE"


def test_a_plan_of_a_part_is_of_that_part(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x") + "    d: {type: Test::Box}\n", targets=("d",))
    bench.journal.calls.clear()
    bench.run(ApplyPlan(text))
    assert bench.journal.calls == [("d", "handle_create")]


def test_another_action_since(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    bench.update(ONE % ("one", "x"))
    assert "generation 1 then, 2 now" in refused(bench, text)


def test_another_stack_of_that_name(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    bench.delete()
    bench.create(ONE % ("one", "x"))
    assert "another stack of that name" in refused(bench, text)


def test_a_signal_has_changed_what_others_read(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("one", "x") + "    d: {type: Test::Box}\n")
    bench.signal("a", word="other")
    said = refused(bench, text)
    assert "b: none was planned, it would be update" in said


def test_another_state_of_a_resource(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    with bench.store.transaction() as tx:  # as a mark or a repair from outside would do it
        tx.resource(_id(bench, "c")).status = "FAILED"
    assert "c was CREATE_COMPLETE and is CREATE_FAILED" in refused(bench, text)


def test_another_plugin(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    box = bench.types["Test::Box"]
    box.properties_schema = {
        **box.properties_schema,
        "more": properties.Schema("String", update_allowed=True),
    }
    bench.restart()
    said = refused(bench, text)
    assert "a: another plug-in (Box of" in said


def test_another_decision_of_the_same_plugin(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    bench.types["Test::Box"].needs_replace_with_prop_diff = lambda *given: True
    bench.restart()
    assert "a: update was planned, it would be replace" in refused(bench, text)


def test_what_is_known_to_fail_is_not_begun(bench):
    bench.create("a: {type: Test::Box}")
    text = update(bench, "a: {type: Test::Box, properties: {frozen: f}}")
    assert "known to fail" in refused(bench, text)


def test_no_plan_a_changed_one_and_one_of_another_database(bench):
    bench.create(ONE % ("one", "x"))
    assert "no JSON" in refused(bench, "nonsense", UsageError)
    assert "no plan" in refused(bench, "{}", UsageError)
    found = json.loads(update(bench, ONE % ("two", "x")))
    newer = json.dumps({**found, "zonda_plan": 99})
    assert "version 99" in refused(bench, newer, UsageError)
    changed = json.dumps({**found, "unchanged": ["nothing"]})
    assert "changed after it was made" in refused(bench, changed, UsageError)
    services = bench.engine.services
    action = UpdateStack("s", bench.bundle(ONE % ("two", "x")))
    other = format_plan(build_preview(services, action), Sealer(make_key()), services.definitions)
    assert "another database" in refused(bench, other, UsageError)


def test_a_replacement_that_was_not_planned_fails_instead(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))

    def replace(resource: Any) -> None:
        raise UpdateReplace(resource.name)

    bench.journal.behave["a", "handle_update"] = replace
    stack = bench.run(ApplyPlan(text))
    assert stack.state == "UPDATE_FAILED"
    assert "NotInPlan: resources.a: replace is not in the plan" in stack.status_reason
    assert bench.journal.of("a").count("handle_create") == 1
    assert bench.update(ONE % ("two", "x")).state == "UPDATE_COMPLETE"
    assert bench.journal.of("a").count("handle_create") == 2


def test_an_update_that_was_not_planned_fails_instead(bench):
    """The plug-in gives another reference in an update, and does not say that it may."""
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))
    bench.journal.behave["a", "handle_update"] = lambda resource: resource.resource_id_set("new")
    stack = bench.run(ApplyPlan(text))
    assert stack.state == "UPDATE_FAILED"
    assert "NotInPlan: resources.b: replace is not in the plan" in stack.status_reason


def test_a_plan_travels_as_text(bench):
    action = ApplyPlan(kept(bench, CreateStack("s", bench.bundle(ONE % ("one", "x")))))
    assert from_json(to_json(action)) == action


def _id(bench: Any, name: str) -> str:
    return str(bench.resource(name).id)


def test_what_a_plan_allows_survives_the_process_that_carries_it_out(bench):
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("two", "x"))

    def replace(resource: Any) -> None:
        raise UpdateReplace(resource.name)

    bench.journal.behave["a", "handle_update"] = replace
    bench.engine.begin(ApplyPlan(text))
    engine = bench.restart()
    engine.recover()
    engine.settle()
    assert bench.stack.state == "UPDATE_FAILED"
    assert "NotInPlan" in bench.stack.status_reason


def test_another_process_carries_a_plan_out(bench):
    """What travels through table ``request`` is the same action."""
    bench.create(ONE % ("one", "x"))
    action = from_json(to_json(ApplyPlan(update(bench, ONE % ("two", "x"))), Caller("ann")))
    assert bench.run(action).state == "UPDATE_COMPLETE"


def test_what_a_plan_forbids_is_not_done_when_it_is_tried_again(bench: Any) -> None:
    bench.create(ONE % ("one", "x"))
    bench.fails("a", "handle_update", UpdateReplace("a"))
    plan = update(bench, ONE % ("two", "x"))
    assert "NotInPlan" in bench.run(ApplyPlan(plan)).status_reason
    bench.journal.calls.clear()

    view = bench.run(RetryStack("s"))

    assert view.state == "UPDATE_FAILED"
    assert "handle_create" not in bench.journal.of("a")
    assert bench.update(ONE % ("two", "x")).state == "UPDATE_COMPLETE"
    assert "handle_create" in bench.journal.of("a")


NESTING = """
    a: {type: Test::Box}
    b: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}
    c: {type: child.yaml}
    e: {type: Test::Box, properties: {value: %s}}
"""
BELOW = "heat_template_version: 2018-08-31\nresources:\n  d: {type: Test::Box}\n"


def below(bench: Any) -> str:
    """The id of the nested stack."""
    (found,) = [row for row in bench.engine.reader.tree(bench.stack.id) if row.owner_resource_id]
    return str(found.id)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(
            lambda bench: SignalResource("s", "a", {"word": "another"}),
            "b: none was planned, it would be update",
            id="signal",
        ),
        pytest.param(
            lambda bench: MarkResource("s", "b"),
            "b was CREATE_COMPLETE and is CHECK_FAILED",
            id="mark",
        ),
        pytest.param(
            lambda bench: MarkResource(below(bench), "d"), "c: .* would be update", id="mark-below"
        ),
        pytest.param(lambda bench: ProtectStack("s", ("a",)), "", id="protect"),
    ],
)
def test_what_happens_between_the_last_look_at_a_plan_and_its_acceptance_is_noticed(
    bench: Any, monkeypatch: pytest.MonkeyPatch, change: Any, why: str
) -> None:
    files = {"child.yaml": BELOW}
    bench.create(NESTING % "one", files=files)
    text = kept(bench, UpdateStack("s", bench.bundle(NESTING % "two", files=files)))
    looked: list[str] = []

    def look(services: Any, action: Any) -> Any:
        found = build_preview(services, action)
        looked.append(found.stack.id)
        if len(looked) == 1:
            bench.run(change(bench))
        return found

    monkeypatch.setattr("zonda.core.engine.preview.apply.build_preview", look)

    if why:
        with pytest.raises(Conflict, match=why):
            bench.run(ApplyPlan(text))
        assert bench.resource("e").properties == {"value": "one"}
    else:  # the plan is the same for all that
        assert bench.run(ApplyPlan(text)).state == "UPDATE_COMPLETE"
    assert len(looked) == 2, "it was looked at again"


def test_what_is_protected_between_the_last_look_at_a_plan_and_its_acceptance_stays(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.create(ONE % ("one", "x"))
    text = update(bench, ONE % ("one", "y"))
    bench.journal.calls.clear()
    looked: list[str] = []

    def look(services: Any, action: Any) -> Any:
        found = build_preview(services, action)
        looked.append(found.stack.id)
        if len(looked) == 1:
            bench.run(ProtectStack("s", ("a",)))
        return found

    monkeypatch.setattr("zonda.core.engine.preview.apply.build_preview", look)

    with pytest.raises(Conflict, match="a: replace was planned, it would be fail"):
        bench.run(ApplyPlan(text))
    assert bench.journal.calls == []
