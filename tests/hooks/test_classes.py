"""Plug-in classes are imported at their first use."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zonda.builtin_resources import plugin as built_in
from zonda.core.engine.actions import CreateStack
from zonda.core.plugins.manager import gather_plugins, make_manager
from zonda.core.reference.installed import Reference
from zonda.core.template.nested.validation_cache import _list_plugin_versions
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks import lazy
from zonda.hooks.errors import NotFound
from zonda.hooks.markers import hookimpl
from zonda.hooks.resources.declaration import validate_declaration
from zonda.hooks.resources.resource import Resource
from zonda.hooks.schema.constraints import BaseCustomConstraint
from zonda.workflows import plugin as workflows

ROOM = "lazy_room"
SOURCE = """
from zonda.hooks.resources.resource import Resource

class One(Resource):
    "A type."

class Other(Resource):
    "Another one."
"""
PLACES = {
    "A::One": "types_of_it:One",
    "A::Same": "types_of_it:One",
    "A::Other": "types_of_it:Other",
}


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ROOM).mkdir()
    (tmp_path / ROOM / "__init__.py").write_text("")
    (tmp_path / ROOM / "types_of_it.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith(ROOM)]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path / ROOM


def is_imported() -> bool:
    return f"{ROOM}.types_of_it" in sys.modules


def bringing(places: dict[str, str]) -> Any:
    made = SimpleNamespace(__name__="lazy")
    made.zonda_resource_types = hookimpl(lambda: lazy.lazy_types(ROOM, places))
    return made


def test_a_class_is_imported_by_its_name_and_once(room: Path) -> None:
    known = lazy.lazy_types(ROOM, PLACES)

    assert set(known) == set(PLACES)
    assert "A::One" in known
    assert list(lazy.list_loaded(known)) == []
    assert not is_imported()
    one = known["A::One"]
    assert one.__doc__ == "A type."
    assert known["A::One"] is known["A::Same"] is one
    assert known.get("A::Nothing") is None


def test_the_first_name_of_a_class_is_known_whatever_is_imported(room: Path) -> None:
    known = lazy.lazy_types(ROOM, PLACES)
    names = lazy.Names(known)
    one = known["A::Same"]

    assert names.of(one) == "A::One"
    assert names.of(Resource) == ""


def test_classes_that_were_made_in_one_place_have_their_own_names() -> None:
    def make() -> type[Resource]:
        class Made(Resource):
            """A type."""

        return Made

    first, second, third = make(), make(), make()
    names = lazy.Names({"A": first, "B": second})

    assert [names.of(each) for each in (first, second, third)] == ["A", "B", ""]


def test_the_file_of_a_class_is_known_before_and_after_it_is_imported(room: Path) -> None:
    known = lazy.lazy_types(ROOM, PLACES)
    later = lazy.get_unloaded(known)["A::One"]

    before = lazy.find_file(later)

    assert before == lazy.find_file(known["A::One"]) == str(room / "types_of_it.py")
    assert lazy.find_file(lazy.LazyClass(f"{ROOM}.nothing", "X")) == ""


def test_what_zonda_brings_stays_where_it_is_until_it_is_used(room: Path) -> None:
    plugins = gather_plugins(make_manager(bringing(PLACES), discover=False))

    assert set(plugins.resource_types) == set(PLACES)
    assert not is_imported()
    assert issubclass(plugins.resource_types["A::One"], Resource)


def test_what_others_bring_is_looked_at_at_once(room: Path) -> None:
    places = {**PLACES, "A::Wrong": "types_of_it:Resource.__doc__"}

    good = gather_plugins(make_manager(files=[bringing(PLACES)], discover=False))
    bad = gather_plugins(make_manager(files=[bringing(places)], discover=False))

    assert is_imported()
    assert dict(lazy.list_loaded(good.resource_types)) == good.resource_types
    assert [str(error) for error in bad.failures] == [
        f"Plug-in lazy failed in zonda_resource_types: AttributeError: module '{ROOM}.types_of_it' "
        "has no attribute 'Resource.__doc__'"
    ]
    assert not bad.resource_types


class Standby(lazy.Fallback):
    """Stands back; it is imported by its name alone."""


def standing_by() -> Any:
    made = SimpleNamespace(__name__="standby")
    known: lazy.Classes[Any] = lazy.Classes()
    known.data.update({name: Standby(f"{ROOM}.types_of_it", "Other") for name in ("A::One", "B")})
    made.zonda_resource_types = hookimpl(lambda: known)
    return made


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_a_fallback_stands_back_and_nobody_is_told(room: Path, first: bool) -> None:
    files = [standing_by(), bringing({"A::One": "types_of_it:One"})]
    plugins = gather_plugins(make_manager(files=files if first else files[::-1], discover=False))

    assert plugins.failures == []
    assert {name: str(by) for (_, name), by in plugins.origins.items()} == {
        "A::One": "lazy",
        "B": "standby",
    }
    assert plugins.resource_types["A::One"].__name__ == "One"


def test_a_fallback_is_imported_when_it_is_used(room: Path) -> None:
    plugins = gather_plugins(make_manager(files=[standing_by()], discover=False))

    assert not is_imported()
    assert plugins.resource_types["B"].__name__ == "Other"


def generating(made: list[str], names: tuple[str, ...], version: str = "1") -> Any:
    """A plug-in of somebody else with generated types."""

    def make(name: str) -> type[Resource]:
        made.append(name)
        return type(name, (Resource,), {"__module__": "acme.types", "__qualname__": name})

    class Plugin:
        @hookimpl
        def zonda_resource_types(self) -> Any:
            return lazy.generate_types("acme.types", names, make, version)

    return Plugin()


def test_generate_types_are_made_when_they_are_used() -> None:
    made: list[str] = []
    plugins = gather_plugins(
        make_manager(files=[generating(made, ("G::1", "G::2"))], discover=False)
    )
    types = plugins.resource_types

    assert set(types) == {"G::1", "G::2"}
    assert lazy.Names(types).of(Resource) == ""
    listed = Reference(plugins, lambda _: None, lambda: None).list_types()  # type: ignore[arg-type]
    assert [(each["name"], each["status"]) for each in listed] == [
        ("G::1", "SUPPORTED"),
        ("G::2", "SUPPORTED"),
    ]
    assert made == []
    assert issubclass(types["G::2"], Resource)
    assert types["G::2"] is types["G::2"]
    assert lazy.Names(types).of(types["G::2"]) == "G::2"
    assert made == ["G::2"]


def test_a_schema_for_editors_describes_the_generate_types_that_are_chosen() -> None:
    made: list[str] = []
    plugins = gather_plugins(
        make_manager(files=[generating(made, ("G::1", "G::2", "G::30"))], discover=False)
    )
    table = SimpleNamespace(functions={}, conditions={}, removed=())
    reference = Reference(plugins, lambda _: table, lambda: None)  # type: ignore[arg-type,return-value]

    found = reference.build_schema(None, ["G::3?", "G::1"])
    assert found["$defs"].keys() >= {"type G::1", "type G::30"}
    assert {"enum": ["G::2"]} in found["$defs"]["resource"]["properties"]["type"]["anyOf"]
    assert sorted(made) == ["G::1", "G::30"]
    with pytest.raises(NotFound, match="G::4"):
        reference.build_schema(None, ["G::4*"])


def test_what_was_validated_counts_until_generate_types_are_others() -> None:
    def list_state(version: str) -> list[str]:
        plugins = gather_plugins(
            make_manager(files=[generating([], ("G::1", "G::2"), version)], discover=False)
        )
        before = [*_list_plugin_versions(plugins)]
        assert plugins.resource_types["G::1"]
        assert [*_list_plugin_versions(plugins)] == before
        return [line for line in before if "acme" in line]

    assert list_state("1") == list_state("1") == ["acme.types 1"]
    assert list_state("2") == ["acme.types 2"]


@pytest.mark.parametrize("module", [built_in, workflows], ids=lambda module: module.__name__)
def test_all_that_zonda_brings_is_there_and_right(module: Any) -> None:
    types = module.zonda_resource_types()
    constraints = module.zonda_constraints()

    assert [validate_declaration(cls, Resource) for cls in types.values()] == [*types.values()]
    assert [validate_declaration(cls, BaseCustomConstraint) for cls in constraints.values()] == [
        *constraints.values()
    ]


def test_a_class_may_say_that_it_is_of_a_module_that_there_is_not() -> None:
    for module in ("no_such_package.disk", "os.path.x", "json", f"{__name__}.disk"):
        made = type("Thing", (Resource,), {"__module__": module})
        file = lazy.find_file(made)
        assert file == (sys.modules["json"].__file__ if module == "json" else "")
    assert lazy.find_file(lazy.LazyClass("json.decoder", "X")).endswith("decoder.py")
    assert lazy.find_file(lazy.LazyClass("no_such_module", "X")) == ""


def test_a_nested_stack_is_made_where_an_unused_type_is_of_no_module(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "from zonda.hooks.resources.resource import Resource\n"
        "Thing = type('Thing', (Resource,), {'__module__': __name__ + '.disk'})\n"
        "def resource_mapping(): return {'Odd::Thing': Thing}\n"
    )
    top = "heat_template_version: 2018-08-31\nresources: {n: {type: leaf.yaml}}\n"
    leaf = "heat_template_version: 2018-08-31\nresources: {v: {type: OS::Heat::None}}\n"
    stack = InlineStack(tmp_path / "home", [tmp_path])
    bundle = Bundle(top, files={"leaf.yaml": leaf})
    assert stack.engine.run(CreateStack("s", bundle)).status == "COMPLETE"
    stack.close()
