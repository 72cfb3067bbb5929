"""Packages of strangers, really installed: good ones work, and no broken one hurts another."""

from __future__ import annotations

from pathlib import Path

import pytest

from .installing import Environment

GOOD = '''
from zonda.hooks import attributes, constraints, hookimpl, properties, resource
from zonda.hooks.function import Function, resolve


class Thing(resource.Resource):
    """A good thing."""

    properties_schema = {
        "name": properties.Schema(properties.Schema.STRING, "Name.", constraints=[
            constraints.CustomConstraint("acme.short")]),
    }
    attributes_schema = {"loud": attributes.Schema("Loud.")}

    def handle_create(self):
        self.resource_id_set(f"{self.client('acme').prefix}-{self.properties['name']}")

    def _resolve_attribute(self, name):
        return self.resource_id.upper()


class Short(constraints.BaseCustomConstraint):
    def validate(self, value, context):
        return len(value) < 9


class Shout(Function):
    def resolve(self, scope):
        return resolve(self.args, scope).upper()


class Client:
    prefix = "acme"

    def client(self):
        return self

    def ignore_not_found(self, error):
        raise error


@hookimpl
def zonda_resource_types():
    return {"Acme::Good": Thing}


@hookimpl
def zonda_constraints():
    return {"acme.short": Short}


@hookimpl
def zonda_functions(version):
    return {"shout": Shout}


@hookimpl
def zonda_client_plugins():
    return {"acme": Client}
'''
CLAIMS = '''
from zonda.hooks import hookimpl, resource


class Disk(resource.Resource):
    """A disk."""


@hookimpl
def zonda_resource_types():
    return {"Acme::Disk": Disk, "Acme::NAME": Disk}
'''
FORGETS = '''
from zonda.hooks import hookimpl, properties, resource


class Job(resource.Resource):
    """A job, kept where it is lost."""

    properties_schema = {"n": properties.Schema(
        properties.Schema.INTEGER, "How many.", default=1, update_allowed=True)}

    def handle_create(self):
        self.job = 7
        self.resource_id_set("job")

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        self.resource_id_set(f"job-{self.job}")


@hookimpl
def zonda_resource_types():
    return {"Acme::Job": Job}
'''
BROKEN = {
    "acme-raises": "raise RuntimeError('no network')",
    "acme-exits": "import sys; sys.exit(3)",
    "acme-signature": (
        "from zonda.hooks import hookimpl\n"
        "@hookimpl\ndef zonda_resource_types(wanted):\n    return {}\n"
    ),
    "acme-library": "import zonda_no_such_library.rows",
    "acme-list": (
        "from zonda.hooks import hookimpl\n@hookimpl\ndef zonda_resource_types():\n    return []\n"
    ),
}
TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {n: {type: number, default: 1}}
resources:
  good: {type: "Acme::Good", properties: {name: {shout: one}}}
  job: {type: "Acme::Job", properties: {n: {get_param: n}}}
outputs:
  loud: {value: {get_attr: [good, loud]}}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("packages"))
    made.write("acme-good", GOOD)
    made.write("acme-forgets", FORGETS)
    for name in ("one", "two"):
        made.write(f"acme-{name}", CLAIMS.replace("NAME", name.capitalize()), version="2.1")
    for name, source in BROKEN.items():
        made.write(name, source)
    return made


def test_every_package_is_listed_with_what_it_brings_or_why_not(environment: Environment) -> None:
    rows = {row["Distribution"]: row for row in environment.data("plugin", "list", code=1)}
    assert rows["acme-good"]["Status"] == "ok"
    assert rows["acme-good"]["Brings"] == {
        "resource type": ["Acme::Good"],
        "constraint": ["acme.short"],
        "function": ["shout"],
        "client plug-in": ["acme"],
    }
    assert rows["acme-one"]["Brings"] == {"resource type": ["Acme::One"]}
    assert rows["acme-two"]["Brings"] == {"resource type": ["Acme::Two"]}
    (both,) = rows["acme-two"]["Failures"] or rows["acme-one"]["Failures"]
    assert "acme_one (acme-one 2.1)" in both
    assert "acme_two (acme-two 2.1)" in both
    assert "neither is used" in both
    for name, words in {
        "acme-raises": "cannot be imported: RuntimeError: no network",
        "acme-exits": "SystemExit: 3",
        "acme-signature": "does not fit the hooks",
        "acme-library": "It needs zonda_no_such_library, which is not installed",
        "acme-list": "must give a mapping, not list",
    }.items():
        assert rows[name]["Status"] == "failed"
        assert rows[name]["Version"] == "1.0"
        assert words in rows[name]["Failures"][0]
    assert "'wanted'" in rows["acme-signature"]["Failures"][0]


