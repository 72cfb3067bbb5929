"""``OS::Heat::None``, ``Value``, ``RandomString`` and ``Delay``, each through its life."""

from __future__ import annotations

import string
import uuid
from typing import Any

import pytest

from zonda.builtin_resources.basic.delay import Delay
from zonda.builtin_resources.basic.none import NoneResource
from zonda.builtin_resources.basic.random_string import CHARACTERS, RandomString
from zonda.builtin_resources.basic.value import Value
from zonda.builtin_resources.plugin import COMPOSITE_TYPES, zonda_resource_types
from zonda.hooks.errors import ResourceFailure, TemplateError, ValidationErrors
from zonda.hooks.resources.resource import Resource
from zonda.hooks.testing import FakeContext, Lifecycle


def faults(lifecycle: Lifecycle) -> list[str]:
    with pytest.raises(ValidationErrors) as caught:
        lifecycle.validate()
    return [str(error) for error in caught.value.errors]


def test_the_types_are_registered_by_their_names() -> None:
    assert set(zonda_resource_types()) == set(COMPOSITE_TYPES) | {
        "AWS::CloudFormation::WaitCondition",
        "AWS::CloudFormation::WaitConditionHandle",
        "OS::Heat::CloudConfig",
        "OS::Heat::Delay",
        "OS::Heat::DeployedServer",
        "OS::Heat::MultipartMime",
        "OS::Heat::None",
        "OS::Heat::RandomString",
        "OS::Heat::SoftwareComponent",
        "OS::Heat::SoftwareConfig",
        "OS::Heat::SoftwareDeployment",
        "OS::Heat::StructuredConfig",
        "OS::Heat::StructuredDeployment",
        "OS::Heat::TestResource",
        "OS::Heat::UpdateWaitConditionHandle",
        "OS::Heat::Value",
        "OS::Heat::WaitCondition",
        "OS::Heat::WaitConditionHandle",
    }


@pytest.mark.parametrize("cls", zonda_resource_types().values(), ids=lambda cls: cls.__name__)
def test_every_type_says_what_it_is(cls: type[Resource]) -> None:
    assert cls.__doc__
    assert cls.start_policy == "idempotent"
    assert cls.support_status.version
    described: dict[str, Any] = {**cls.properties_schema, **cls.attributes_schema}
    assert all(schema.description for schema in described.values())


# -- OS::Heat::None


def test_none_takes_everything_and_knows_nothing() -> None:
    none = Lifecycle(NoneResource, {"x": [1], 2: "y"})  # type: ignore[dict-item]
    none.validate()
    none.create()
    assert none.instance().properties.get_stored_values() == {"x": [1], 2: "y"}
    assert dict(none.instance().properties) == {}
    assert none.attribute("anything", "at", "all") is None
    assert none.attribute("show") is None
    assert str(uuid.UUID(none.reference)) == none.reference
    assert none.update({"other": 1}) == "unchanged"
    none.delete()


def test_two_nones_have_different_references() -> None:
    context = FakeContext()
    references = set()
    for _ in range(2):
        none = Lifecycle(NoneResource, context=context)
        none.create()
        references.add(none.reference)
    assert len(references) == 2


# -- OS::Heat::Value


