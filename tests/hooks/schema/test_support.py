"""Support status, conversion of scalars, and the definition of a resource."""

from __future__ import annotations

from typing import Any

import pytest

from zonda.hooks import support
from zonda.hooks.resources.definition import ResourceDefinition
from zonda.hooks.schema.conversion import normalize_kind, to_boolean, to_kind, to_number
from zonda.hooks.schema.support import SupportStatus


def test_a_status_tells_its_history() -> None:
    status = SupportStatus(
        support.HIDDEN,
        "Use other.",
        "5.0.0",
        previous_status=SupportStatus(support.DEPRECATED, version="2014.2"),
    )
    assert status.to_dict() == {
        "status": "HIDDEN",
        "message": "Use other.",
        "version": "5.0.0",
        "previous_status": {
            "status": "DEPRECATED",
            "message": None,
            "version": "2014.2",
            "previous_status": None,
        },
    }


def test_a_word_that_is_no_status_becomes_unknown_and_says_so() -> None:
    status = SupportStatus("RETIRED", version="1")
    assert (status.status, status.version) == (support.UNKNOWN, None)
    assert status.message is not None
    assert "invalid" in status.message
    assert support.is_valid_status("SUPPORTED")
    assert not support.is_valid_status("RETIRED")


def test_a_substitute_is_that_class_alone() -> None:
    status = SupportStatus(substitute_class=dict)
    assert status.is_substituted(dict)
    assert not status.is_substituted(list)


@pytest.mark.parametrize(
    ("given", "number"),
    [
        pytest.param(5, 5, id="int"),
        pytest.param(True, True, id="bool-stays"),
        pytest.param("1_000", 1000, id="underscore"),
        pytest.param(" 5 ", 5, id="blanks"),
        pytest.param("1e3", 1000.0, id="exponent"),
    ],
)
def test_numbers(given: Any, number: Any) -> None:
    assert to_number(given) == number
    assert type(to_number(given)) is type(number)


@pytest.mark.parametrize("given", ["0x10", "", "abc", None, [1]])
def test_what_is_no_number(given: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        to_number(given)


@pytest.mark.parametrize(
    ("given", "truth"),
    [("on", True), ("Y", True), (1, True), (" t ", True), ("no", False), ("0", False), (0, False)],
)
def test_booleans(given: Any, truth: bool) -> None:
    assert to_boolean(given) is truth


@pytest.mark.parametrize("given", [1.0, 2, "maybe", "", None])
def test_what_is_no_boolean(given: Any) -> None:
    with pytest.raises(ValueError, match="Unrecognized value"):
        to_boolean(given)


def test_kinds() -> None:
    assert [normalize_kind(name) for name in ("Map", "json", "CommaDelimitedList", "X")] == [
        "map",
        "map",
        "list",
        "x",
    ]
    assert to_kind("string", 1) == "1"
    assert to_kind("json", [1]) == [1]
    with pytest.raises(ValueError, match='Value "x" is invalid for data type "number"'):
        to_kind("number", "x")


def test_a_definition_reads_like_the_template() -> None:
    definition = ResourceDefinition("a", "T", {"p": 1}, depends_on=("b",))
    assert definition["properties"] == definition["Properties"] == {"p": 1}
    assert definition["DependsOn"] == ("b",)
    assert dict(definition) == {
        "type": "T",
        "properties": {"p": 1},
        "metadata": {},
        "deletion_policy": "Delete",
        "update_policy": {},
    }
    assert definition.resource_type == "T"
    assert definition == ResourceDefinition("a", "T", {"p": 1}, depends_on=("b",))
    assert definition != ResourceDefinition("a", "T", {"p": 2}, depends_on=("b",))


def test_the_guides_short_form_of_a_status() -> None:
    status = support.Status("5.0.0")
    assert (status.status, status.version) == (support.SUPPORTED, "5.0.0")