def test_a_template_uses_what_the_good_ones_bring(environment: Environment, tmp_path: Path) -> None:
    template = tmp_path / "all.yaml"
    template.write_text(TEMPLATE)
    environment.zonda("stack", "create", "s", "-t", template)
    shown = environment.data("stack", "output", "show", "s", "--all")
    assert shown["loud"]["output_value"] == "ACME-ONE"
    failed = environment.zonda("stack", "update", "s", "-t", template, "--parameter", "n=2", code=1)
    assert "What Job keeps on self (job) lasts for one operation at most" in (
        failed.stdout + failed.stderr
    )
    environment.zonda("stack", "delete", "--yes", "s")


@pytest.mark.parametrize(
    ("type_name", "words"),
    [
        pytest.param("Acme::Disk", "acme-one 2.1", id="claimed-twice"),
        pytest.param("Acme::Rows", "acme-library", id="of-a-package-that-failed"),
    ],
)
def test_a_template_that_wants_what_is_not_there_is_told_who_is_to_blame(
    environment: Environment, tmp_path: Path, type_name: str, words: str
) -> None:
    template = tmp_path / "wants.yaml"
    template.write_text(
        f"heat_template_version: 2018-08-31\nresources: {{r: {{type: '{type_name}'}}}}\n"
    )
    said = environment.zonda("template", "validate", template, code=2)
    assert words in said.stdout + said.stderr


def test_one_of_two_that_want_a_name_can_be_disabled(environment: Environment) -> None:
    left_out = "acme-two,acme_raises,acme-exits,acme-signature,acme-library,acme-list"
    words = ("plugin", "list", "--set", f"disabled_plugins={left_out}")
    rows = {row["Distribution"]: row for row in environment.data(*words)}
    assert rows["acme-one"]["Brings"] == {"resource type": ["Acme::Disk", "Acme::One"]}
    assert rows["acme-two"]["Status"] == "disabled"
    assert rows["acme-exits"]["Status"] == "disabled"


def test_a_check_of_a_broken_package_says_what_is_wrong(environment: Environment) -> None:
    (row,) = environment.data("plugin", "check", "acme-raises", code=1)
    assert row["Verdict"] == "fail"
    assert "no network" in row["Reason"]
    said = environment.zonda("plugin", "check", "acme-god", code=1)
    assert "Did you mean acme-good" in said.stdout + said.stderr


def test_commands_that_need_no_type_import_no_plugin(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    marked = tmp_path / "imported"
    environment.write("acme-marks", f"open({str(marked)!r}, 'w').close()")
    for words in (
        ["--help"],
        ["stack", "list"],
        ["stack", "--help"],
        ["stack", "create", "--help"],
        ["explain", "ZON100"],
        ["template", "version", "list"],
    ):
        environment.zonda(*words)
        assert not marked.exists(), words
    environment.zonda("resource", "type", "list")
    assert marked.exists()


def test_a_new_package_is_installed_tested_checked_and_used(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    project = environment.home / "acme-thing"  # where the commands run: the name stays a package's
    environment.zonda("plugin", "new", "acme-thing", "--folder", project)
    environment.pip_install(project)

    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:zonda",
        "-p",
        "zonda.core.testing.pytest_plugin",
    ]
    tests = environment.run([environment.python, "-m", "pytest", *options], folder=project)
    assert "29 passed, 2 skipped" in tests.stdout

    (listed,) = [
        row for row in environment.data("plugin", "list") if row["Distribution"] == "acme-thing"
    ]
    assert (listed["Version"], listed["Brings"]) == (
        "0.1.0",
        {
            "constraint": ["acme_thing.one_line"],
            "function": ["acme_thing_lines"],
            "resource type": ["Acme::Thing"],
        },
    )
    rows = environment.data("plugin", "check", "acme-thing")
    verdicts = {(row["Check"], row["Subject"]): row["Verdict"] for row in rows}
    assert set(verdicts.values()) <= {"pass", "not applicable"}
    assert verdicts["crash in create", ""] == verdicts["update", "text"] == "pass"
    assert verdicts["secrets stay secret", ""] == "pass"

    notes = tmp_path / "notes"
    notes.mkdir()
    example = project / "docs" / "example.yaml"
    environment.zonda("stack", "create", "n", "-t", example, "--parameter", f"folder={notes}")
    (note,) = notes.iterdir()
    assert note.read_text().startswith("Hello")
    environment.zonda("stack", "delete", "--yes", "n")
    assert list(notes.iterdir()) == []
