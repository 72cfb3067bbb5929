"""The plug-in files of the distribution openstack-heat, as they are, fetched by pip for the test.

Nothing of them is kept. Without a package registry the tests are skipped; with HEAT_COMPAT_TESTS
set to ``required``, as in CI, they fail instead.
"""

from __future__ import annotations

import datetime
import importlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from zonda.core.engine.actions import SignalResource
from zonda.hooks import Unavailable, ValidationErrors

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

HERE = Path(__file__).resolve().parent
CONFORMANCE = HERE.parents[2] / "tests" / "conformance"
RELEASE = "openstack-heat==27.0.1"
PACKAGE = "heat.engine.resources.openstack.heat"
DOCUMENT = HERE.parent / "docs" / "openstack-heat.md"


def cannot(reason: str) -> None:
    if os.environ.get("HEAT_COMPAT_TESTS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package ``heat``, given by HEAT_COMPAT_PATH or fetched."""
    for library in ("oslo_log", "oslo_utils", "oslo_serialization", "oslo_config"):
        try:
            importlib.import_module(library)
        except ImportError:
            cannot(f"{library} is not installed: pip install 'contrib/zonda-heat-compat[oslo]'")
    folder = tmp_path_factory.mktemp("openstack-heat")
    command = ["-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), RELEASE]
    try:
        done = subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=False, timeout=120
        )
        failed = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    except subprocess.TimeoutExpired:
        failed = ["timed out"]
    if failed:
        cannot(f"could not be fetched: python {' '.join(command[:-2])} FOLDER {RELEASE}: {failed}")
    return folder


@pytest.fixture
def heat(distribution: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Heat's files can be imported by the names that they have there; forgotten afterwards."""
    monkeypatch.setenv("HEAT_COMPAT_PATH", str(distribution))
    # What other tests have imported from here would stand in for Heat's own.
    for name in [
        each for each in sys.modules if each.startswith("heat.engine.resources.openstack.")
    ]:
        del sys.modules[name]
    before = set(sys.modules)
    yield distribution
    for name in set(sys.modules) - before:
        if str(distribution) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


# -- the same answers ---------------------------------------------------------------------------


def failing(text: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9_.-]+)(?: \[later: .*?\])?: .*$", text, re.MULTILINE))


def test_the_conformance_cases_have_the_same_answers(distribution: Path) -> None:
    cases = str(CONFORMANCE / "cases")
    theirs = [str(HERE / "run_conformance.py"), str(distribution), cases]
    ours = [str(CONFORMANCE / "run.py"), cases]
    said = [
        subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=False, timeout=300
        )
        for command in (theirs, ours)
    ]
    assert said[0].stderr == ""
    assert said[0].stdout == said[1].stdout


# -- lives -------------------------------------------------------------------------------------

MAPPING = """
import importlib

def resource_mapping():
    found = {}
    for name in %r:
        module = importlib.import_module("%s." + name)
        for name, cls in module.resource_mapping().items():
            found["Theirs" + name[2:]] = cls
    return found
"""
FILES = (
    *("access_policy", "delay", "ha_restarter", "none_resource", "random_string"),
    *("test_resource", "value", "wait_condition", "wait_condition_handle"),
)


@pytest.fixture
def zonda_plugin_dirs(heat: Path, tmp_path: Path) -> list[Path]:
    """A file that brings Heat's classes under names of its own, beside zonda's types."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "theirs.py").write_text(MAPPING % (FILES, PACKAGE))
    (folder / "networks.py").write_text(NETWORKS)
    return [folder]


@pytest.fixture
def stack(zonda_stack: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stack whose clock is Heat's, too."""
    clock = zonda_stack.clock

    def utcnow(with_timezone: bool = False) -> datetime.datetime:
        return datetime.datetime.fromtimestamp(clock.now(), datetime.UTC).replace(tzinfo=None)

    monkeypatch.setattr("oslo_utils.timeutils.utcnow", utcnow)
    monkeypatch.setattr(time, "sleep", clock.advance)
    return zonda_stack


