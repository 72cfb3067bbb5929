"""Previews: their content, and that they say what then happens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from zonda.core.engine.actions import (
    CancelStack,
    CreateStack,
    DeleteStack,
    ProtectStack,
    UpdateStack,
)
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.hooks import properties
from zonda.hooks.errors import TemplateError, ValidationErrors
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.values import WITHOUT_EFFECT


class Loose(Resource):
    """Has one property of any type."""

    properties_schema: ClassVar[Mapping[str, Any]] = {
        "value": properties.Schema("Any", update_allowed=True)
    }

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        """Nothing to do."""


class Stiff(Resource):
    """May be updated, it says, and has no handler for that."""

    properties_schema: ClassVar[Mapping[str, Any]] = {
        "value": properties.Schema("String", update_allowed=True)
    }


class Vain(Loose):
    """A part of it has no effect."""

    def validate(self) -> None:
        path = ("resources", self.name, "properties", "value")
        raise ValidationErrors([TemplateError("it is white", path=path, code=WITHOUT_EFFECT)])


class Placed(Loose):
    """It is at a place outside."""

    def describe_claim(self) -> str:
        return str(self.properties["value"] or "")


class Saved(Resource):
    """Something of it may be kept when it goes."""

    properties_schema: ClassVar[Mapping[str, Any]] = {"fixed": properties.Schema("String")}

    def handle_snapshot_delete(self, state: Any) -> None:
        """Nothing to do."""


class Lasting(Loose):
    """A part of it stays outside when it goes."""

    properties_schema: ClassVar[Mapping[str, Any]] = {
        "fixed": properties.Schema("String"),
        "stays": properties.Schema("String", default="", update_allowed=True),
    }

    def describe_remains(self) -> str:
        """What the template says, or a fault."""
        if self.properties["stays"] == "fault":
            raise LookupError("x")
        return self.properties["stays"] and f"{self.properties['stays']} stays"

    def describe_outcome(self) -> str:
        """Likewise."""
        return f"{self.properties['stays']} was there"


@pytest.fixture(autouse=True)
def more_types(bench):
    bench.types |= {"Test::Any": Loose, "Test::Stiff": Stiff, "Test::Saved": Saved}
    bench.types["Test::Vain"] = Vain
    bench.types["Test::Placed"] = Placed
    bench.types["Test::Lasting"] = Lasting
    bench.restart()


def shown(bench: Any, resources: str, **given: Any) -> dict[str, Any]:
    """What a plan of an update shows, as programs read it."""
    action = UpdateStack("s", bench.bundle(resources, **given))
    return json.loads(json.dumps(build_document(build_preview(bench.engine.services, action))))


def of(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in plan["resources"] if each["name"] == name)


def kinds(plan: dict[str, Any], name: str) -> list[str]:
    return [reason["kind"] for reason in of(plan, name)["reasons"]]


ONE = "a: {type: Test::Box, properties: {value: %s, fixed: %s}}\n"


def test_nothing_changes(bench):
    bench.create(ONE % (1, 2))
    plan = shown(bench, ONE % (1, 2))
    assert not plan["does_something"]
    assert plan["unchanged"] == ["a"]
    assert plan["resources"] == []


def test_an_update_in_place_shows_old_and_new(bench):
    bench.create(ONE % ("one", 2))
    plan = shown(bench, ONE % ("two", 2))
    assert of(plan, "a")["action"] == "update"
    assert of(plan, "a")["changes"] == [
        {"path": ["properties", "value"], "kind": "changed", "before": "one", "after": "two"}
    ]


def test_a_replacement_tells_which_property_forces_it(bench):
    bench.create(ONE % ("one", "x"))
    plan = shown(bench, ONE % ("two", "y"))
    assert of(plan, "a")["action"] == "replace"
    assert of(plan, "a")["reasons"] == [
        {
            "kind": "fixed",
            "text": "fixed can only be changed by a new resource",
            "names": ["fixed"],
            "perhaps": False,
        }
    ]
    forcing = {change["path"][1]: change.get("forces") for change in of(plan, "a")["changes"]}
    assert forcing == {"value": None, "fixed": "replace"}


def test_only_the_path_that_differs_is_shown(bench):
    bench.create("v: {type: Test::Any, properties: {value: {a: 1, b: [1, {x: 2}], c: keep}}}")
    plan = shown(bench, "v: {type: Test::Any, properties: {value: {b: [1, {x: 3}, 4], c: keep}}}")
    assert of(plan, "v")["changes"] == [
        {"path": ["properties", "value", "a"], "kind": "removed", "before": 1},
        {
            "path": ["properties", "value", "b", 1, "x"],
            "kind": "changed",
            "before": 2,
            "after": 3,
        },
        {"path": ["properties", "value", "b", 2], "kind": "added", "after": 4},
    ]


def test_hidden_values_are_in_no_part_of_a_plan(bench):
    rest = "parameters: {p: {type: string, hidden: true}}\n"
    text = """
        a: {type: Test::Box, properties: {secret: {get_param: p}}, metadata: {m: {get_param: p}}}
        b: {type: Test::Box, properties: {value: {list_join: ['-', [x, {get_param: p}]]}}}
    """
    outputs = "outputs: {o: {value: {get_param: p}}}\n"
    bench.create(text, rest=rest + outputs, parameters={"p": "first-secret"})
    bundle = bench.bundle(text, rest=rest + outputs, parameters={"p": "second-secret"})
    found = build_preview(bench.engine.services, UpdateStack("s", bundle))
    kept = format_plan(found, bench.store.sealer, bench.engine.services.definitions)
    assert "first-secret" not in kept
    assert "second-secret" not in kept
    plan = json.loads(kept)
    assert of(plan, "a")["changes"] == [
        {"path": ["properties", "secret"], "kind": "changed", "hidden": "hidden"},
        {"path": ["metadata"], "kind": "changed", "hidden": "hidden"},
    ]
    assert [change["hidden"] for change in plan["outputs"] + plan["parameters"]] == ["hidden"] * 2


TWO = """
    a: {type: Test::Box, properties: {value: %s, fixed: %s}}
    b: {type: Test::Box, properties: {%s: {list_join: ['', [x, {get_resource: a}]]}, value: v}}
