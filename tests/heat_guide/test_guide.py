"""Statements of Heat's plug-in guide on whole stacks; ``statements.md`` leads here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.app.app import build_app
from zonda.core.settings.settings import load_settings
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors

PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture
def zonda_plugin_dirs() -> list[Path]:
    return [PLUGINS]


@pytest.fixture
def calls(zonda_stack: InlineStack) -> Iterator[list[tuple[Any, ...]]]:
    """What the handlers were called with."""
    module = sys.modules[zonda_stack.plugins.resource_types["Guide::Foo"].__module__]
    module.CALLS.clear()
    yield module.CALLS
    module.CALLS.clear()


def one(kind: str, outputs: str = "", **properties: Any) -> str:
    """A template of one resource ``r``."""
    return (
        "heat_template_version: 2018-08-31\n"
        f"resources:\n  r: {{type: 'Guide::{kind}', properties: {properties!r}}}\n"
        + (f"outputs:\n  o: {{value: {outputs}}}\n" if outputs else "")
    )


def names(calls: list[tuple[Any, ...]]) -> list[str]:
    return [call[0] for call in calls]


def test_the_example_of_the_guide(zonda_stack: InlineStack) -> None:
    text = one("Foo", "[{get_attr: [r, Attr_1]}, {get_attr: [r, Attr_2, bar]}]", foo="x", bar=7)
    assert zonda_stack.create(text).state == "CREATE_COMPLETE"
    assert zonda_stack.outputs == {"o": ["one of foo-7", 7]}
    assert zonda_stack.resources["r"].physical_id == "foo-7"


def test_a_handler_is_followed_by_its_check_until_that_is_true(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    zonda_stack.create(one("Foo", bar=5))
    assert calls == [("create",), ("check_create", 2), ("check_create", 1)]


def test_the_token_goes_from_every_handler_to_its_check(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    zonda_stack.create(one("Foo", bar=5))
    calls.clear()
    zonda_stack.update(one("Foo", bar=6))
    zonda_stack.suspend()
    zonda_stack.resume()
    zonda_stack.delete()
    assert [call for call in calls if call[0].startswith("check")] == [
        ("check_update", ["update-token"]),
        ("check_suspend", "s"),
        ("check_resume", "r"),
        ("check_delete", "d"),
    ]
    assert ("delete", "foo-5") in calls


def test_an_update_is_given_the_new_definition_and_what_changed(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    zonda_stack.create(one("Foo", bar=5, list=["a"]))
    calls.clear()
    zonda_stack.update(one("Foo", bar=6))
    assert calls[0] == ("update", {"bar": 6}, ["properties"], {"bar": 6, "list": None})
    assert zonda_stack.resources["r"].physical_id == "foo-5"


def test_without_handle_update_a_new_one_is_made_and_then_the_old_one_goes(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    zonda_stack.create(one("Plain", p="a"))
    zonda_stack.update(one("Plain", p="b"))
    assert calls == [("plain", "a"), ("plain", "b"), ("gone", "plain-a")]


@pytest.mark.parametrize(
    ("action", "state"),
    [
        pytest.param("create", "CREATE_FAILED", id="create"),
        pytest.param("update", "UPDATE_FAILED", id="update"),
        pytest.param("suspend", "SUSPEND_FAILED", id="suspend"),
        pytest.param("delete", "DELETE_FAILED", id="delete"),
    ],
)
def test_any_exception_fails_the_action(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]], action: str, state: str
) -> None:
    made = zonda_stack.create(one("Foo", bar=5, fail=action))
    if action == "update":
        # The definition in force says whether it fails, which is the one before.
        made = zonda_stack.update(one("Foo", bar=6, fail=action))
    elif action != "create":
        made = getattr(zonda_stack, action)()
    assert made.state == state
    assert f"{action} fails" in made.status_reason


def test_what_cannot_be_suspended_is_left_as_it_is(zonda_stack: InlineStack) -> None:
    zonda_stack.create(one("Plain", p="a"))
    assert zonda_stack.suspend().state == "SUSPEND_COMPLETE"
    assert zonda_stack.resume().state == "RESUME_COMPLETE"


def test_what_has_failed_is_replaced_unless_the_plugin_says_otherwise(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    zonda_stack.create(one("Stubborn", bar=5, fail="update"))
    assert zonda_stack.update(one("Stubborn", bar=6, fail="update")).state == "UPDATE_FAILED"
    calls.clear()
    zonda_stack.update(one("Stubborn", bar=7))
    assert names(calls)[:2] == ["asked", "update"]
    assert "create" not in names(calls)


def test_a_failed_one_is_replaced_by_default(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    zonda_stack.create(one("Foo", bar=5, fail="create"))
    calls.clear()
    assert zonda_stack.update(one("Foo", bar=7)).state == "UPDATE_COMPLETE"
    assert calls[0] == ("delete", "foo-5")
    assert "create" in names(calls)


def test_an_immutable_property_fails_the_update(zonda_stack: InlineStack) -> None:
    zonda_stack.create(one("Foo", bar=5, fixed="a"))
    assert zonda_stack.update(one("Foo", bar=5, fixed="b")).state == "UPDATE_FAILED"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param({}, "Property bar not assigned", id="required"),
        pytest.param({"bar": 11}, "11 is out of range (min: 5, max: 10)", id="range"),
        pytest.param({"bar": 5, "deep": {"foo": "Bax"}}, "does not match pattern", id="inside"),
        pytest.param({"bar": 5, "deep": {"foo": "Ba" * 6}}, "not too long", id="own-words"),
        pytest.param({"bar": 5, "deep": {"x": 1}}, "Unknown Property x", id="unknown-inside"),
        pytest.param({"bar": "many"}, "is not an integer", id="type"),
    ],
)
def test_a_template_that_breaks_a_schema_is_refused(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]], given: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationErrors, match=words.replace("(", r"\(").replace(")", r"\)")):
        zonda_stack.create(one("Foo", **given))
    assert calls == []


def test_an_attribute_that_is_not_declared_is_refused(zonda_stack: InlineStack) -> None:
    with pytest.raises(ValidationErrors, match=r"Referenced Attribute \(r nothing\)"):
        zonda_stack.create(one("Foo", "{get_attr: [r, nothing]}", bar=5))


def test_a_plugin_may_look_attributes_up_itself(zonda_stack: InlineStack) -> None:
    zonda_stack.create(one("Wandering", "{get_attr: [r, anything]}", bar=5))
    assert zonda_stack.outputs == {"o": "anything"}


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        pytest.param("Foo", None, id="default-without-entity"),
        pytest.param("Viewed", {"own": "view"}, id="own"),
    ],
)
def test_every_resource_has_the_attribute_show(
    zonda_stack: InlineStack, kind: str, shown: Any
) -> None:
    zonda_stack.create(one(kind, "{get_attr: [r, show]}", bar=5))
    assert zonda_stack.outputs == {"o": shown}


def test_types_that_are_deprecated_or_unsupported_are_used_with_a_warning(
    zonda_stack: InlineStack, tmp_path: Path
) -> None:
    app = build_app(load_settings({"home": str(tmp_path), "plugin_dirs": str(PLUGINS)}, {}))
    for kind, words in (
        ("Old", "is deprecated since 2.0"),
        ("Unsupported", "is not supported"),
    ):
        (warning,) = app.templates.validate(Bundle(one(kind, p="a"))).warnings
        assert words in warning.message
        assert zonda_stack.create(one(kind, p="a")).state == "CREATE_COMPLETE"
        zonda_stack.delete()
    app.close()


def test_one_class_may_have_several_names(zonda_stack: InlineStack) -> None:
    assert zonda_stack.create(one("OldFoo", bar=5)).state == "CREATE_COMPLETE"
    assert zonda_stack.resources["r"].type == "Guide::OldFoo"


def test_references_in_properties_are_dependencies(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    text = (
        "heat_template_version: 2018-08-31\n"
        "resources:\n"
        "  b: {type: 'Guide::Plain', properties: {p: {get_attr: [a, Attr_1]}}}\n"
        "  a: {type: 'Guide::Foo', properties: {bar: 5}}\n"
        "  c: {type: 'Guide::Plain', properties: {p: {get_resource: a}}}\n"
    )
    zonda_stack.create(text)
    assert names(calls)[0] == "create"
    assert ("plain", "one of foo-5") in calls
    assert ("plain", "foo-5") in calls
    assert set(zonda_stack.resources["a"].required_by) == {"b", "c"}


def test_a_failed_creation_keeps_its_id_for_the_deletion(
    zonda_stack: InlineStack, calls: list[tuple[Any, ...]]
) -> None:
    assert zonda_stack.create(one("Foo", bar=5, fail="create")).state == "CREATE_FAILED"
    zonda_stack.delete()
    assert ("delete", "foo-5") in calls


def test_what_was_never_made_can_be_deleted(zonda_stack: InlineStack) -> None:
    text = "heat_template_version: 2018-08-31\nresources: {r: {type: 'Guide::Missing'}}\n"
    assert zonda_stack.create(text).state == "CREATE_FAILED"
    assert "no room" in zonda_stack.resources["r"].status_reason
    assert zonda_stack.delete().state == "DELETE_COMPLETE"


def test_those_who_wait_do_not_hold_each_other_up(zonda_stack: InlineStack) -> None:
    lines = [
        f"  d{n}: {{type: 'OS::Heat::Delay', properties: {{min_wait: 600}}}}" for n in range(9)
    ]
    began = zonda_stack.clock.now()
    text = "\n".join(["heat_template_version: 2018-08-31", "resources:", *lines, ""])
    assert zonda_stack.create(text).state == "CREATE_COMPLETE"
    assert zonda_stack.clock.now() - began < 2 * 600


@pytest.mark.parametrize(
    ("version", "fine"),
    [
        pytest.param("2016-10-14", False, id="before"),
        pytest.param("2017-02-24", True, id="since"),
    ],
)
def test_modulo_is_there_since_a_version(
    zonda_stack: InlineStack, version: str, fine: bool
) -> None:
    text = (
        f"heat_template_version: {version}\n"
        "parameters:\n"
        "  n: {type: number, default: 3, constraints: [{modulo: {step: 2, offset: 1}}]}\n"
        "resources: {r: {type: 'Guide::Plain'}}\n"
    )
    if fine:
        assert zonda_stack.create(text).state == "CREATE_COMPLETE"
        assert zonda_stack.update(text).state == "UPDATE_COMPLETE"
        with pytest.raises(ValidationErrors, match="4 is not a multiple of 2 with an offset of 1"):
            zonda_stack.update(text, n=4)
        return
    with pytest.raises(ValidationErrors, match="modulo"):
        zonda_stack.create(text)