TEMPLATE = """
heat_template_version: 2021-04-16
parameters: {{a: {{type: json, default: {{}}}}}}
resources: {{thing: {{type: {kind}, properties: {properties}}}}}
outputs: {{shown: {{value: {output}}}, reference: {{value: {{get_resource: thing}}}}}}
"""
LIVES = [
    pytest.param(
        "RandomString",
        ("{length: 9}", "{length: 9, salt: x}"),
        "{get_attr: [thing, value]}",
        lambda before, after: before != after and len(before) == len(after) == 9,
        "replaced",
        id="RandomString",
    ),
    pytest.param(
        "Value",
        ("{value: [1, '2'], type: comma_delimited_list}", "{value: {a: b}, type: json}"),
        "{get_attr: [thing, value]}",
        lambda before, after: (before, after) == ([1, "2"], {"a": "b"}),
        "updated",
        id="Value",
    ),
    pytest.param(
        "None",
        ("{anything: 1}", "{goes: 2}"),
        "{get_attr: [thing, anything]}",
        lambda before, after: before is after is None,
        "left alone",
        id="None",
    ),
    pytest.param(
        "TestResource",
        (
            "{value: x, wait_secs: 3, attr_wait_secs: 2}",
            "{value: y, action_wait_secs: {update: 5}}",
        ),
        "{get_attr: [thing, output]}",
        lambda before, after: (before, after) == ("x", "y"),
        "updated",
        id="TestResource-update",
    ),
    pytest.param(
        "TestResource",
        ("{value: x}", "{value: y, update_replace: true}"),
        "{get_attr: [thing, output]}",
        lambda before, after: (before, after) == ("x", "y"),
        "replaced",
        id="TestResource-replace",
    ),
    pytest.param(
        "Delay",
        ("{min_wait: 10, max_jitter: 2}", "{min_wait: 20, actions: [CREATE, DELETE, SUSPEND]}"),
        "'{}'",
        lambda before, after: True,
        "replaced",
        id="Delay",
    ),
    pytest.param(
        "AccessPolicy",
        ("{AllowedResources: []}", "{AllowedResources: []}"),
        "x",
        lambda before, after: True,
        "left alone",
        id="AccessPolicy",
    ),
    pytest.param(
        "HARestarter",
        ("{InstanceId: x}", "{InstanceId: y}"),
        "x",
        lambda before, after: True,
        "left alone",
        id="HARestarter",
    ),
]


@pytest.mark.parametrize(("kind", "properties", "output", "right", "happens"), LIVES)
def test_a_type_of_heat_lives(
    stack: Any, kind: str, properties: tuple[str, str], output: str, right: Any, happens: str
) -> None:
    first, second = (
        TEMPLATE.format(kind=f"Theirs::Heat::{kind}", properties=each, output=output)
        for each in properties
    )
    created = stack.create(first)
    assert (created.state, created.status_reason) == (
        "CREATE_COMPLETE",
        "Stack CREATE completed successfully",
    )
    before, shown = stack.resources["thing"], stack.outputs["shown"]
    assert stack.update(second).state == "UPDATE_COMPLETE"
    after = stack.resources["thing"]
    assert right(shown, stack.outputs["shown"])
    assert (before.id == after.id) == (happens != "replaced")
    assert (after.action == "UPDATE") == (happens == "updated")
    assert stack.suspend().state == "SUSPEND_COMPLETE"
    assert stack.delete().state == "DELETE_COMPLETE"


def test_a_delay_takes_its_time(stack: Any) -> None:
    text = TEMPLATE.format(kind="Theirs::Heat::Delay", properties="{min_wait: 100}", output="x")
    begun = stack.clock.now()
    stack.create(text)
    assert 100 <= stack.clock.now() - begun < 160


def test_a_test_resource_fails_where_it_is_told_to(stack: Any) -> None:
    kind = "Theirs::Heat::TestResource"
    text = TEMPLATE.format(kind=kind, properties="{fail: true}", output="x")
    failed = stack.create(text)
    assert failed.status_reason == (
        "Resource CREATE failed: ValueError: resources.thing: Test Resource failed thing"
    )
    assert stack.delete().state == "DELETE_COMPLETE"


def test_faults_are_those_of_heat(stack: Any) -> None:
    text = TEMPLATE.format(
        kind="Theirs::Heat::RandomString",
        properties="{length: 3, character_classes: [{min: 4}]}",
        output="x",
    )
    with pytest.raises(ValidationErrors, match="Length property cannot be smaller than combined"):
        stack.create(text)