"""


def test_what_a_new_resource_says_is_known_after_apply_and_so_is_what_is_made_of_it(bench):
    bench.create(TWO % ("one", "x", "fixed"))
    plan = shown(bench, TWO % ("one", "y", "fixed"))
    assert (of(plan, "b")["action"], of(plan, "b")["may_become"]) == ("none", "replace")
    (change,) = of(plan, "b")["changes"]
    assert change["known_after_apply"]
    assert "after" not in change
    assert change["forces"] == "replace"
    assert kinds(plan, "b") == ["requirement", "fixed"]
    assert plan["summary"] == {"replace": 1, "unchanged": 0, "may replace": 1}


def test_a_reference_stays_in_an_update_in_place_unless_the_type_says_otherwise(bench):
    bench.create(TWO % ("one", "x", "fixed"))
    assert shown(bench, TWO % ("two", "x", "fixed"))["unchanged"] == ["b"]
    bench.types["Test::Box"].reference_may_change = True
    assert of(shown(bench, TWO % ("two", "x", "fixed")), "b")["may_become"] == "replace"


def test_an_unknown_value_beside_known_ones_in_a_map(bench):
    text = "{type: Test::Any, properties: {value: {n: %s, r: {get_attr: [a, value]}}}}"
    bench.create(TWO % ("one", "x", "fixed") + f"    c: {text % 1}\n")
    plan = shown(bench, TWO % ("two", "x", "fixed") + f"    c: {text % 2}\n")
    assert of(plan, "c")["action"] == "update"
    assert [change["path"] for change in of(plan, "c")["changes"]] == [
        ["properties", "value", "n"],
        ["properties", "value", "r"],
    ]


@pytest.mark.parametrize(
    ("before", "after", "action", "kind"),
    [
        pytest.param("{value: v}", "{value: v, frozen: f}", "fail", "immutable", id="immutable"),
        pytest.param("{value: v}", "{value: [no]}", None, None, id="invalid"),
    ],
)
def test_what_will_fail_is_said_before(bench, before, after, action, kind):
    bench.create(f"a: {{type: Test::Box, properties: {before}}}")
    text = f"a: {{type: Test::Box, properties: {after}}}"
    if action is None:
        with pytest.raises(ValidationErrors):
            shown(bench, text)
        return
    plan = shown(bench, text)
    assert plan["fails"]
    assert of(plan, "a")["action"] == action
    assert kinds(plan, "a") == [kind]


def test_restrictions_and_what_depends_on_them(bench):
    text = TWO % ("one", "x", "fixed")
    bench.create(text)
    limits = "resource_registry: {resources: {a: {restricted_actions: replace}}}"
    plan = shown(bench, TWO % ("one", "y", "fixed"), environment=limits)
    assert of(plan, "a")["action"] == "fail"
    assert kinds(plan, "a") == ["restricted"]
    assert plan["fails"]
    assert "because of a" in plan["notes"][0]


def test_what_has_no_effect_is_noted_with_its_place(bench):
    bench.create("")
    plan = shown(bench, "v: {type: Test::Vain, properties: {value: red}}")
    assert not plan["fails"]
    (note,) = plan["notes"]
    assert note.endswith(": it is white [ZON617]")


def test_two_resources_that_are_one_thing_are_noted_with_both_places(bench):
    bench.create("")
    text = (
        "a: {type: Test::Placed, properties: {value: left}}\n"
        "b: {type: Test::Placed, properties: {value: right}}\n"
        "c: {type: Test::Placed, properties: {value: left}}\n"
        "d: {type: Test::Placed}\n"
        "e: {type: Test::Placed}\n"
    )
    plan = shown(bench, text)
    assert not plan["fails"]
    (note,) = plan["notes"]
    assert [line.split(":")[-1] for line in note.split("(")] == [
        " It is the same thing as the resource a ",
        " a makes it, too) [ZON618]",
    ]
    assert bench.update(text).state == "UPDATE_COMPLETE"


def test_a_type_without_a_handler_of_updates_replaces(bench):
    bench.create("p: {type: Test::Stiff, properties: {value: a}}")
    plan = shown(bench, "p: {type: Test::Stiff, properties: {value: b}}")
    assert of(plan, "p")["action"] == "replace"
    assert kinds(plan, "p") == ["plugin"]
    assert bench.update("p: {type: Test::Stiff, properties: {value: b}}").state == "UPDATE_COMPLETE"


def test_what_becomes_of_a_predecessor_that_is_not_just_deleted(bench):
    text = """
        kept: {type: Test::Box, deletion_policy: Retain, properties: {fixed: %s}}
        back: {type: Test::Saved, deletion_policy: Snapshot, properties: {fixed: %s}}
        gone: {type: Test::Box, properties: {fixed: %s}}
        """
    bench.create(text % (1, 1, 1))
    plan = shown(bench, text % (2, 2, 2))
    assert {each["action"] for each in plan["resources"]} == {"replace"}
    assert kinds(plan, "kept") == ["fixed", "retain"]
    assert "the old one is left behind" in of(plan, "kept")["reasons"][-1]["text"]
    assert kinds(plan, "back") == ["fixed", "snapshot"]
    assert kinds(plan, "gone") == ["fixed"]


def test_what_a_deletion_leaves_is_told_when_it_is_made_and_when_it_goes(bench):
    text = "a: {type: Test::Lasting, properties: {fixed: %s, stays: %s}}"
    create = CreateStack("s", bench.bundle(text % (1, "dust")))
    plan = build_document(build_preview(bench.engine.services, create))
    assert of(plan, "a")["reasons"][-1]["kind"] == "remains"
    assert of(plan, "a")["reasons"][-1]["text"] == "dust stays"
    bench.create(text % (1, "dust"))
    assert kinds(shown(bench, text % (2, "mud")), "a") == ["fixed", "remains"]
    assert kinds(shown(bench, text % (1, "mud")), "a") == []
    plan = shown(bench, "")
    assert of(plan, "a")["reasons"] == [
        {"kind": "remains", "text": "dust stays", "names": [], "perhaps": False}
    ]
    bench.update("")
    told = [(event.action, event.reason) for event in bench.engine.reader.events(bench.stack.id)]
    assert ("CREATE", "dust was there") in told
    assert ("DELETE", "dust stays") in told


def test_what_stays_is_told_without_secrets_and_without_faults(bench):
    rest = "parameters: {p: {type: string, hidden: true}}\n"
    text = "a: {type: Test::Lasting, properties: {stays: {get_param: p}}}"
    bench.create(text, rest=rest, parameters={"p": "s3cr3t-value"})
    plan = json.dumps(shown(bench, ""))
    assert "stays" in plan
    assert "s3cr3t" not in plan
    bench.update("a: {type: Test::Lasting, properties: {stays: fault}}")
    assert "fails to tell" in of(shown(bench, ""), "a")["reasons"][0]["text"]


def test_failed_type_metadata_policy_and_gone(bench):
    bench.fails("f", "handle_create")
    bench.create(
        """
        f: {type: Test::Box}
        t: {type: Test::Box, properties: {value: v}}
        m: {type: Test::Box, metadata: {k: 1}}
        d: {type: Test::Box}
        keep: {type: Test::Box, deletion_policy: Retain}
        gone: {type: Test::Box, depends_on: d}
        """
    )
    plan = shown(
        bench,
        """
        f: {type: Test::Box}
        t: {type: Test::Slow, properties: {value: v}}
        m: {type: Test::Box, metadata: {k: 2}, deletion_policy: Retain}
        d: {type: Test::Box}
        """,
    )
    actions = {each["name"]: each["action"] for each in plan["resources"]}
    assert actions == {
        "f": "replace",
        "t": "replace",
        "m": "update",
        "gone": "delete",
        "keep": "leave",
    }
    assert kinds(plan, "f") == ["failed", "removed first"]
    assert kinds(plan, "t") == ["type"]
    assert kinds(plan, "keep") == ["retain"]
    assert [change["path"] for change in of(plan, "m")["changes"]] == [
        ["deletion_policy"],
        ["metadata", "k"],
    ]


def test_a_deletion_goes_from_users_to_what_they_use(bench):
    bench.create(TWO % ("one", "x", "fixed"))
    plan = build_document(build_preview(bench.engine.services, DeleteStack("s")))
    assert [(each["name"], each["action"]) for each in plan["resources"]] == [
        ("b", "delete"),
        ("a", "delete"),
    ]


def test_protection_shows(bench):
    bench.create(ONE % ("one", "x") + "z: {type: Test::Box}\n")
    bench.run(ProtectStack("s", ("a",)))
    plan = shown(bench, "z: {type: Test::Box}")
    assert (of(plan, "a")["action"], kinds(plan, "a")) == ("fail", ["protected"])
    plan = shown(bench, ONE % ("one", "y") + "z: {type: Test::Box}\n")
    assert (of(plan, "a")["action"], kinds(plan, "a")) == ("fail", ["protected"])
    assert build_document(build_preview(bench.engine.services, DeleteStack("s")))["fails"]


def test_settings_of_the_stack_show(bench):
    bench.create(ONE % (1, 2))
    action = UpdateStack("s", bench.bundle(ONE % (1, 2)), timeout_mins=9, tags=("a",))
    plan = build_document(build_preview(bench.engine.services, action))
    assert plan["does_something"]
    assert [(change["path"], change.get("after")) for change in plan["settings"]] == [
        (["timeout_mins"], 9),
        (["tags", 0], "a"),
    ]
    protects = "zonda: {protect: {a: true}}"
    plan = shown(bench, ONE % (1, 2), environment=protects)
    assert [change["path"] for change in plan["settings"]] == [["policies"]]
    bench.update(ONE % (1, 2), environment=protects)
    assert not shown(bench, ONE % (1, 2), environment=protects)["does_something"]


def test_a_part_shows_what_is_left_alone(bench):
    bench.create(TWO % ("one", "x", "fixed"))
    bundle = bench.bundle(TWO % ("two", "y", "fixed"))
    found = build_preview(bench.engine.services, UpdateStack("s", bundle, targets=("a",)))
    plan = build_document(found)
    assert [each["name"] for each in plan["resources"]] == ["a"]
    assert plan["selection"] == {
        "targets": ["a"],
        "excludes": [],
        "added": [],
        "left_alone": ["b"],
    }


PAIR = """
    a: {type: Test::Box, properties: {value: %s}}
    b: {type: Test::Box, properties: {fixed: %s}}
