"""Constraints: accepted values, messages, malformed declarations."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks.errors import NotFound, SchemaError
from zonda.hooks.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    BaseCustomConstraint,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from zonda.hooks.schema.properties import Schema
from zonda.hooks.testing import FakeContext

STRING = Schema(Schema.STRING)
NUMBER = Schema(Schema.NUMBER)
BOOLEAN = Schema(Schema.BOOLEAN)
LIST = Schema(Schema.LIST)


@pytest.mark.parametrize(
    ("constraint", "value", "schema"),
    [
        pytest.param(Range(0, 10), 10, NUMBER, id="range-includes-its-end"),
        pytest.param(Range(0, 10), "10", NUMBER, id="range-of-text"),
        pytest.param(Range(max=1), float("nan"), NUMBER, id="range-lets-nan-pass"),
        pytest.param(Length(max=1), "\N{SLIGHTLY SMILING FACE}", STRING, id="length-in-characters"),
        pytest.param(Length(min="2"), [1, 2], LIST, id="length-of-list-limit-as-text"),
        pytest.param(Modulo(2, 1), -3, NUMBER, id="modulo-of-negative: -3 % 2 == 1"),
        pytest.param(Modulo(-2, -1), 3, NUMBER, id="modulo-of-negative-step: 3 % -2 == -1"),
        pytest.param(Modulo(2.0, 0), 4, NUMBER, id="modulo-whole-float"),
        pytest.param(AllowedValues([1, 2]), "1", STRING, id="values-are-converted-to-text"),
        pytest.param(AllowedValues(["1"]), 1, NUMBER, id="values-are-converted-to-numbers"),
        pytest.param(AllowedValues(["on"]), True, BOOLEAN, id="values-are-converted-to-booleans"),
        pytest.param(AllowedValues("abc"), "b", STRING, id="a-text-is-its-characters"),
        pytest.param(AllowedValues(["a"]), [], LIST, id="an-empty-list-has-no-other-item"),
        pytest.param(AllowedValues(["a"]), "a", None, id="values-without-schema"),
        pytest.param(AllowedPattern("ab|a"), "ab", STRING, id="pattern-first-alternative"),
        pytest.param(AllowedPattern("(?i)abc"), "ABC", STRING, id="pattern-flags"),
        pytest.param(AllowedPattern("[a-z]*"), "", STRING, id="pattern-of-nothing"),
    ],
)
def test_a_good_value_passes(constraint: Constraint, value: Any, schema: Any) -> None:
    constraint.validate(value, schema)


@pytest.mark.parametrize(
    ("constraint", "value", "schema", "sentence"),
    [
        pytest.param(
            Range(0, 10), -1, NUMBER, "-1 is out of range (min: 0, max: 10)", id="range-below"
        ),
        pytest.param(
            Range(max=1), 3, NUMBER, "3 is out of range (min: None, max: 1)", id="range-above"
        ),
        pytest.param(
            Length(3), "ab", STRING, "length (2) is out of range (min: 3, max: None)", id="short"
        ),
        pytest.param(
            Length(max=1),
            {"a": 1, "b": 2},
            None,
            "length (2) is out of range (min: None, max: 1)",
            id="map-too-long",
        ),
        pytest.param(
            Modulo(2, 1), 3.5, NUMBER, "3.5 is not a multiple of 2 with an offset of 1", id="modulo"
        ),
        pytest.param(
            AllowedValues(["a"]), "A", STRING, '"A" is not an allowed value ["a"]', id="case"
        ),
        pytest.param(
            AllowedValues([True, False]),
            "yes",
            STRING,
            '"yes" is not an allowed value [true, false]',
            id="values-as-json",
        ),
        pytest.param(
            AllowedValues(["a", "b"]),
            ["a", "c"],
            LIST,
            '["a", "c"] is not an allowed value ["a", "b"]',
            id="one-bad-item",
        ),
        pytest.param(
            AllowedValues(["1"]), [1], LIST, '[1] is not an allowed value ["1"]', id="items-as-is"
        ),
        pytest.param(
            AllowedPattern("a|ab"),
            "ab",
            STRING,
            '"ab" does not match pattern "a|ab"',
            id="no-retry",
        ),
        pytest.param(
            AllowedPattern("[a-z]+$"),
            "abc\n",
            STRING,
            '"abc\n" does not match pattern "[a-z]+$"',
            id="newline-at-the-end",
        ),
        pytest.param(Range(1, 2, "one or two"), 3, NUMBER, "one or two", id="own-description"),
    ],
)
def test_a_bad_value_gets_heats_sentence(
    constraint: Constraint, value: Any, schema: Any, sentence: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        constraint.validate(value, schema)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("constraint", "value"),
    [
        pytest.param(Length(max=2), 12345, id="length-of-a-number"),
        pytest.param(AllowedPattern("[0-9]+"), 5, id="pattern-on-a-number"),
        pytest.param(Range(0), "x", id="range-of-a-word"),
        pytest.param(Modulo(2, 0), "x", id="modulo-of-a-word"),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_violation_and_no_crash(
    constraint: Constraint, value: Any
) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        constraint.validate(value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        pytest.param(
            lambda: Length(),
            "A length constraint must have a min value and/or a max value specified.",
            id="length-of-nothing",
        ),
        pytest.param(
            lambda: Range(),
            "A range constraint must have a min value and/or a max value specified.",
            id="range-of-nothing",
        ),
        pytest.param(
            lambda: Range("a"), "could not convert string to float: 'a'", id="range-of-words"
        ),
        pytest.param(
            lambda: Modulo(2),
            "A modulo constraint must have a step value and an offset value specified.",
            id="modulo-without-offset",
        ),
        pytest.param(
            lambda: Modulo(2, -1),
            "step and offset must be both positive or both negative.",
            id="modulo-mixed-signs",
        ),
        pytest.param(
            lambda: Modulo(2, 2),
            "offset must be smaller (by absolute value) than step.",
            id="modulo-offset-too-big",
        ),
        pytest.param(lambda: Modulo(0, 0), "step cannot be 0.", id="modulo-zero"),
        pytest.param(
            lambda: Modulo(1.5, 0),
            "step/offset must be integer",
            id="modulo-fraction",
        ),
        pytest.param(
            lambda: AllowedValues({"a": "b"}),  # type: ignore[arg-type]
            "AllowedValues must be a list",
            id="values-as-a-map",
        ),
        pytest.param(
            lambda: AllowedValues(None),  # type: ignore[arg-type]
            "AllowedValues must be a list",
            id="values-null",
        ),
        pytest.param(
            lambda: AllowedPattern(5),  # type: ignore[arg-type]
            "AllowedPattern must be a string",
            id="pattern-not-text",
        ),
        pytest.param(
            lambda: AllowedPattern("["),
            'Invalid pattern "[": unterminated character set at position 0',
            id="pattern-malformed",
        ),
    ],
)
def test_a_malformed_constraint_is_a_schema_error(make: Any, sentence: str) -> None:
    with pytest.raises(SchemaError) as caught:
        make()
    assert caught.value.message == sentence


@pytest.mark.parametrize(
    ("constraint", "type_name", "fits"),
    [
        pytest.param(Length(1), "string", True, id="length-string"),
        pytest.param(Length(1), "json", True, id="length-json"),
        pytest.param(Length(1), Schema.LIST, True, id="length-list"),
        pytest.param(Length(1), "number", False, id="length-number"),
        pytest.param(Range(1), "number", True, id="range-number"),
        pytest.param(Range(1), Schema.INTEGER, True, id="range-integer"),
        pytest.param(Range(1), "string", False, id="range-string"),
        pytest.param(Modulo(2, 0), "boolean", False, id="modulo-boolean"),
        pytest.param(AllowedValues([1]), "comma_delimited_list", True, id="values-list"),
        pytest.param(AllowedValues([1]), "json", False, id="values-json"),
        pytest.param(AllowedValues([1]), Schema.ANY, True, id="values-any"),
        pytest.param(AllowedValues([1]), Schema.MAP, False, id="values-map"),
        pytest.param(AllowedPattern("a"), "number", False, id="pattern-number"),
        pytest.param(CustomConstraint("x"), "json", False, id="custom-json"),
        pytest.param(CustomConstraint("x"), "boolean", True, id="custom-boolean"),
    ],
)
def test_which_types_a_constraint_fits(constraint: Constraint, type_name: str, fits: bool) -> None:
    if fits:
        constraint.check_type(type_name)
        return
    with pytest.raises(SchemaError) as caught:
        constraint.check_type(type_name)
    kind = type(constraint).__name__
    assert caught.value.message == f"{kind} constraint invalid for {type_name}"


@pytest.mark.parametrize(
    ("constraint", "shown"),
    [
        pytest.param(Range(1, None, "d"), {"range": {"min": 1}, "description": "d"}, id="range"),
        pytest.param(Length(max=2), {"length": {"max": 2}}, id="length"),
        pytest.param(Modulo(2, 0), {"modulo": {"step": 2, "offset": 0}}, id="modulo"),
        pytest.param(AllowedValues(("a",)), {"allowed_values": ["a"]}, id="values"),
        pytest.param(AllowedPattern("a"), {"allowed_pattern": "a"}, id="pattern"),
        pytest.param(CustomConstraint("a"), {"custom_constraint": "a"}, id="custom"),
    ],
)
def test_a_constraint_shows_itself_as_a_template_writes_it(
    constraint: Constraint, shown: dict[str, Any]
) -> None:
    assert constraint.to_dict() == shown


def test_a_pattern_is_matched_by_the_context_where_there_is_one() -> None:
    class Bounded(FakeContext):
        def full_match(self, pattern: str, text: str) -> bool:
            raise ValueError(f"matching {pattern} took too long")

    with pytest.raises(ValueError, match="took too long"):
        AllowedPattern("(a+)+b").validate("aaaa", STRING, Bounded())


class Even(BaseCustomConstraint):
    def validate(self, value: Any, context: Any) -> bool:
        self._error_message = "it is odd"
        return int(value) % 2 == 0


class Known(BaseCustomConstraint):
    def validate_with_client(self, client: Any, value: Any) -> None:
        if value not in client.client("names"):
            raise NotFound("name", value)


class Names:
    def client(self) -> list[str]:
        return ["x"]


CONTEXT = FakeContext(constraints={"even": Even, "known": Known}, clients={"names": Names()})


def test_a_custom_constraint_comes_from_the_context() -> None:
    CustomConstraint("even").validate("2", STRING, CONTEXT)
    CustomConstraint("known").validate("x", STRING, CONTEXT)


@pytest.mark.parametrize(
    ("constraint", "value", "sentence"),
    [
        pytest.param(
            CustomConstraint("even"), "3", "Error validating value '3': it is odd", id="own-message"
        ),
        pytest.param(
            CustomConstraint("known"),
            "y",
            "Error validating value 'y': The name (y) could not be found.",
            id="expected-exception",
        ),
        pytest.param(
            CustomConstraint("none"),
            "a",
            '"a" does not validate none (constraint not found)',
            id="not-installed",
        ),
        pytest.param(CustomConstraint("even", "even ones"), "3", "even ones", id="description"),
        pytest.param(CustomConstraint("none", "good ones"), "3", "good ones", id="both"),
    ],
)
def test_a_custom_constraint_that_refuses(
    constraint: CustomConstraint, value: str, sentence: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the sentence is compared below
        constraint.validate(value, STRING, CONTEXT)
    assert str(caught.value) == sentence


def test_a_custom_constraint_may_bring_its_own_environment() -> None:
    class Environment:
        def get_constraint(self, name: str) -> type[BaseCustomConstraint] | None:
            return {"even": Even}.get(name)

    CustomConstraint("even", environment=Environment()).validate("2")
    with pytest.raises(ValueError, match="constraint not found"):
        CustomConstraint("odd", environment=Environment()).validate("2", STRING, CONTEXT)


def test_a_custom_constraint_without_a_message_names_the_value() -> None:
    assert BaseCustomConstraint().error("v") == "Error validating value 'v'"


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        pytest.param(10**400, True, id="huge"),
        pytest.param(2.0, True, id="whole"),
        pytest.param(2.5, False, id="fraction"),
        pytest.param(float("inf"), False, id="infinity"),
        pytest.param(float("nan"), False, id="no-number"),
    ],
)
def test_a_modulo_takes_numbers_of_any_size(value, fits):
    rules = [Modulo(step=2, offset=0), Modulo(step=10**400, offset=0)]
    assert [_holds(rule, value) for rule in rules] == [fits, fits and value != 2.0]


def _holds(rule, value):
    try:
        rule.validate(value)
    except ValueError:
        return False
    return True