@pytest.mark.parametrize(
    ("given", "stored", "shown"),
    [
        pytest.param({"value": 5}, 5, 5, id="any"),
        pytest.param({"value": None}, None, None, id="null"),
        pytest.param({"value": {"a": [None]}}, {"a": [None]}, {"a": [None]}, id="deep"),
        pytest.param({"value": "5", "type": "number"}, 5, "5", id="checked-not-converted"),
        pytest.param({"value": True, "type": "number"}, True, True, id="boolean-as-number"),
        pytest.param({"value": True, "type": "string"}, "True", True, id="boolean-as-text"),
        pytest.param({"value": ["a"], "type": "comma_delimited_list"}, ["a"], ["a"], id="list"),
        pytest.param({"value": {"a": 1}, "type": "json"}, {"a": 1}, {"a": 1}, id="map"),
    ],
)
def test_a_value_is_stored_typed_and_shown_as_given(
    given: dict[str, Any], stored: Any, shown: Any
) -> None:
    value = Lifecycle(Value, given)
    value.validate()
    value.create()
    assert value.instance().properties.get_stored_values()["value"] == stored
    assert value.attribute("value") == shown
    assert type(value.attribute("value")) is type(shown)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        pytest.param({}, ": Property value not assigned", id="missing"),
        pytest.param(
            {"value": 1, "type": "integer"},
            '.type: "integer" is not an allowed value ["string", "number", '
            '"comma_delimited_list", "json", "boolean"]',
            id="unknown-type",
        ),
        pytest.param(
            {"value": ["a"], "type": "string"},
            ".value: Value must be a string; got ['a']",
            id="list-as-text",
        ),
        pytest.param(
            {"value": "t", "type": "boolean"}, '.value: "t" is not a valid boolean', id="boolean"
        ),
        pytest.param(
            {"value": "a,b", "type": "comma_delimited_list"},
            ".value: \"'a,b'\" is not a list",
            id="text-as-list",
        ),
        pytest.param({"value": [1], "type": "json"}, '.value: "[1]" is not a map', id="no-map"),
        pytest.param(
            {"value": 1, "type": ["x"]},
            ".type: Value must be a string; got ['x']",
            id="type-not-text",
        ),
    ],
)
def test_a_value_of_the_wrong_type(given: dict[str, Any], fault: str) -> None:
    assert faults(Lifecycle(Value, given)) == [
        f"Property error: resources.resource.properties{fault}"
    ]


def test_a_value_changes_in_place() -> None:
    value = Lifecycle(Value, {"value": 1})
    value.create()
    before = value.reference
    assert value.update({"value": "x", "type": "string"}) == "updated"
    assert value.attribute("value") == "x"
    assert value.reference == before
    value.delete()


# -- OS::Heat::RandomString


def made(given: dict[str, Any], seed: int = 0) -> Lifecycle:
    text = Lifecycle(RandomString, given, context=FakeContext(seed=seed))
    text.validate()
    text.create()
    return text


@pytest.mark.parametrize(
    ("given", "length", "characters"),
    [
        pytest.param({}, 32, CHARACTERS["lettersdigits"], id="default"),
        pytest.param({"length": 512}, 512, CHARACTERS["lettersdigits"], id="longest"),
        pytest.param({"length": 8.5}, 8, CHARACTERS["lettersdigits"], id="float-is-cut"),
        pytest.param(
            {"length": 10, "character_classes": [{"class": "digits", "min": 1}]},
            10,
            string.digits,
            id="one-class",
        ),
        pytest.param({"length": 4, "sequence": "octdigits"}, 4, "01234567", id="old-property"),
        pytest.param(
            {
                "length": 20,
                "character_classes": [],
                "character_sequences": [{"sequence": "xy", "min": 3}],
            },
            20,
            "xy",
            id="characters-of-ones-own",
        ),
    ],
)
def test_a_text_has_its_length_and_its_characters(
    given: dict[str, Any], length: int, characters: str
) -> None:
    text = made(given)
    value = text.attribute("value")
    assert len(value) == length
    assert set(value) <= set(characters)
    assert text.reference == value
    assert text.saved.redacted == {"value"}


def test_the_least_numbers_are_kept() -> None:
    text = made(
        {
            "length": 7,
            "character_classes": [{"class": "digits", "min": 3}, {"class": "lowercase", "min": 2}],
            "character_sequences": [{"sequence": "!?", "min": 2}],
        }
    ).reference
    assert sum(character.isdigit() for character in text) == 3
    assert sum(character.islower() for character in text) == 2
    assert sum(character in "!?" for character in text) == 2


def test_every_class_can_be_asked_for_at_once() -> None:
    given = {"length": 9, "character_classes": [{"class": name} for name in CHARACTERS]}
    text = made(given)
    assert len(text.reference) == 9
    stored = text.instance().properties.get_stored_values()["character_classes"]
    assert stored == [{"class": name, "min": 1} for name in CHARACTERS]


def test_texts_differ() -> None:
    assert made({}, seed=1).reference != made({}, seed=2).reference