"""


def test_the_old_instance_of_what_is_left_alone_stays_where_its_successor_never_began(bench):
    bench.create(PAIR % ("one", "x"))
    hooks = "resource_registry: {resources: {b: {hooks: pre-create}}}"
    bundle = bench.bundle(PAIR % ("one", "y"), environment=hooks)
    bench.engine.begin(UpdateStack("s", bundle))
    bench.steps(9)
    assert bench.resource("b").hook == "pre-create"
    bench.run(CancelStack("s", rollback=False))
    bundle = bench.bundle(PAIR % ("two", "y"))
    found = build_preview(bench.engine.services, UpdateStack("s", bundle, targets=("a",)))
    assert [each["name"] for each in build_document(found)["resources"]] == ["a"]
    bench.run(UpdateStack("s", bundle, targets=("a",)))
    assert "handle_delete" not in bench.journal.of("b")


def test_a_stack_in_progress_is_planned_as_if_what_runs_ended_well(bench):
    bench.create("a: {type: Test::Slow, properties: {value: one}}")
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(UpdateStack("s", bench.bundle(SLOW % "two")))
    bench.steps(5)
    assert bench.resource("a").op == "UPDATE"
    plan = shown(bench, SLOW % "two")
    assert plan["stack"]["in_progress"]
    assert "UPDATE_IN_PROGRESS" in plan["notes"][0]
    assert plan["unchanged"] == ["a"]
    assert of(shown(bench, SLOW % "three"), "a")["changes"][0]["before"] == "two"


def test_what_a_running_operation_will_show_is_known_after_apply(bench):
    bench.journal.behave["a", "check"] = lambda resource: False
    bench.engine.begin(CreateStack("s", bench.bundle(SLOW % "one" + USER)))
    bench.steps(5)
    plan = shown(bench, SLOW % "one" + USER)
    assert plan["unchanged"] == ["a"]
    assert of(plan, "u")["changes"][0]["known_after_apply"]


USER = "u: {type: Test::Box, properties: {value: {get_attr: [a, value]}}}\n"
SLOW = "a: {type: Test::Slow, properties: {value: %s}}\n"


def test_a_plan_writes_nothing(bench):
    bench.create(TWO % ("one", "x", "fixed"))
    before = bench.store.commits, bench.engine.reader.last_event(), bench.stack.generation
    shown(bench, TWO % ("two", "y", "fixed"))
    assert (bench.store.commits, bench.engine.reader.last_event(), bench.stack.generation) == before
