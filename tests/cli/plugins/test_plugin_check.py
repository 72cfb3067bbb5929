"""``plugin check`` and ``plugin new`` in this process: files, back ends, reports."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Zonda

from zonda.core.cli.console.console import Screen

FILE = '''
from zonda.hooks import conformance as kit, properties, resource

WORLD = set()


class Lamp(resource.Resource):
    """A lamp."""

    properties_schema = {"name": properties.Schema(
        properties.Schema.STRING, "Name.", required=True)}

    def handle_create(self):
        WORLD.add(self.properties["name"])
        self.resource_id_set(self.properties["name"])

    def handle_delete(self):
        WORLD.discard(self.resource_id)


class Other(resource.Resource):
    has_side_effects = False


def resource_mapping():
    return {"My::Lamp": Lamp, "My::Other": Other}
'''
BACKEND = """

def check_backend():
    class World(kit.Backend):
        examples = 2
        def leftovers(self):
            return set(WORLD)
    return World()
"""


def test_a_file_is_checked_with_its_own_back_end(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    lamp = write("lamp.py", FILE + BACKEND)
    done = zonda("plugin", "check", lamp, "-f", "json", code=1)
    rows = {(row["Type"], row["Check"]): row for row in done.data}
    assert rows["My::Lamp", "create"]["Verdict"] == "pass"
    assert rows["My::Lamp", "crash in create"]["Verdict"] == "pass"
    assert rows["My::Other", "everything is described"]["Verdict"] == "fail"
    assert "passed, 1 failed" in done.err
    assert zonda("plugin", "check", lamp, "--type", "My::Lamp").out.startswith("+")


def test_without_a_back_end_nothing_is_made(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    rows = zonda("plugin", "check", write("lamp.py", FILE), "-f", "json", code=1).data
    assert [row["Reason"] for row in rows if row["Check"] == "life cycle"] == [
        "no back end is given: it would act on this machine or its services"
    ]
    failed = zonda("plugin", "check", write("lamp.py", FILE), "--failed", "-f", "json", code=1).data
    assert [row["Type"] for row in failed] == ["My::Other"]


def test_a_folder_is_checked_by_its_path(zonda: Zonda, write: Callable[[str, str], Path]) -> None:
    folder = write("lamps/lamp.py", FILE + BACKEND).parent
    done = zonda("plugin", "check", folder, "--type", "My::Lamp", "-f", "json")
    assert {row["Type"] for row in done.data} == {"My::Lamp"}


def test_a_file_that_cannot_be_loaded_fails(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    (row,) = zonda("plugin", "check", write("bad.py", "1 / 0"), "-f", "json", code=1).data
    assert "ZeroDivisionError" in row["Reason"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["acme-none"], 1, "plugin list", id="no-package"),
        pytest.param(["gone.py"], 1, "gone.py", id="no-file"),
        pytest.param(["./gone"], 1, "gone", id="no-folder"),
        pytest.param(["zonda", "--type", "OS::Heat::Vaule"], 1, "OS::Heat::Value", id="no-type"),
        pytest.param(["zonda", "--backend", "x"], 2, "MODULE:NAME", id="odd-back-end"),
        pytest.param(["zonda", "--backend", "nowhere:x"], 2, "nowhere", id="no-back-end"),
        pytest.param(["zonda", "--backend", "math:pi"], 2, "cannot be called", id="no-function"),
        pytest.param(["zonda", "--backend", "builtins:dict"], 2, "no conformance.B", id="no-kit"),
    ],
)
def test_what_cannot_be_checked_is_told(
    zonda: Zonda, words: list[str], code: int, said: str
) -> None:
    assert said in zonda("plugin", "check", *words, code=code).err


def test_our_own_types_keep_the_rules(zonda: Zonda) -> None:
    own = [
        each
        for name in ("Delay", "None", "RandomString", "Value")
        for each in ("--type", f"OS::Heat::{name}")
    ]
    assert zonda("plugin", "check", "zonda", *own, "--failed", "-f", "json").data == []


LOOP = """
from zonda.hooks import resource


class Loop(resource.Resource):
    has_side_effects = False

    def handle_create(self):
        while True:
            pass


def resource_mapping():
    return {"My::Loop": Loop}
