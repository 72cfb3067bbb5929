"""Errors of properties that no schema can find, and checks by the live state, for plug-ins."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from zonda.hooks import (
    NotFound,
    PropertyErrors,
    Resource,
    ResourceFailure,
    TranslationRule,
    ValidationErrors,
    check_live_state,
    properties,
)
from zonda.hooks.testing import Lifecycle


def _even(value: int) -> None:
    if value % 2:
        raise ResourceFailure(f"{value} is odd")


class Thing(Resource):
    """A type with two numbers that have to be even."""

    properties_schema: ClassVar[Any] = {
        name: properties.Schema(properties.Schema.INTEGER, update_allowed=True) for name in "ab"
    }
    live: ClassVar[dict[str, Any] | None] = {}
    start_policy = "idempotent"

    def validate(self) -> None:
        errors = PropertyErrors(self)
        for name in "ab":
            errors.check(name, _even, self.properties[name])
        if self.properties["a"] == self.properties["b"]:
            errors.add("b", "is the same as a")
        errors.raise_all()

    def handle_create(self) -> None:
        self.resource_id_set("thing-1")

    def handle_check(self) -> None:
        check_live_state(self, ("b",))

    def get_live_state(self) -> Any:
        if self.live == {}:
            raise NotFound("thing", "thing-1")
        return self.live


class Aliased(Thing):
    """The first of the numbers has another name, too."""

    properties_schema: ClassVar[Any] = {
        **Thing.properties_schema,
        "first": properties.Schema(properties.Schema.INTEGER, update_allowed=True, alias_of="a"),
    }

    def translation_rules(self, properties: Any) -> list[TranslationRule]:
        rule = TranslationRule(properties, TranslationRule.REPLACE, ["a"], value_name="first")
        return [rule]


def test_an_error_tells_the_name_that_the_template_wrote() -> None:
    with pytest.raises(ValidationErrors) as raised:
        Lifecycle(Aliased, {"first": 1, "b": 2}).validate()
    assert [each.path[-1] for each in raised.value.errors] == ["first"]


def test_every_error_is_raised_at_once_with_its_place() -> None:
    with pytest.raises(ValidationErrors) as raised:
        Lifecycle(Thing, {"a": 1, "b": 1}).validate()
    assert [(each.path[-1], each.message) for each in raised.value.errors] == [
        ("a", "1 is odd"),
        ("b", "1 is odd"),
        ("b", "is the same as a"),
    ]


def test_nothing_is_raised_where_nothing_is_wrong() -> None:
    Lifecycle(Thing, {"a": 2, "b": 4}).validate()


@pytest.mark.parametrize(
    ("live", "message"),
    [
        pytest.param({}, "The thing thing-1 is gone. The next stack update", id="gone"),
        pytest.param(None, "What there is of thing-1 was not observed", id="not-observed"),
        pytest.param({"a": 3, "b": 5}, r"thing-1 has changed: a \(2 -> 3\), b\. The", id="changed"),
    ],
)
def test_a_check_by_the_live_state_says_what_differs(
    monkeypatch: pytest.MonkeyPatch, live: Any, message: str
) -> None:
    life = Lifecycle(Thing, {"a": 2, "b": 4})
    life.create()
    monkeypatch.setattr(Thing, "live", live)
    with pytest.raises(ResourceFailure, match=message):
        life.check()


def test_a_check_by_the_live_state_passes_where_all_is_as_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    life = Lifecycle(Thing, {"a": 2, "b": 4})
    life.create()
    monkeypatch.setattr(Thing, "live", {"a": 2, "b": 4})
    life.check()
