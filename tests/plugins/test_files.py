"""Plug-in files: their content, and that a broken one affects no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from zonda.core.plugins import files
from zonda.core.plugins.manager import Plugins, gather_plugins, make_manager

TYPE = """
from zonda.hooks import resource

class Thing(resource.Resource):
    pass

def resource_mapping():
    return {"My::Thing": Thing}
"""
CONSTRAINT = """
from zonda.hooks import constraints

class Even(constraints.BaseCustomConstraint):
    pass

def constraint_mapping():
    return {"even": Even}
"""
HOOKS = """
from zonda.hooks import hookimpl, resource

class Other(resource.Resource):
    pass

@hookimpl
def zonda_resource_types():
    return {"My::Other": Other}
"""


def found(*folders: Path) -> tuple[Plugins, list[str]]:
    plugins, failures = files.load_files(map(str, folders))
    all_failures = list(failures)
    manager = make_manager(*plugins, discover=False, failures=all_failures)
    gathered = gather_plugins(manager, all_failures)
    return gathered, [str(failure) for failure in gathered.failures]


@pytest.mark.parametrize(
    ("text", "types", "constraints"),
    [
        pytest.param(TYPE, {"My::Thing"}, set(), id="resource_mapping"),
        pytest.param(CONSTRAINT, set(), {"even"}, id="constraint_mapping"),
        pytest.param(HOOKS, {"My::Other"}, set(), id="hookimpl"),
        pytest.param(HOOKS + TYPE + CONSTRAINT, {"My::Other", "My::Thing"}, {"even"}, id="all"),
        pytest.param("x = 1", set(), set(), id="nothing"),
    ],
)
def test_a_file_brings(tmp_path: Path, text: str, types: set[str], constraints: set[str]) -> None:
    (tmp_path / "things.py").write_text(text)

    plugins, failures = found(tmp_path)

    assert set(plugins.resource_types) == types
    assert set(plugins.constraints) == constraints
    assert failures == []


def test_the_origin_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "things.py").write_text(TYPE)

    plugins, _ = found(tmp_path)

    assert str(plugins.origins["resource type", "My::Thing"]) == str(tmp_path / "things.py")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("def (", "SyntaxError", id="syntax"),
        pytest.param("import nowhere_to_be_found", "ModuleNotFoundError", id="import"),
        pytest.param("1 / 0", "ZeroDivisionError", id="raises"),
        pytest.param("import sys; sys.exit(3)", "SystemExit: 3", id="exits"),
        pytest.param("class Odd(BaseException): pass\nraise Odd('x')", "Odd: x", id="odd"),
        pytest.param("raise ValueError('x\\ud800')", "ValueError: x\\ud800", id="surrogate"),
        pytest.param("def resource_mapping(): raise SystemExit(3)", "SystemExit", id="hook-exits"),
        pytest.param("def resource_mapping(): return 3", "TypeError", id="no-mapping"),
        pytest.param("def resource_mapping(): return 1 / 0", "ZeroDivisionError", id="mapping"),
    ],
)
def test_a_broken_file_is_reported_and_hurts_nothing_else(
    tmp_path: Path, text: str, what: str
) -> None:
    (tmp_path / "a_broken.py").write_text(text)
    (tmp_path / "b_good.py").write_text(TYPE)

    plugins, failures = found(tmp_path)

    assert set(plugins.resource_types) == {"My::Thing"}
    assert len(failures) == 1
    assert "a_broken.py" in failures[0]
    assert what in failures[0]


@pytest.mark.parametrize(
    ("library", "what"),
    [
        pytest.param("acme.disks", "It needs acme, which is not installed.", id="any"),
        pytest.param("heat", "pip install zonda-heat-compat", id="heat"),
    ],
)
def test_a_library_that_is_missing_is_what_the_operator_is_told(
    tmp_path: Path, library: str, what: str
) -> None:
    (tmp_path / "things.py").write_text(f"raise ModuleNotFoundError('no', name={library!r})")

    _, [failure] = files.load_files([str(tmp_path)])

    assert what in failure.hint


def test_types_that_a_file_holds_back_name_the_library_that_it_looked_for(tmp_path: Path) -> None:
    (tmp_path / "things.py").write_text(
        "try:\n    import nowhere_to_be_found\nexcept ImportError:\n    pass\n"
        + TYPE
        + "\ndef available_resource_mapping(): return {}\n"
    )

    plugins, _ = found(tmp_path)

    assert not plugins.resource_types
    assert "it needs nowhere_to_be_found, which is not" in plugins.explain_missing_type("My::Thing")


def test_tests_private_files_and_other_files_are_left_out(tmp_path: Path) -> None:
    for name in (
        "tests/test_it.py",
        "_private.py",
        ".hidden.py",
        "notes.txt",
        ".git/x.py",
        "setup.py",
        "conftest.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise RuntimeError('loaded')")

    plugins, failures = found(tmp_path)

    assert (plugins.resource_types, failures) == ({}, [])


def test_files_in_subfolders_are_loaded_and_may_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "names.py").write_text("NAME = 'My::Named'")
    (tmp_path / "lab" / "thing.py").write_text(
        "from . import names\n" + TYPE.replace('"My::Thing"', "names.NAME")
    )

    plugins, failures = found(tmp_path)

    assert (set(plugins.resource_types), failures) == ({"My::Named"}, [])


def test_a_package_is_loaded_too_and_may_hand_on_what_its_files_bring(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "__init__.py").write_text("from .thing import resource_mapping\n")
    (tmp_path / "lab" / "thing.py").write_text(TYPE)
    (tmp_path / "__init__.py").write_text(TYPE.replace("My::Thing", "My::Root"))

    plugins, failures = found(tmp_path)

    assert (set(plugins.resource_types), failures) == ({"My::Thing", "My::Root"}, [])


def test_one_file_may_bring_many_types_and_one_class_under_many_names(tmp_path: Path) -> None:
    names = '{"My::Thing": Thing, "My::Old": Thing, "My::Other": Other}'
    text = TYPE.replace("def resource", "class Other(Thing):\n    pass\n\ndef resource")
    (tmp_path / "things.py").write_text(text.replace('{"My::Thing": Thing}', names))

    plugins, failures = found(tmp_path)

    assert failures == []
    assert list(plugins.resource_types) == ["My::Thing", "My::Old", "My::Other"]
    assert plugins.resource_types["My::Old"] is plugins.resource_types["My::Thing"]


def test_equal_names_in_two_folders_are_two_modules(tmp_path: Path) -> None:
    for folder, name in (("one", "My::One"), ("two", "My::Two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "thing.py").write_text(TYPE.replace("My::Thing", name))

    plugins, _ = found(tmp_path / "one", tmp_path / "two")

    assert set(plugins.resource_types) == {"My::One", "My::Two"}


def test_a_folder_that_is_not_there_brings_nothing(tmp_path: Path) -> None:
    assert files.load_files([str(tmp_path / "absent")]) == ([], [])


def test_a_schema_that_is_broken_names_its_class_its_property_and_its_line(tmp_path: Path) -> None:
    path = tmp_path / "thing.py"
    path.write_text(
        "from zonda.hooks import properties, resource\n\n\nclass Thing(resource.Resource):\n"
        '    properties_schema = {\n        "good": properties.Schema("String"),\n'
        '        "size": properties.Schema("Strin"),\n    }\n'
    )
    _, [failure] = files.load_files([str(tmp_path)])
    assert "SchemaError: Invalid type (Strin)" in str(failure)
    assert f'{path}:7 in Thing: "size": properties.Schema("Strin")' in str(failure)