"""


def test_a_handler_without_an_end_has_failed_and_a_terminal_is_told_at_once(
    zonda: Zonda, write: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("plugin", "check", write("loop.py", LOOP), "--limit", "0.2", "--failed", "-f", "json")
    done = zonda(*words, code=1)
    assert "it takes longer than 0.2 s" in [row["Reason"] for row in done.data]
    assert "create" not in done.err
    monkeypatch.setattr(Screen, "on_terminal", True)
    assert "fail            My::Loop  create: it takes longer" in zonda(*words, code=1).err
    assert "--limit" in zonda(*words[:3], "--limit", "-1", code=2).err


@pytest.mark.parametrize("name", ["Acme", "acme_thing", "9x", "class", "acme--thing", ""])
def test_a_package_needs_a_name(zonda: Zonda, name: str) -> None:
    assert "cannot be the name" in zonda("plugin", "new", "--", name, code=2).err


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, f"Python has a module {name}") for name in ("os", "json", "test")),
        *((name, "is the name of something else") for name in ("zonda", "heat", "pip", "tests")),
        *((name, "the namespace") for name in ("zonda-thing", "os-disk")),
        ("a" * 300, "at most 64"),
    ],
    ids=lambda value: value[:12].replace(" ", "-"),
)
def test_a_name_that_is_taken_is_refused(zonda: Zonda, name: str, why: str, tmp_path: Path) -> None:
    said = zonda("plugin", "new", name, "--folder", tmp_path / "new", code=2).err
    assert why in said
    assert not (tmp_path / "new").exists()


def test_a_package_overwrites_nothing(zonda: Zonda, write: Callable[[str, str], Path]) -> None:
    kept = write("full/kept.txt", "mine")
    said = zonda("plugin", "new", "acme-x", "--folder", kept.parent, code=2).err
    assert "not empty" in said
    assert [path.name for path in kept.parent.iterdir()] == ["kept.txt"]


def test_the_names_of_a_package(zonda: Zonda, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    listed = zonda("plugin", "new", "acme-big-disk", "--folder", folder).out.splitlines()
    assert sorted(map(str, (path for path in folder.rglob("*") if path.is_file()))) == sorted(
        listed
    )
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["zonda"] == {"acme_big_disk": "acme_big_disk.plugin"}
    assert '"Acme::BigDisk": Note' in (folder / "src/acme_big_disk/plugin.py").read_text()
    assert not [
        path for path in folder.rglob("*") if path.is_file() and "@TYPE" in path.read_text()
    ]


NET = """
zonda_type: 1
name: Acme::Net
description: A network.
properties:
  cidr: {type: string, description: d, required: true, constraints: [{custom_constraint: net_cidr}]}
  at: {type: string, description: d, constraints: [{custom_constraint: cron_expression}]}
  code: {type: string, description: d, constraints: [{allowed_pattern: "[a-z]{3}-[0-9]+"}]}
attributes: {path: {type: string, description: d}}
replace_on: [at]
actions: {CREATE: mk, UPDATE: up, DELETE: rm, CHECK: {workflow: look, observes: [cidr, code]}}
"""
#: What only means something to who writes Python.
PYTHON = ("handle_", "Backend", "support", "docstring", "def ", "data_set", "self", "Error:", "()")


def test_a_manifest_with_built_in_constraints_is_tried_without_python_advice(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    done = zonda("plugin", "check", write("net.yaml", NET), "-f", "json")
    rows = {(row["Check"], row["Subject"]): row["Verdict"] for row in done.data}
    tried = [("create", ""), ("update", "cidr"), ("replace", "at"), ("update", "code")]
    assert [rows[each] for each in tried] == ["pass"] * 4
    assert not [word for word in PYTHON if word in done.out + done.err]


@pytest.mark.parametrize(
    ("change", "check", "reason"),
    [
        (("net_cidr", "net_cdr"), "custom constraints are there", "nobody brings"),
        (("net_cidr}]", "net_cidr}, {allowed_values: [x]}]"), "create", "one as example"),
        (("description: d, required", "required"), "everything is described", "property cidr"),
    ],
    ids=["unknown", "no value", "no words"],
)
def test_what_a_manifest_lacks_is_told_without_python_advice(
    zonda: Zonda,
    write: Callable[[str, str], Path],
    change: tuple[str, str],
    check: str,
    reason: str,
) -> None:
    manifest = write("net.yaml", NET.replace(*change))
    done = zonda("plugin", "check", manifest, "--failed", "-f", "json", code=1)
    assert reason in {row["Check"]: row["Reason"] for row in done.data}[check]
    assert not [word for word in PYTHON if word in done.out + done.err]


RULES = '''
from zonda.hooks import constraints, properties, resource


class Even(constraints.BaseCustomConstraint):
    examples = (2, 4)

    def validate(self, value, context):
        return value % 2 == 0


class Pair(resource.Resource):
    """A pair of something."""

    has_side_effects = False
    properties_schema = {"size": properties.Schema(
        properties.Schema.INTEGER, "How many.", required=True,
        constraints=[constraints.CustomConstraint("my.even")])}


def resource_mapping():
    return {"My::Pair": Pair}


def constraint_mapping():
    return {"my.even": Even}
'''


def test_a_file_is_checked_with_the_constraints_that_it_brings(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    rows = zonda("plugin", "check", write("pair.py", RULES), "-f", "json").data
    verdicts = {row["Check"]: row["Verdict"] for row in rows}
    assert (verdicts["create"], verdicts["custom constraints are there"]) == ("pass", "pass")
