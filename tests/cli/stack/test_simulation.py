"""Simulated stacks: nothing is made, and all else is as ever."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TYPES = """
from pathlib import Path
from zonda.hooks import BaseCustomConstraint, TemplateError, attributes, constraints
from zonda.hooks import properties, resource

def leave_trace(what):
    with Path(%r).open("a") as file:
        file.write(what + chr(10))

class Rule(BaseCustomConstraint):
    def validate(self, value, context):
        leave_trace("asked about " + value)
        return value in ("good", "one")

class Thing(resource.Resource):
    properties_schema = {
        "kind": properties.Schema(
            properties.Schema.STRING, constraints=[constraints.CustomConstraint("acme.kind")]
        ),
        "size": properties.Schema(properties.Schema.INTEGER, update_allowed=True),
    }
    attributes_schema = {"address": attributes.Schema("Its address.", type="String")}

    def validate(self):
        if self.properties["size"] == 13:
            raise TemplateError("13 is no size")

    def handle_create(self):
        leave_trace("made")

    def handle_delete(self):
        leave_trace("deleted")

class OldName(resource.Resource):
    # network_id is the old name of network, as a translation of Heat has it

    properties_schema = {
        "network": properties.Schema(properties.Schema.STRING, required=True),
        "network_id": properties.Schema(properties.Schema.STRING, update_allowed=True),
    }

    def make_properties(self, definition):
        given = dict(definition.properties)
        if "network_id" in given:
            given["network"] = given.pop("network_id")
        return properties.Properties(self.properties_schema, given)

class Anything(resource.Resource):
    # it declares nothing and takes all, as the retired types of Heat do

    def make_properties(self, definition):
        schema = {name: properties.Schema(properties.Schema.ANY) for name in definition.properties}
        return properties.Properties(schema, definition.properties)

def resource_mapping():
    return {"Acme::Thing": Thing, "Acme::OldName": OldName, "Acme::Anything": Anything}

def constraint_mapping():
    return {"acme.kind": Rule}
"""
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  one: {type: Acme::Thing, properties: {kind: %s, size: %d}}
  two: {type: Acme::Thing, properties: {kind: {get_resource: one}}}
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: Acme::Thing, properties: {size: 1}}}
  handle: {type: OS::Heat::WaitConditionHandle}
  wait: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: handle}, timeout: 9}}
outputs:
  address: {value: {get_attr: [one, address]}}
"""


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the types leave a trace of what they do outside."""
    (tmp_path / "plugins").mkdir()
    trace = tmp_path / "trace"
    trace.touch()
    (tmp_path / "plugins" / "acme.py").write_text(TYPES % str(trace))
    monkeypatch.setenv("ZONDA_PLUGIN_DIRS", str(tmp_path / "plugins"))
    return trace


def test_a_simulated_stack_lives_and_nothing_is_made(
    zonda: Zonda, write: Write, trace: Path
) -> None:
    small, large = (
        write(f"t{size}.yaml", TEMPLATE % (kind, size)) for kind, size in (("good", 1), ("good", 2))
    )
    planned = zonda("stack", "plan", "s", "-t", small, "--simulate").out
    assert "Plan: 7 to create." in planned
    zonda("stack", "create", "s", "-t", small, "--simulate")
    rows = json.loads(zonda("stack", "resource", "list", "s", "-n", "2", "-f", "json").out)
    made = {row["path"]: row["physical_resource_id"] for row in rows}
    assert all(made[name].startswith("simulated-") for name in ("one", "two", "group/1", "wait"))
    planned = zonda("stack", "plan", "s", "-t", large).out
    assert "Plan: 1 to update, 4 unchanged." in planned
    zonda("stack", "update", "s", "-t", large)
    zonda("stack", "suspend", "s")
    zonda("stack", "resume", "s")
    zonda("stack", "check", "s")
    zonda("stack", "delete", "-y", "s")
    asked = {*trace.read_text().splitlines()}
    assert asked == {"asked about good"}, "of templates its rules are asked, and nothing else"


def test_drift_is_made_by_a_signal_and_repaired(zonda: Zonda, write: Write, trace: Path) -> None:
    zonda("stack", "create", "s", "-t", write("t.yaml", TEMPLATE % ("good", 1)), "--simulate")
    assert "IN_SYNC" in zonda("stack", "drift", "check", "s").out

    def send(name: str, details: Any, code: int = 0) -> Any:
        data = json.dumps(details)
        return zonda("stack", "resource", "signal", "s", name, "--data", data, code=code)

    send("one", {"drift": {"size": 9}})
    send("two", {"drift": "gone"})
    wrong = send("one", {"drift": {"colour": "red"}}, code=1)
    assert "one is simulated, and the signal is no drift." in wrong.err
    shown = zonda("stack", "drift", "check", "s", code=3).out
    assert "DRIFTED     one" in shown
    assert "size: 1 -> 9" in shown
    assert "MISSING     two" in shown
    zonda("stack", "drift", "repair", "s")
    assert "IN_SYNC" in zonda("stack", "drift", "check", "s").out
    assert "made" not in trace.read_text()


def test_a_template_is_refused_as_for_a_real_stack(zonda: Zonda, write: Write, trace: Path) -> None:
    bad = write("t.yaml", TEMPLATE % ("bad", 13))
    said = zonda("stack", "create", "s", "-t", bad, "--simulate", code=2).err
    assert "Error validating value 'bad'" in said
    bad = write("t.yaml", TEMPLATE % ("good", 13))
    said = zonda("stack", "create", "s", "-t", bad, "--simulate", code=2).err
    assert "13 is no size" in said


def test_a_type_reads_its_properties_itself(zonda: Zonda, write: Write, trace: Path) -> None:
    template = """
