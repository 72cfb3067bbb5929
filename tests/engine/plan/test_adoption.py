"""Resources and stacks that are adopted, imported, exported and abandoned."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.conftest import Box

from zonda.core.engine.actions import (
    AbandonStack,
    AdoptStack,
    CheckStack,
    CreateStack,
    DeleteStack,
    ImportResource,
    RetryStack,
    SignalResource,
    UpdateStack,
)
from zonda.core.engine.preview.preview import build_preview
from zonda.core.reports.export import StackExporter
from zonda.hooks.errors import Conflict, NotFound, NotSupported, UsageError

TWO = "a: {type: Test::Box, properties: {value: one}}\nb: {type: Test::Box, depends_on: a}"
THINGS = {
    "a": {"resource_id": "thing-a", "resource_data": {"signal": "kept"}, "metadata": {"m": 1}},
    "b": {"resource_id": "thing-b"},
}


class WorkItem(Box):
    """Knows what it really is."""

    def get_live_state(self) -> Any:
        if self.resource_id == "gone":
            raise NotFound("Box", "gone")
        return {"value": "another", "secret": "also another", "fixed": "x"}


def adopted(bench: Any, things: Any = THINGS, template: str = TWO, **given: Any) -> Any:
    return bench.run(AdoptStack("s", bench.bundle(template), things, **given))


def exporting(bench: Any) -> StackExporter:
    def read(bundle: Any, identity: Any) -> Any:
        return bench.engine.services.definitions.load(bundle, identity, None, False)

    return StackExporter(bench.engine.reader, read)


def abandoned(bench: Any, *, force: bool = False) -> Any:
    export = exporting(bench).export(bench.stack.id, with_secrets=True)
    return export.values, bench.run(AbandonStack("s", export.digest, force))


def test_what_exists_becomes_a_stack_and_nothing_is_made(bench: Any) -> None:
    assert adopted(bench).state == "ADOPT_COMPLETE"
    assert bench.states() == {"a": "ADOPT_COMPLETE", "b": "ADOPT_COMPLETE"}
    a = bench.resource("a")
    assert (a.physical_id, a.metadata) == ("thing-a", {"m": 1})
    assert a.properties["value"] == "one"
    assert bench.engine.reader.resource_data(a.id) == {"signal": "kept"}
    assert bench.journal.calls == []


def test_an_adopted_stack_is_updated_and_deleted_like_any_other(bench: Any) -> None:
    adopted(bench)
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == [], "it is as its template says"
    bench.update(TWO.replace("one", "two"))
    assert bench.journal.calls == [("a", "handle_update")]
    bench.delete()
    assert bench.journal.calls[1:] == [("b", "handle_delete"), ("a", "handle_delete")]


def test_a_resource_without_an_id_fails_as_with_heat(bench: Any) -> None:
    view = adopted(bench, {"a": THINGS["a"]})
    assert view.state == "ADOPT_FAILED"
    assert "Resource ID was not provided." in view.status_reason


def test_the_rollback_of_a_failed_adoption_deletes_nothing(bench: Any) -> None:
    view = adopted(bench, {"a": THINGS["a"]}, rollback=True)
    assert view.state == "ROLLBACK_COMPLETE"
    assert bench.states() == {}
    assert bench.journal.calls == []


def test_a_failed_adoption_is_not_ours_to_delete_either(bench: Any) -> None:
    adopted(bench, {"a": THINGS["a"]})
    bench.run(CheckStack("s"))
    bench.delete()
    assert [call for _, call in bench.journal.calls if call == "handle_delete"] == []


def test_after_the_next_good_update_it_is_ours(bench: Any) -> None:
    adopted(bench, {"a": THINGS["a"]})
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert bench.journal.of("b") == ["handle_create"]
    bench.delete()
    assert bench.journal.of("a") == ["handle_delete"]


def test_a_failed_adoption_can_be_tried_again(bench: Any) -> None:
    class Fragile(Box):
        journal = bench.journal

        def handle_adopt(self, resource_data: Any) -> Any:
            super().handle_adopt(resource_data)
            return self.journal.note(self, "handle_adopt")

    bench.types["Test::Fragile"] = Fragile
    bench.restart()
    bench.fails("b", "handle_adopt")
    template = TWO.replace("b: {type: Test::Box", "b: {type: Test::Fragile")
    assert adopted(bench, template=template).state == "ADOPT_FAILED"
    bench.heals("b", "handle_adopt")
    assert bench.run(RetryStack("s")).state == "ADOPT_COMPLETE"
    assert bench.states() == {"a": "ADOPT_COMPLETE", "b": "ADOPT_COMPLETE"}
    assert [call for _, call in bench.journal.calls] == ["handle_adopt", "handle_adopt"]


def test_a_name_is_taken_once(bench: Any) -> None:
    bench.create(TWO)
    with pytest.raises(Conflict, match="already exists"):
        adopted(bench)


@pytest.mark.parametrize(
    "things",
    [
        pytest.param([], id="a list"),
        pytest.param({"a": "thing"}, id="a text for a resource"),
        pytest.param({"a": {"resource_data": {"value": "(hidden)"}}}, id="masked"),
    ],
)
def test_what_is_no_adoption_data_is_refused(things: Any, bench: Any) -> None:
    with pytest.raises(UsageError):
        adopted(bench, things)


def test_an_adoption_goes_on_after_a_crash(bench: Any) -> None:
    bench.engine.begin(AdoptStack("s", bench.bundle(TWO), THINGS))
    bench.restart().recover()
    bench.engine.settle()
    assert bench.stack.state == "ADOPT_COMPLETE"
    assert bench.resource("a").physical_id == "thing-a"


# -- import -------------------------------------------------------------------------------------


def imported(bench: Any, name: str, physical_id: str) -> Any:
    return bench.run(ImportResource("s", name, physical_id))


def test_one_object_is_bound_to_what_failed_to_be_created(bench: Any) -> None:
    bench.fails("b", "handle_create")
    bench.create(TWO + "\nc: {type: Test::Box, depends_on: b}")
    bench.journal.calls.clear()
    assert imported(bench, "b", "thing-b").state == "CREATE_FAILED", "that is what it was before"
    assert bench.resource("b").physical_id == "thing-b"
    assert bench.states() == {"a": "CREATE_COMPLETE", "b": "ADOPT_COMPLETE", "c": "INIT_COMPLETE"}
    assert bench.journal.calls == []
    assert bench.run(RetryStack("s")).state == "CREATE_COMPLETE"
    assert bench.journal.calls == [("b", "handle_delete"), ("c", "handle_create")], (
        "what the creation that failed has left is removed before anything new is made"
    )
    assert bench.resource("b").physical_id == "thing-b"


def test_one_object_is_bound_to_what_was_not_begun(bench: Any) -> None:
    bench.create("a: {type: Test::Box}")
    bench.fails("c", "handle_create")
    bench.update("d: {type: Test::Box, depends_on: c}\nc: {type: Test::Box}")
    assert bench.states()["d"] == "INIT_COMPLETE"
    assert imported(bench, "c", "thing-c").state == "UPDATE_FAILED"
    assert imported(bench, "d", "thing-d").state == "UPDATE_FAILED"
    assert bench.states()["d"] == "ADOPT_COMPLETE"


def test_what_exists_is_not_imported(bench: Any) -> None:
    bench.create(TWO)
    with pytest.raises(NotSupported, match="CREATE_COMPLETE"):
        imported(bench, "a", "thing")
    with pytest.raises(NotFound, match="zz"):
        imported(bench, "zz", "thing")


def test_what_is_imported_is_compared_with_what_it_is(bench: Any) -> None:
    bench.types["Test::Seen"] = type("WorkItem", (WorkItem,), {"journal": bench.journal})
    bench.restart()
    bench.fails("a", "handle_create")
    bench.create("a: {type: Test::Seen, properties: {value: one, secret: hush-hush, fixed: x}}")
    imported(bench, "a", "thing")
    assert bench.resource("a").status_reason == (
        'adopted; it differs from the template: secret (hidden), value (template "one", there '
        '"another")'
    )


def test_what_is_not_there_is_not_imported(bench: Any) -> None:
    bench.types["Test::Seen"] = type("WorkItem", (WorkItem,), {"journal": bench.journal})
    bench.restart()
    bench.fails("a", "handle_create")
    bench.create("a: {type: Test::Seen}")
    imported(bench, "a", "gone")
    assert bench.states() == {"a": "ADOPT_FAILED"}
    bench.heals("a", "handle_create")
    assert bench.update("a: {type: Test::Seen}").state == "UPDATE_COMPLETE"
    assert bench.states() == {"a": "CREATE_COMPLETE"}


def test_an_import_may_be_repeated_after_it_failed(bench: Any) -> None:
    bench.types["Test::Seen"] = type("WorkItem", (WorkItem,), {"journal": bench.journal})
    bench.restart()
    bench.fails("a", "handle_create")
    bench.create("a: {type: Test::Seen}")
    imported(bench, "a", "gone")
    imported(bench, "a", "there")
    assert bench.states() == {"a": "ADOPT_COMPLETE"}


def test_what_it_requires_must_be_there(bench: Any) -> None:
    bench.fails("a", "handle_create")
    bench.create(TWO)
    with pytest.raises(NotSupported, match="requires a"):
        imported(bench, "b", "thing-b")


def test_an_object_is_taken_into_a_template_that_names_it_newly(bench: Any) -> None:
    bench.create("a: {type: Test::Box, properties: {value: one}}")
    bench.run(UpdateStack("s", bench.bundle(TWO), excludes=("b",)))
    imported(bench, "b", "thing-b")
    bench.journal.calls.clear()
    assert bench.update(TWO).state == "UPDATE_COMPLETE"
    assert bench.journal.calls == []
    assert bench.resource("b").physical_id == "thing-b"


# -- export and abandon -------------------------------------------------------------------------


def test_an_abandoned_stack_is_gone_and_its_things_are_not(bench: Any) -> None:
    bench.create(TWO)
    bench.journal.calls.clear()
    document, view = abandoned(bench)
    assert (view.state, view.deleted_at is not None) == ("DELETE_COMPLETE", True)
    assert bench.journal.calls == []
    with pytest.raises(NotFound):
        _ = bench.stack
    assert bench.engine.reader.resource_rows(view.id) == []
    assert set(document["resources"]) == {"a", "b"}


def test_what_was_abandoned_can_be_adopted(bench: Any) -> None:
    bench.create(TWO)
    physical = bench.resource("a").physical_id
    bench.signal("a", word="signalled")
    document, _ = abandoned(bench)
    assert adopted(bench, document["resources"]).state == "ADOPT_COMPLETE"
    assert bench.resource("a").physical_id == physical
    assert bench.engine.reader.resource_data(bench.resource("a").id) == {"signal": "signalled"}


def test_a_document_has_heats_shape(bench: Any) -> None:
    bench.run(CreateStack("s", bench.bundle(TWO), tags=("x",)))
    document = exporting(bench).export(bench.stack.id, with_secrets=False).values
    assert set(document) == {
        *("name", "id", "action", "status", "environment", "files", "template", "resources"),
        *("project_id", "stack_user_project_id", "tags"),
    }
    assert document["template"]["resources"]["a"]["type"] == "Test::Box"
    assert document["tags"] == ["x"]
    assert document["resources"]["b"]["type"] == "Test::Box"


def test_secrets_are_left_out_and_named_unless_asked_for(bench: Any) -> None:
    rest = "parameters: {p: {type: string, hidden: true, default: hush-hush}}\n"
    text = "a: {type: Test::Box, properties: {secret: very secret, value: {get_param: p}}}"
    bench.run(CreateStack("s", bench.bundle(text, rest=rest, parameters={"p": "whisper"})))
    shown = exporting(bench).export(bench.stack.id, with_secrets=False)
    for secret in ("whisper", "very secret", "hush-hush"):
        assert secret not in str(shown.values)
    assert shown.values["masked"]
    full = exporting(bench).export(bench.stack.id, with_secrets=True)
    assert full.values["environment"]["parameters"] == {"p": "whisper"}
    assert full.hidden == ()


def test_what_has_changed_since_is_not_abandoned(bench: Any) -> None:
    bench.create(TWO)
    export = exporting(bench).export(bench.stack.id, with_secrets=True)
    bench.signal("a", word="later")
    with pytest.raises(Conflict, match="changed"):
        bench.run(AbandonStack("s", export.digest))
    assert bench.stack.state == "CREATE_COMPLETE"


def test_what_runs_is_only_abandoned_by_force(bench: Any) -> None:
    bench.create(TWO)
    bench.journal.behave["c", "check"] = lambda c: False
    bench.engine.begin(UpdateStack("s", bench.bundle(TWO + "\nc: {type: Test::Slow}")))
    bench.steps(12)
    with pytest.raises(Conflict):
        abandoned(bench)
    _, view = abandoned(bench, force=True)
    assert view.deleted_at is not None
    assert ("c", "handle_delete") not in bench.journal.calls


THREE = TWO + "\nc: {type: Test::Box, depends_on: b}"


def test_what_an_update_makes_instead_of_adopting_it_is_ours(bench: Any) -> None:
    assert adopted(bench, {"b": THINGS["b"]}, THREE).state == "ADOPT_FAILED"
    bench.fails("c", "handle_create")
    assert bench.update(THREE).state == "UPDATE_FAILED"
    bench.journal.calls.clear()

    assert bench.delete().state == "DELETE_COMPLETE"

    assert bench.journal.of("b") == ["handle_delete"]


def test_an_update_of_a_part_does_not_make_ours_what_was_not_adopted(bench: Any) -> None:
    text = "a: {type: Test::Box}\nb: {type: Test::Box}\nc: {type: Test::Box}"

    class Broken(Box):
        journal = bench.journal

        def handle_adopt(self, resource_data: Any) -> Any:
            super().handle_adopt(resource_data)
            return self.journal.note(self, "handle_adopt")

    bench.types["Test::Box"] = Broken
    bench.restart()
    bench.fails("b", "handle_adopt")
    things = {name: {"resource_id": f"thing-{name}"} for name in "abc"}
    assert adopted(bench, things, text).state == "ADOPT_FAILED"
    assert bench.resource("b").physical_id == "thing-b"

    bundle = bench.bundle(text)
    assert bench.run(UpdateStack("s", bundle, targets=("a",))).state == "UPDATE_COMPLETE"
    assert bench.update(text).state == "UPDATE_COMPLETE"
    assert "handle_delete" not in bench.journal.of("b")
    bench.journal.calls.clear()
    bench.delete()
    assert bench.journal.of("c") == ["handle_delete"], "it is ours since the whole update"


def test_what_was_not_adopted_is_planned_to_be_left_behind(bench: Any) -> None:
    adopted(bench, {"a": THINGS["a"]})
    plan = build_preview(bench.engine.services, DeleteStack("s"))
    assert [(each.entry.name, each.entry.action) for each in plan.resources] == [
        ("b", "leave"),
        ("a", "leave"),
    ]


def test_metadata_that_was_left_out_is_not_adopted(bench: Any) -> None:
    with pytest.raises(UsageError, match="resource a has hidden values left out"):
        adopted(bench, {"a": {"resource_id": "thing", "metadata": {"m": "(hidden)"}}})


def test_metadata_that_has_changed_since_is_not_abandoned(bench: Any) -> None:
    class Labelled(Box):
        journal = bench.journal

        def handle_signal(self, details: Any) -> None:
            self.metadata_set({"label": details["word"]})

    bench.types["Test::Box"] = Labelled
    bench.restart()
    bench.create(TWO)
    export = exporting(bench).export(bench.stack.id, with_secrets=True)
    bench.signal("a", word="later")
    with pytest.raises(Conflict, match="changed"):
        bench.run(AbandonStack("s", export.digest))


def test_a_signal_meanwhile_asks_nobody_what_is_adopted(bench: Any) -> None:
    """The adoption does, at its end; before, the thing need not even have its id."""

    class Signalled(Box):
        journal = bench.journal

        def handle_adopt(self, data: Any) -> None:
            self.resource_id_set(data["resource_id"])

        def check_adopt_complete(self, token: Any) -> bool:
            return bool(self.journal.note(self, "check"))

        def get_live_state(self) -> Any:
            return self.journal.note(self, "get_live_state")

    bench.types["Test::Box"] = Signalled
    bench.restart()
    bench.journal.behave["a", "check"] = lambda a: False
    bench.engine.begin(AdoptStack("s", bench.bundle("a: {type: Test::Box}"), {"a": THINGS["b"]}))
    while "check" not in bench.journal.of("a"):
        bench.steps(1)

    bench.engine.begin(SignalResource("s", "a", {"word": "x"}))

    bench.journal.behave["a", "check"] = lambda a: True
    bench.engine.settle()
    assert [call for call in bench.journal.of("a") if call != "check"] == [
        "handle_signal",
        "get_live_state",
    ]


def test_an_object_belongs_to_one_resource(bench: Any) -> None:
    adopted(bench)
    with pytest.raises(Conflict, match="thing-a belongs to resource a of stack s already"):
        bench.run(AdoptStack("t", bench.bundle(TWO), THINGS))
    bench.fails("c", "handle_create")
    bench.engine.run(UpdateStack("s", bench.bundle(TWO + "\nc: {type: Test::Box}")))
    with pytest.raises(Conflict, match="thing-a"):
        imported(bench, "c", "thing-a")
    bench.run(ImportResource("s", "c", "thing-a", force=True))
    assert bench.resource("c").physical_id == "thing-a"


def test_an_object_of_another_type_or_of_nobody_is_free(bench: Any) -> None:
    adopted(bench)
    other = bench.bundle("a: {type: Test::Slow}\nb: {type: Test::Slow}")
    assert bench.run(AdoptStack("t", other, THINGS)).state == "ADOPT_COMPLETE"
    refers = bench.bundle("a: {type: Test::Finder, external_id: thing-a}")
    bench.run(CreateStack("u", refers))
    found = bench.bundle("a: {type: Test::Finder}")
    assert bench.run(AdoptStack("v", found, THINGS)).state == "ADOPT_COMPLETE"


def test_what_a_failed_adoption_was_to_take_is_free(bench: Any) -> None:
    assert adopted(bench, {"a": THINGS["a"]}).state == "ADOPT_FAILED"
    assert bench.run(AdoptStack("t", bench.bundle(TWO), THINGS)).state == "ADOPT_COMPLETE"


def test_what_a_failed_creation_has_left_may_be_imported_and_stays(bench: Any) -> None:
    bench.fails("a", "handle_create")
    bench.create("a: {type: Test::Box}")
    made = bench.resource("a").physical_id
    assert made is not None
    bench.heals("a", "handle_create")
    imported(bench, "a", made)
    assert bench.states() == {"a": "ADOPT_COMPLETE"}
    bench.run(RetryStack("s"))
    assert "handle_delete" not in bench.journal.of("a"), "it is what was imported"
    assert [row.physical_id for row in bench.resource_rows()] == [made]


def test_who_owns_an_object_is_asked_of_the_database_and_not_of_every_row(bench: Any) -> None:
    bench.create("a: {type: Test::Box}\nb: {type: Test::Box}")
    mine, other = (bench.resource(name).physical_id for name in ("a", "b"))
    found = bench.engine.reader.owners([mine, "somebody's"])
    assert [(row.name, row.physical_id, stack) for row, stack in found] == [("a", mine, "s")]
    assert [row.physical_id for row, _ in bench.engine.reader.owners([other])] == [other]
    assert bench.engine.reader.owners([]) == []