def test_every_change_makes_a_new_text() -> None:
    text = made({})
    before = text.reference
    assert text.update({"salt": "x"}) == "replaced"
    assert text.reference != before


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        pytest.param(
            {"length": 513}, ".length: 513 is out of range (min: 1, max: 512)", id="too-long"
        ),
        pytest.param(
            {"character_classes": [{"class": "foo"}]},
            '.character_classes[0].class: "foo" is not an allowed value ["lettersdigits", '
            '"letters", "lowercase", "uppercase", "digits", "hexdigits", "octdigits"]',
            id="no-such-class",
        ),
        pytest.param(
            {"character_sequences": [{"min": 1}]},
            ".character_sequences[0]: Property sequence not assigned",
            id="no-characters",
        ),
    ],
)
def test_a_text_that_cannot_be_described(given: dict[str, Any], fault: str) -> None:
    assert faults(Lifecycle(RandomString, given)) == [
        f"Property error: resources.resource.properties{fault}"
    ]


def test_the_least_numbers_must_fit() -> None:
    text = Lifecycle(RandomString, {"length": 2, "character_sequences": [{"sequence": "ab"}] * 2})
    with pytest.raises(TemplateError, match="Length property cannot be smaller than combined"):
        text.validate()  # 2 of the lists and 1 of the class that is there by default


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"character_classes": []}, id="no-classes"),
        pytest.param({"character_sequences": [{"sequence": ""}]}, id="an-empty-list"),
    ],
)
def test_nothing_to_choose_from_fails_the_creation(given: dict[str, Any]) -> None:
    text = Lifecycle(RandomString, given)
    text.validate()
    with pytest.raises(ResourceFailure, match="no characters to choose from"):
        text.create()
    assert text.reference == "resource"


# -- OS::Heat::Delay


def delay(**given: Any) -> Lifecycle:
    return Lifecycle(Delay, given, type_name="OS::Heat::Delay")


def test_no_delay_is_over_at_once() -> None:
    pause = delay()
    pause.validate()
    pause.create()
    assert pause.polls == 1
    assert pause.context.clock.monotonic() == 0
    assert pause.reference == "resource"


def test_a_delay_takes_its_time_and_no_check_more() -> None:
    pause = delay(min_wait=90)
    pause.create()
    assert pause.context.clock.monotonic() == 90
    assert pause.polls == 2


@pytest.mark.parametrize(
    ("actions", "seconds"),
    [
        pytest.param(["CREATE"], [10, 0, 0, 0], id="create"),
        pytest.param(["SUSPEND", "DELETE"], [0, 10, 0, 10], id="two"),
        pytest.param(["RESUME"], [0, 0, 10, 0], id="resume"),
        pytest.param([], [0, 0, 0, 0], id="none"),
    ],
)
def test_only_the_chosen_actions_wait(actions: list[str], seconds: list[int]) -> None:
    pause = delay(min_wait=10, actions=actions)
    taken = []
    for action in (pause.create, pause.suspend, pause.resume, pause.delete):
        before = pause.context.clock.monotonic()
        action()
        taken.append(pause.context.clock.monotonic() - before)
    assert taken == seconds


def test_the_random_part_is_chosen_once_and_bounded() -> None:
    pauses = []
    for seed in range(20):
        pause = Lifecycle(
            Delay,
            {"min_wait": 5, "max_jitter": 2, "jitter_multiplier": 3},
            context=FakeContext(seed=seed),
        )
        pause.create()
        assert pause.polls == 2
        pauses.append(pause.context.clock.monotonic())
    assert all(5 <= taken <= 11 for taken in pauses)  # 5 + 2 * 3
    assert len(set(pauses)) > 1


def test_a_delay_changes_in_place_and_does_not_wait_for_it() -> None:
    pause = delay()
    pause.create()
    assert pause.update({"min_wait": 50}) == "updated"
    assert pause.context.clock.monotonic() == 0


def test_a_delay_must_be_possible() -> None:
    where = "Property error: resources.resource.properties"
    assert faults(delay(min_wait=-1, actions=["CHECK"])) == [
        f"{where}.min_wait: -1 is out of range (min: 0, max: None)",
        f'{where}.actions: ["CHECK"] is not an allowed value '
        '["CREATE", "DELETE", "SUSPEND", "RESUME"]',
    ]
    with pytest.raises(TemplateError, match=r"OS::Heat::Delay maximum delay 3601.0s exceeds"):
        delay(min_wait=3600, max_jitter=1).validate()
    delay(min_wait=3599, max_jitter=1).validate()