heat_template_version: 2018-08-31
resources:
  old: {type: Acme::OldName, properties: {network_id: %s}}
  any: {type: Acme::Anything, properties: {colour: red}}
"""
    first, second = (write(f"{each}.yaml", template % each) for each in ("a", "b"))
    zonda("stack", "create", "s", "-t", first, "--simulate")
    assert "Nothing to do: 2 unchanged." in zonda("stack", "plan", "s", "-t", first).out
    assert "IN_SYNC: 2 IN_SYNC" in zonda("stack", "drift", "check", "s").out
    zonda("stack", "update", "s", "-t", second)
    broken = write("c.yaml", (template % "c").replace("network_id: c", ""))
    said = zonda("stack", "update", "s", "-t", broken, code=2).err
    assert "Property network not assigned" in said


def test_a_type_has_attributes_that_it_does_not_declare(
    zonda: Zonda, write: Write, trace: Path
) -> None:
    template = """
heat_template_version: 2018-08-31
resources:
  config: {type: OS::Heat::SoftwareConfig, properties: {outputs: [{name: result}]}}
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties: {config: {get_resource: config}, server: some, signal_transport: NO_SIGNAL}
outputs:
  result: {value: {get_attr: [deployment, result]}}
  below: {value: {get_attr: [deployment, result, nothing]}}
  declared: {value: {get_attr: [deployment, deploy_stdout]}}
"""
    zonda("stack", "create", "s", "-t", write("t.yaml", template), "--simulate")
    shown = json.loads(zonda("stack", "output", "show", "s", "--all", "-f", "json").out)
    told = {name: each["output_value"] for name, each in shown.items()}
    assert told["result"].startswith("result of simulated-")
    assert told["below"] is None
    assert told["declared"].startswith("deploy_stdout of simulated-")


def test_no_runner_is_needed(zonda: Zonda, write: Write) -> None:
    template = """
heat_template_version: 2018-08-31
resources:
  own:
    type: OS::Mistral::ExternalResource
    properties: {actions: {CREATE: {workflow: make_it, params: {}}}}
  mistral:
    type: OS::Mistral::Workflow
    properties: {type: direct, tasks: [{name: one, action: std.noop}]}
"""
    path = write("t.yaml", template)
    zonda("stack", "create", "s", "-t", path, "--simulate")
    assert "Nothing to do: 2 unchanged." in zonda("stack", "plan", "s", "-t", path).out
    said = zonda("stack", "create", "real", "-t", path, code=2).err
    assert "The workflow make_it cannot be run" in said
    assert "There is no runner mistral" in said


def test_a_stack_is_simulated_from_its_creation_or_never(
    zonda: Zonda, write: Write, trace: Path
) -> None:
    template = write("t.yaml", (TEMPLATE % ("good", 1)).partition("  group:")[0])
    zonda("stack", "create", "real", "-t", template)
    said = zonda("stack", "plan", "real", "-t", template, "--simulate", code=2).err
    assert "The stack real exists: --simulate is for a new one." in said
    assert trace.read_text().count("made") == 2


def test_a_setting_says_what_is_simulated(
    zonda: Zonda, write: Write, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZONDA_SIMULATED_TYPES", "Other::*, OS::Heat::Value")
    template = write(
        "t.yaml",
        "heat_template_version: 2018-08-31\nresources:\n"
        "  one: {type: Acme::Thing, properties: {size: 1}}\n"
        "  value: {type: OS::Heat::Value, properties: {value: 1}}\n",
    )
    zonda("stack", "create", "s", "-t", template, "--simulate")
    rows = json.loads(zonda("stack", "resource", "list", "s", "-f", "json").out)
    found = {row["resource_name"]: row["physical_resource_id"] or "" for row in rows}
    assert not found["one"].startswith("simulated-")
    assert found["value"].startswith("simulated-")
    assert trace.read_text() == "made\n"
