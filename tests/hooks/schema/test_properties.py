"""Properties: conversion, defaults, empty values, faults in Heat's words and order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from zonda.hooks.errors import SchemaError, TemplateError
from zonda.hooks.function import Function, Source
from zonda.hooks.schema.constraints import AllowedPattern, AllowedValues, Length, Range
from zonda.hooks.schema.properties import Properties, Schema
from zonda.hooks.schema.translation import TranslationRule
from zonda.hooks.testing import FakeContext, FakeOperation

PATH = ("resources", "r", "properties")

WAITS = Schema(
    Schema.MAP, schema={"create": Schema(Schema.NUMBER), "delete": Schema(Schema.NUMBER)}
)
PAIRS = Schema(
    Schema.LIST,
    schema=Schema(
        Schema.MAP,
        schema={
            "name": Schema(Schema.STRING, required=True),
            "min": Schema(Schema.INTEGER, default=1, constraints=[Range(1, 5)]),
        },
    ),
)


def test_faults_tell_what_the_property_means() -> None:
    colour = Schema(Schema.STRING, "Which colour.", required=True)
    schemata = {
        "colour": colour,
        "size": Schema(Schema.INTEGER, f"How {'very ' * 100}large. In metres."),
        "pin": Schema(Schema.INTEGER, "Opens it.", hidden=True, constraints=[Range(1, 5)]),
    }
    given = {"size": "x", "pin": 7, "pni": 1}
    found = Properties(schemata, given).validate(PATH)
    assert [fault.hint for fault in found] == [
        "Did you mean pin? Opens it.",
        "Which colour.",
        schemata["size"].summary,
        "Opens it.",
    ]
    assert len(schemata["size"].summary) == 403


def one(schema: Schema, value: Any) -> Properties:
    return Properties({"p": schema}, {"p": value})


def faults(properties: Properties) -> list[str]:
    return [str(fault) for fault in properties.validate(PATH)]


@pytest.mark.parametrize(
    ("data_type", "given", "converted"),
    [
        pytest.param(Schema.STRING, 5, "5", id="string-int"),
        pytest.param(Schema.STRING, True, "True", id="string-bool"),
        pytest.param(Schema.STRING, 10**29, "1" + "0" * 29, id="string-big"),
        pytest.param(Schema.INTEGER, 8.5, 8, id="integer-float-is-cut"),
        pytest.param(Schema.INTEGER, "7", 7, id="integer-text"),
        pytest.param(Schema.NUMBER, "5", 5, id="number-text"),
        pytest.param(Schema.NUMBER, "5.5", 5.5, id="number-text-float"),
        pytest.param(Schema.NUMBER, "1e3", 1000.0, id="number-exponent"),
        pytest.param(Schema.NUMBER, True, True, id="number-bool-stays"),
        pytest.param(Schema.BOOLEAN, "FALSE", False, id="boolean-word-any-case"),
        pytest.param(Schema.BOOLEAN, "true", True, id="boolean-word"),
        pytest.param(Schema.LIST, ("a", 1), ["a", 1], id="list-of-a-sequence"),
        pytest.param(Schema.MAP, {1: "x"}, {1: "x"}, id="map-without-schema"),
        pytest.param(Schema.ANY, {"a": None}, {"a": None}, id="any"),
        pytest.param(Schema.STRING, None, "", id="null-string"),
        pytest.param(Schema.NUMBER, None, 0, id="null-number"),
        pytest.param(Schema.BOOLEAN, None, False, id="null-boolean"),
        pytest.param(Schema.LIST, None, [], id="null-list"),
        pytest.param(Schema.MAP, None, {}, id="null-map"),
        pytest.param(Schema.ANY, None, None, id="null-any-stays"),
    ],
)
def test_a_given_value_is_converted(data_type: str, given: Any, converted: Any) -> None:
    properties = one(Schema(data_type), given)
    assert faults(properties) == []
    assert properties["p"] == converted
    assert type(properties["p"]) is type(converted)
    assert properties.get_stored_values() == {"p": converted}


@pytest.mark.parametrize(
    ("schema", "given", "fault"),
    [
        pytest.param(
            Schema(Schema.STRING), 1.5, "p: Value must be a string; got 1.5", id="string-float"
        ),
        pytest.param(
            Schema(Schema.STRING), ["a"], "p: Value must be a string; got ['a']", id="string-list"
        ),
        pytest.param(
            Schema(Schema.NUMBER), "", "p: could not convert string to float: ''", id="number-empty"
        ),
        pytest.param(
            Schema(Schema.NUMBER), [1], "p: Value must be a number; got [1]", id="number-list"
        ),
        pytest.param(
            Schema(Schema.INTEGER), "8.5", "p: Value '8.5' is not an integer", id="integer-text"
        ),
        pytest.param(
            Schema(Schema.INTEGER),
            float("inf"),
            "p: Value 'inf' is not an integer",
            id="integer-infinite",
        ),
        pytest.param(Schema(Schema.BOOLEAN), 1, 'p: "1" is not a valid boolean', id="boolean-int"),
        pytest.param(
            Schema(Schema.BOOLEAN), "yes", 'p: "yes" is not a valid boolean', id="boolean-yes"
        ),
        pytest.param(
            Schema(Schema.BOOLEAN), [], 'p: "[]" is not a valid boolean', id="boolean-list"
        ),
        pytest.param(Schema(Schema.LIST), "a,b", "p: \"'a,b'\" is not a list", id="list-text"),
        pytest.param(
            Schema(Schema.LIST), {"a": "b"}, "p: \"{'a': 'b'}\" is not a list", id="list-map"
        ),
        pytest.param(Schema(Schema.MAP), [1], 'p: "[1]" is not a map', id="map-list"),
        pytest.param(Schema(Schema.MAP), "abc", 'p: "abc" is not a map', id="map-text"),
        pytest.param(WAITS, {"foo": 1}, "p: Unknown Property foo", id="nested-unknown"),
        pytest.param(
            WAITS,
            {"create": "x"},
            "p.create: could not convert string to float: 'x'",
            id="nested-value",
        ),
        pytest.param(PAIRS, [{}], "p[0]: Property name not assigned", id="item-missing"),
        pytest.param(
            PAIRS,
            [{"name": "a", "min": 9}],
            "p[0].min: 9 is out of range (min: 1, max: 5)",
            id="item-constraint",
        ),
    ],
)
def test_a_bad_value_is_named_with_its_path(schema: Schema, given: Any, fault: str) -> None:
    assert faults(one(schema, given)) == [f"Property error: resources.r.properties.{fault}"]


def test_every_fault_is_found_in_heats_order() -> None:
    schemata = {
        "first": Schema(Schema.STRING, required=True),
        "second": Schema(Schema.NUMBER, constraints=[Range(min=0), AllowedValues([1])]),
        "third": PAIRS,
    }
    properties = Properties(
        schemata, {"third": [{"name": "a", "x": 1}, {"min": "y"}], "second": -1, "zzz": 1}
    )
    where = "Property error: resources.r.properties"
    assert faults(properties) == [
        f"{where}: Unknown Property zzz",
        f"{where}: Property first not assigned",
        f"{where}.second: -1 is out of range (min: 0, max: None)",
        f"{where}.second: -1 is not an allowed value [1]",
        f"{where}.third[0]: Unknown Property x",
        f"{where}.third[1]: Property name not assigned",
        f"{where}.third[1].min: Value 'y' is not an integer",
    ]


def test_a_fault_points_at_the_very_key_in_the_document() -> None:
    fault = Properties({}, {"zzz": 1}).validate(PATH)[0]
    assert fault.path == PATH
    assert fault.at == (*PATH, "zzz")
    assert fault.label == "Property error"


def test_a_missing_property_is_named_where_the_template_has_its_name() -> None:
    schemata = {"p": Schema(Schema.STRING, required=True)}
    properties = Properties(schemata, {}, raw={"p": {"if": ["never", "x"]}})
    assert faults(properties) == [
        "Property error: resources.r.properties.p: Property p not assigned"
    ]


def test_a_property_that_is_not_implemented_is_a_fault_only_when_given() -> None:
    schemata = {"p": Schema(Schema.STRING, implemented=False)}
    assert faults(Properties(schemata, {})) == []
    assert faults(Properties(schemata, {"p": "x"})) == [
        "Property error: resources.r.properties: Property p not implemented yet"
    ]


@pytest.mark.parametrize(
    ("schema", "seen"),
    [
        pytest.param(Schema(Schema.STRING), "", id="string"),
        pytest.param(Schema(Schema.NUMBER), 0, id="number"),
        pytest.param(Schema(Schema.INTEGER), 0, id="integer"),
        pytest.param(Schema(Schema.LIST), [], id="list"),
        pytest.param(WAITS, {}, id="map"),
        pytest.param(Schema(Schema.BOOLEAN), False, id="boolean"),
        pytest.param(Schema(Schema.ANY), None, id="any"),
        pytest.param(Schema(Schema.STRING, default="d"), "d", id="default"),
        pytest.param(Schema(Schema.NUMBER, default="5"), 5, id="default-is-converted"),
    ],
)
def test_an_unset_property_has_its_default_or_the_empty_value(schema: Schema, seen: Any) -> None:
    properties = Properties({"p": schema}, {})
    assert properties["p"] == seen
    assert properties.get_stored_values() == {}
    assert properties.get_user_value("p") is None


def test_what_is_stored_keeps_null_where_the_plug_in_sees_the_empty_value() -> None:
    properties = one(WAITS, {"create": "0"})
    assert properties.get_stored_values() == {"p": {"create": 0, "delete": None}}
    assert properties["p"] == {"create": 0, "delete": 0}


def test_items_of_lists_have_their_defaults() -> None:
    properties = one(PAIRS, [{"name": "a"}, {"name": "b", "min": "3"}])
    assert properties.get_stored_values() == {
        "p": [{"name": "a", "min": 1}, {"name": "b", "min": 3}]
    }


def test_a_null_is_the_default_where_there_is_one() -> None:
    assert one(Schema(Schema.STRING, default="d"), None).get_stored_values() == {"p": "d"}


def test_a_default_belongs_to_nobody_else() -> None:
    schema = Schema(Schema.LIST, default=[{"a": 1}])
    Properties({"p": schema}, {})["p"][0]["a"] = 2
    assert Properties({"p": schema}, {})["p"] == [{"a": 1}]


def test_text_is_taken_for_lists_and_maps_only_where_conversion_is_allowed() -> None:
    def convertible(data_type: str) -> Schema:
        return Schema(data_type, allow_conversion=True)

    assert one(convertible(Schema.LIST), "x, y")["p"] == ["x", " y"]
    assert one(convertible(Schema.LIST), "")["p"] == []
    assert one(convertible(Schema.MAP), '{"k": 1}')["p"] == '{"k": 1}'
    assert one(convertible(Schema.MAP), [1])["p"] == "[1]"
    assert faults(one(convertible(Schema.BOOLEAN), "on")) != []


def test_reading_a_bad_value_says_what_is_wrong() -> None:
    with pytest.raises(TemplateError) as caught:
        one(Schema(Schema.STRING), 1.5)["p"]
    assert str(caught.value) == "Property error: p: Value must be a string; got 1.5"


def test_reading_an_undeclared_name_is_a_key_error() -> None:
    properties = Properties({}, {"x": 1})
    with pytest.raises(KeyError, match="Invalid Property x"):
        properties["x"]
    with pytest.raises(KeyError, match="Invalid Property x"):
        properties.get_user_value("x")
    assert properties.get("x", "other") == "other"
    assert "x" not in properties


def test_it_is_a_mapping_of_every_declared_name() -> None:
    properties = Properties({"a": Schema(Schema.STRING), "b": Schema(Schema.NUMBER)}, {"b": 1})
    assert dict(properties) == {"a": "", "b": 1}
    assert list(properties) == ["a", "b"]
    assert len(properties) == 2
    assert "1" not in repr(properties)


def test_data_is_what_the_template_says() -> None:
    raw = {"p": {"get_param": "x"}}
    schemata = {"p": Schema(Schema.STRING)}
    assert Properties(schemata, {"p": 5}, raw=raw).data == raw
    assert Properties(schemata, {"p": 5}, raw={}).data == {"p": 5}


CHANGES = {
    "plain": Schema(Schema.STRING, update_allowed=True),
    "default": Schema(Schema.STRING, default="d", update_allowed=True),
    "fixed": Schema(Schema.NUMBER),
    "never": Schema(Schema.NUMBER, immutable=True),
}


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        pytest.param({"plain": "a"}, {"plain": "a"}, {}, id="same"),
        pytest.param({"plain": "5"}, {"plain": 5}, {}, id="same-after-conversion"),
        pytest.param({}, {"default": "d"}, {}, id="default-written-out"),
        pytest.param({"plain": "a"}, {"plain": "b"}, {"plain": "b"}, id="changed"),
        pytest.param({"plain": "a"}, {}, {"plain": None}, id="gone"),
        pytest.param({"default": "a"}, {}, {"default": "d"}, id="gone-back-to-default"),
        pytest.param(
            {"never": 1, "plain": "a"},
            {"fixed": 2, "plain": "b"},
            {"plain": "b", "fixed": 2, "never": None},
            id="several-in-order",
        ),
        pytest.param({"fixed": "x"}, {"fixed": 1}, {"fixed": 1}, id="old-value-no-longer-fits"),
    ],
)
def test_changes_between_two_sets(
    before: dict[str, Any], after: dict[str, Any], changed: dict[str, Any]
) -> None:
    new = Properties(CHANGES, after)
    old = Properties(CHANGES, before)
    assert new.changes(old) == changed
    assert new.diff(old) == list(changed)


def test_which_changes_are_allowed() -> None:
    properties = Properties(CHANGES, {})
    assert properties.update_allowed([])
    assert properties.update_allowed(["plain", "default"])
    assert not properties.update_allowed(["plain", "fixed"])
    assert properties.immutable(["plain", "never"]) == ["never"]


class Reads(Function):
    """Stands for a call that reads another resource."""

    def __init__(self) -> None:
        self.args = None

    def sources(self) -> Any:
        return iter([Source("attr", "other", "ip")])

    def resolve(self, scope: Any) -> Any:
        return None


SHORT = {"p": Schema(Schema.STRING, constraints=[Length(3), AllowedPattern("[a-z]+")])}


def test_constraints_wait_for_values_of_other_resources_while_a_template_is_validated() -> None:
    context = FakeContext()
    raw = {"p": [Reads()]}
    assert Properties(SHORT, {"p": None}, raw=raw, context=context).validate() == []
    context.operation = FakeOperation("id", "CREATE", 0.0, 1.0)
    assert len(Properties(SHORT, {"p": None}, raw=raw, context=context).validate()) == 2


def test_a_whole_block_that_reads_a_resource_waits() -> None:
    properties = Properties(SHORT, {"p": None}, raw=Reads(), context=FakeContext())  # type: ignore[arg-type]
    assert properties.validate() == []


def test_the_type_is_checked_even_while_a_value_is_pending() -> None:
    assert Properties(SHORT, {"p": "x"}).validate(pending={"p"}) == []
    assert faults(one(Schema(Schema.STRING), [1])) == [
        "Property error: resources.r.properties.p: Value must be a string; got [1]"
    ]
    pending = one(Schema(Schema.STRING), [1]).validate(PATH, pending={"p"})
    assert [fault.message for fault in pending] == ["Value must be a string; got [1]"]


RENAMED = {
    "old": Schema(Schema.STRING),
    "new": Schema(Schema.STRING, constraints=[Length(max=3)]),
}


def renaming(properties: Properties) -> Sequence[TranslationRule]:
    if not properties["old"]:
        return ()
    return [
        TranslationRule(properties, TranslationRule.REPLACE, ["new"], value_path=["old"]),
    ]


def test_rules_are_applied_before_anything_is_read() -> None:
    properties = Properties(RENAMED, {"old": "abcd"}, rules=renaming)
    assert properties["new"] == "abcd"
    assert properties["old"] == ""
    assert properties.get_stored_values() == {"new": "abcd"}
    assert faults(properties) == [
        "Property error: resources.r.properties.new: length (4) is out of range (min: None, max: 3)"
    ]


def test_a_translated_value_that_is_not_known_yet_is_given() -> None:
    schema = {"old": Schema(Schema.STRING), "new": Schema(Schema.STRING, required=True)}

    def rules(properties: Properties) -> Sequence[TranslationRule]:
        return [TranslationRule(properties, TranslationRule.REPLACE, ["new"], value_path=["old"])]

    def made() -> Properties:
        return Properties(schema, {"old": None}, rules=rules)

    assert made().validate(PATH, pending={"old"}) == []
    assert [str(fault) for fault in made().validate(PATH, pending=())] == [
        "Property error: resources.r.properties: Property new not assigned"
    ]


ALIASED = {
    "path": Schema(Schema.STRING),
    "dest": Schema(Schema.STRING, alias_of="path"),
    "name": Schema(Schema.STRING, alias_of="path"),
    "parts": Schema(
        Schema.LIST,
        schema=Schema(
            Schema.MAP,
            schema={
                "size": Schema(Schema.INTEGER),
                "length": Schema(Schema.INTEGER, alias_of="size"),
            },
        ),
    ),
}


def unalias(properties: Properties) -> Sequence[TranslationRule]:
    moves = [(["path"], "dest"), (["path"], "name"), (["parts", "size"], "length")]
    return [
        TranslationRule(properties, TranslationRule.REPLACE, path, value_name=alias)
        for path, alias in moves
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"dest": ["x"]}, "properties.dest: Value must be a string; got ['x']"),
        ({"path": ["x"]}, "properties.path: Value must be a string; got ['x']"),
        (
            {"dest": "x", "name": "y"},
            "properties.dest: Cannot use dest and name at the same time.",
        ),
        (
            {"parts": [{"size": 1}, {"length": "x"}]},
            "properties.parts[1].length: Value 'x' is not an integer",
        ),
    ],
)
def test_a_fault_tells_the_name_that_the_template_wrote(given: Any, said: str) -> None:
    found = faults(Properties(ALIASED, given, rules=unalias))
    assert found == [f"Property error: resources.r.{said}"]


def test_rules_that_cannot_be_applied_are_a_fault() -> None:
    properties = Properties(RENAMED, {"old": "a", "new": "b"}, rules=renaming)
    assert faults(properties) == [
        "Property error: resources.r.properties.new: Cannot use new and old at the same time."
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda: Schema("Text"), "Invalid type (Text)", id="type"),
        pytest.param(
            lambda: Schema(Schema.STRING, update_allowed=True, immutable=True),
            "A property cannot be both update_allowed and immutable.",
            id="both",
        ),
        pytest.param(
            lambda: Schema(Schema.STRING, schema={}),
            "A property of type String has nothing inside to describe.",
            id="inside-of-text",
        ),
        pytest.param(
            lambda: Schema(Schema.LIST, schema={}),
            "A list's schema is the one Schema of its items.",
            id="list-with-names",
        ),
        pytest.param(
            lambda: Schema(Schema.MAP, schema=Schema(Schema.STRING)),
            "A map's schema is a mapping of names to Schema objects.",
            id="map-without-names",
        ),
        pytest.param(
            lambda: Schema(Schema.BOOLEAN, constraints=[Range(1)]),
            "Range constraint invalid for Boolean",
            id="constraint",
        ),
    ],
)
def test_a_malformed_schema_shows_when_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        make()
    assert caught.value.message == message


def test_a_schema_shows_itself() -> None:
    shown: Mapping[str, Any] = PAIRS.to_dict()
    assert shown["type"] == "list"
    assert shown["schema"]["*"]["schema"]["min"] == {
        "type": "integer",
        "required": False,
        "update_allowed": False,
        "immutable": False,
        "default": 1,
        "constraints": [{"range": {"min": 1, "max": 5}}],
    }


SECRET = "hunter2"


@pytest.mark.parametrize(
    ("schema", "given", "fault"),
    [
        pytest.param(
            Schema(Schema.NUMBER, hidden=True),
            SECRET,
            "p: The value is hidden and is not a valid Number",
            id="type",
        ),
        pytest.param(
            Schema(Schema.STRING, hidden=True, constraints=[AllowedPattern("[0-9]+")]),
            SECRET,
            'p: "(hidden)" does not match pattern "[0-9]+"',
            id="constraint",
        ),
        pytest.param(
            Schema(Schema.STRING, hidden=True, constraints=[Length(99, None, "long ones only")]),
            SECRET,
            "p: long ones only",
            id="description",
        ),
        pytest.param(
            Schema(Schema.MAP, hidden=True, schema={"a": Schema(Schema.BOOLEAN)}),
            {"a": SECRET},
            "p.a: The value is hidden and is not a valid Boolean",
            id="inside-of-what-is-hidden",
        ),
    ],
)
def test_no_fault_quotes_a_hidden_value(schema: Schema, given: Any, fault: str) -> None:
    assert faults(one(schema, given)) == [f"Property error: resources.r.properties.{fault}"]


def test_reading_a_bad_hidden_value_leaves_no_trace_of_it() -> None:
    with pytest.raises(TemplateError) as caught:
        one(Schema(Schema.NUMBER, hidden=True), SECRET)["p"]
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None