HANDLE = """
heat_template_version: 2021-04-16
resources:
  handle: {type: Theirs::Heat::WaitConditionHandle}
outputs: {to: {value: {get_attr: [handle, endpoint]}}}
"""
CONDITION = """
heat_template_version: 2021-04-16
resources:
  handle: {type: Theirs::Heat::WaitConditionHandle}
  condition:
    type: Theirs::Heat::WaitCondition
    properties: {handle: {get_resource: handle}, timeout: 30, count: 2}
outputs: {data: {value: {get_attr: [condition, data]}}}
"""


def test_a_wait_condition_counts_signals(stack: Any) -> None:
    assert stack.create(HANDLE).state == "CREATE_COMPLETE"
    assert stack.outputs["to"].endswith("/resources/handle/signal")
    for number in ("1", "2"):
        signal = {"status": "SUCCESS", "data": f"x{number}", "id": number}
        stack.engine.run(SignalResource("test", "handle", signal))
    assert stack.update(CONDITION).state == "UPDATE_COMPLETE"
    assert stack.outputs == {"data": '{"1": "x1", "2": "x2"}'}


def test_a_wait_condition_gives_up(stack: Any) -> None:
    failed = stack.create(CONDITION)
    assert "WaitConditionTimeout: resources.condition: 0 of 2 received" in failed.status_reason


NETWORKS = """
import importlib

from zonda.hooks import hookimpl


class NotThere(Exception):
    pass


class Networks:
    known = {}

    def create_network(self, body):
        self.known["net"] = {**body["network"], "id": "net", "status": "BUILD", "asked": 0}
        return {"network": self.known["net"]}

    def show_network(self, number):
        if number not in self.known:
            raise NotThere()
        net = self.known[number]
        net["asked"] += 1
        net["status"] = "ACTIVE" if net["asked"] > 2 else "BUILD"
        return {"network": net}

    def update_network(self, number, body):
        self.known[number].update(body["network"])

    def delete_network(self, number):
        del self.known[number]


class Plugin:
    def client(self):
        return Networks()

    def ignore_not_found(self, error):
        if not isinstance(error, NotThere):
            raise error


@hookimpl
def zonda_client_plugins():
    return {"neutron": Plugin}


def resource_mapping():
    return importlib.import_module("heat.engine.resources.openstack.neutron.net").resource_mapping()
"""
NET = """
heat_template_version: 2021-04-16
parameters: {name: {type: string, default: one}}
resources:
  net:
    type: OS::Neutron::Net
    properties: {name: {get_param: name}, value_specs: {mtu: 1500}}
outputs: {mtu: {value: {get_attr: [net, show, mtu]}}, name: {value: {get_attr: [net, name]}}}
"""


def test_a_network_of_heat_runs_on_a_client_of_zonda(
    heat: Path, zonda_plugin_dirs: list[Path], stack: Any
) -> None:
    assert stack.create(NET).state == "CREATE_COMPLETE"
    assert stack.outputs == {"mtu": 1500, "name": "one"}
    before = stack.resources["net"].id
    assert stack.update(NET, name="two").state == "UPDATE_COMPLETE"
    assert (stack.outputs["name"], stack.resources["net"].id) == ("two", before)
    assert stack.delete().state == "DELETE_COMPLETE"


# -- what is loaded ----------------------------------------------------------------------------


def rows() -> list[tuple[str, str]]:
    """File and state, from the table of the document."""
    found = re.findall(r"^\| `([a-z_]+)\.py` \| ([^|]+) \|", DOCUMENT.read_text(), re.MULTILINE)
    return [(name, state.strip()) for name, state in found]


def test_the_document_names_every_file(heat: Path) -> None:
    folder = heat / "heat" / "engine" / "resources" / "openstack" / "heat"
    there = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {name for name, _ in rows()} == there


@pytest.mark.parametrize(("name", "state"), rows())
def test_a_file_of_heat_is_loaded_as_the_document_says(heat: Path, name: str, state: str) -> None:
    if state.startswith("needs "):
        with pytest.raises(ModuleNotFoundError) as caught:
            importlib.import_module(f"{PACKAGE}.{name}")
        assert state == f"needs `{caught.value.name}`"
        return
    module = importlib.import_module(f"{PACKAGE}.{name}")
    made = [cls.__zonda_resource__() for cls in module.resource_mapping().values()]
    nested = [each for each in made if isinstance(each, Unavailable)]
    expected = {"runs": 0, "loads": 0, "in part": None, "nested": len(made)}[state]
    assert expected is None or len(nested) == expected
