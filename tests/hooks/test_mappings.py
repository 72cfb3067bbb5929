"""Modules that follow Heat's guide bring types by mappings; classes may be of another contract."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

import pytest

from zonda.core.plugins.manager import format_import_hint, gather_plugins, make_manager
from zonda.core.plugins.resource_mapping import (
    MISSING,
    ModulePlugin,
    follows_the_guide,
    record_missing_modules,
)
from zonda.hooks.errors import UpdateReplace
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import BaseCustomConstraint
from zonda.hooks.schema.properties import Schema
from zonda.hooks.schema.support import Unavailable
from zonda.hooks.testing import Lifecycle


class Thing(Resource):
    """A thing."""


def module(**functions: Any) -> ModuleType:
    made = ModuleType("acme_things")
    vars(made).update(functions)
    return made


def brought(made: ModuleType) -> Any:
    manager = make_manager(discover=False)
    manager.adopt(ModulePlugin("acme", made), "acme", None)
    return gather_plugins(manager)


def test_a_module_with_mappings_is_a_plugin() -> None:
    class Rule(BaseCustomConstraint):
        """A rule."""

    made = module(resource_mapping=lambda: {"A": Thing}, constraint_mapping=lambda: {"r": Rule})
    plugins = brought(made)
    assert plugins.resource_types == {"A": Thing}
    assert plugins.constraints == {"r": Rule}
    assert follows_the_guide(made)
    assert not follows_the_guide(module())


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        pytest.param((), "its available_resource_mapping() leaves it out", id="no-library"),
        pytest.param(("acme",), "it needs acme, which is not installed", id="one-library"),
        pytest.param(("a", "b"), "it needs a, b, which are not installed", id="two-libraries"),
    ],
)
def test_types_that_a_module_holds_back_are_told_of(missing: tuple[str, ...], reason: str) -> None:
    made = module(
        resource_mapping=lambda: {"A": Thing, "B": Thing},
        available_resource_mapping=lambda: {"B": Thing},
    )
    setattr(made, MISSING, missing)
    plugins = brought(made)
    assert plugins.resource_types == {"B": Thing}
    assert reason in plugins.explain_missing_type("A")


def test_a_mapping_that_needs_its_library_does_not_hurt_the_other_one() -> None:
    def resource_mapping() -> Any:
        raise NameError("acme")

    made = module(resource_mapping=resource_mapping, available_resource_mapping=lambda: {})
    assert brought(made).failures == []


def test_modules_that_nobody_finds_are_noted() -> None:
    missing: set[str] = set()
    with record_missing_modules(missing), pytest.raises(ImportError):
        import zonda_has_no_such_module  # noqa: F401
    assert missing == {"zonda_has_no_such_module"}


def test_a_class_of_another_contract_says_what_stands_for_it() -> None:
    class Foreign:
        @classmethod
        def __zonda_resource__(cls) -> Any:
            return Thing

    class Useless:
        @classmethod
        def __zonda_resource__(cls) -> Any:
            return Unavailable("it needs a moon")

    class Bad:
        @classmethod
        def __zonda_resource__(cls) -> Any:
            raise ValueError("half a schema")

    plugins = brought(module(resource_mapping=lambda: {"A": Foreign, "B": Useless, "C": Bad}))
    assert plugins.resource_types == {"A": Thing}
    assert "it needs a moon" in plugins.explain_missing_type("B")
    assert "half a schema" in plugins.explain_missing_type("C")


class Choosy(Resource):
    """Looks at changes itself."""

    properties_schema: ClassVar[Any] = {"text": Schema(Schema.STRING, update_allowed=True)}
    updates: ClassVar[list[str]] = []

    def needs_update(self, after: Resource, changed: bool) -> bool:
        """Only what begins with other letters counts."""
        new = after.properties["text"]
        if new == "anew":
            raise UpdateReplace(self.name)
        return bool(new[:1] != self.properties["text"][:1])

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        """Note it."""
        self.updates.append(prop_diff["text"])


def test_a_type_decides_whether_a_change_is_worth_an_update() -> None:
    Choosy.updates.clear()
    life = Lifecycle(Choosy, {"text": "ab"})
    life.create()
    assert life.update({"text": "ac"}) == "unchanged"
    assert life.definition.properties == {"text": "ac"}
    assert life.update({"text": "bc"}) == "updated"
    assert life.update({"text": "anew"}) == "replaced"
    assert Choosy.updates == ["bc"]


def test_of_a_package_that_is_there_the_part_that_lacks_is_named() -> None:
    gone = ModuleNotFoundError("No module named 'json.gone'", name="json.gone")
    assert format_import_hint(gone).startswith("It needs json.gone, which is not installed")
    other = ModuleNotFoundError("No module named 'acme_gone.part'", name="acme_gone.part")
    assert format_import_hint(other).startswith("It needs acme_gone, which is not installed")


def test_a_constraint_needs_no_base_class_and_a_bad_one_costs_nothing_else() -> None:
    class Even:
        """Even numbers."""

        def validate(self, value: Any, context: Any) -> bool:
            return bool(value % 2 == 0)

    class Odd(BaseCustomConstraint):
        """Odd numbers."""

    plugins = brought(
        module(constraint_mapping=lambda: {"even": Even, "odd": Odd, "bad": dict, "worse": 5})
    )
    even = plugins.constraints["even"]()
    assert isinstance(even, BaseCustomConstraint)
    assert (even.validate(4, None), even.validate(5, None)) == (True, False)
    assert even.error(5) == "Error validating value '5'"
    assert plugins.constraints["even"].__doc__ == "Even numbers."
    assert plugins.constraints["odd"] is Odd
    assert [name for kind, name in plugins.unusable] == ["bad", "worse"]
