"""The template that introduced the external resource: workflows are resources of the stack."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLUGINS = Path(__file__).parent / "plugins"

HEAD = """
heat_template_version: 2018-08-31
resources:
  create_workflow: {type: "Test::WorkflowName", properties: {name: create_custom}}
  update_workflow: {type: "Test::WorkflowName", properties: {name: update_custom}}
  delete_workflow: {type: "Test::WorkflowName", properties: {name: delete_custom}}
"""

#: Word for word as the specification of the type prints it.
CUSTOM = """
custom:
  type: OS::Mistral::ExternalResource
  properties:
    actions:
      CREATE:
        workflow: {get_resource: create_workflow}
        params:
          target: create_my_custom_thing
      UPDATE:
        workflow: {get_resource: update_workflow}
      DELETE:
        workflow: {get_resource: delete_workflow}
    input:
      foo1: 123
      foo2: 456
    replace_on_change_inputs:
      - foo2
    always_update: true
"""

WORK = """
import json, pathlib, sys

request = json.load(sys.stdin)
with pathlib.Path(sys.argv[1]).open("a") as log:
    log.write(json.dumps([request["action"], request["inputs"], request["params"]]) + "\\n")
if request["action"] == "CREATE":
    print(json.dumps({"resource_id": "thing-%s" % request["inputs"]["foo2"], "seen": [1]}))
"""


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def test_the_published_template_lives_its_whole_life(
    zonda: Any, service: Any, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    script, log = write("custom.py", WORK), tmp_path / "log"
    command = json.dumps([sys.executable, str(script), str(log)])
    verbs = ("create", "update", "delete")
    rows = [f"  {verb}_custom: {{command: {command}}}\n" for verb in verbs]
    service.file.write_text("workflows:\n" + "".join(rows))
    service.start()
    zonda.configure(f"plugin_dirs = [{json.dumps(str(PLUGINS))}]\n")

    def calls() -> list[Any]:
        lines = log.read_text().splitlines()
        log.write_text("")
        return [json.loads(line) for line in lines]

    def physical() -> str:
        return str(zonda.resources("s")["custom"]["physical_resource_id"])

    def template(custom: str) -> Path:
        return write("seed.yaml", HEAD + indented(custom))

    zonda.run("stack", "create", "s", "-t", template(CUSTOM))
    [(action, inputs, params)] = calls()
    assert (action, inputs) == ("CREATE", {"foo1": 123, "foo2": 456})
    assert params["target"] == "create_my_custom_thing"
    assert physical() == "thing-456"

    zonda.run("stack", "update", "s", "-t", template(CUSTOM))
    [(action, inputs, params)] = calls()
    assert action == "UPDATE", "always_update runs it although nothing changed"
    assert params["env"]["heat_extresource_data"] == {"resource_id": "thing-456", "seen": [1]}
    assert physical() == "thing-456", "an update need not repeat the id"

    zonda.run("stack", "update", "s", "-t", template(CUSTOM.replace("foo2: 456", "foo2: 789")))
    assert [(action, inputs["foo2"]) for action, inputs, _ in calls()] == [
        ("CREATE", 789),
        ("DELETE", 456),
    ]
    assert physical() == "thing-789"

    zonda.run("stack", "delete", "s", "--yes")
    assert [action for action, *_ in calls()] == ["DELETE"]
    assert zonda.data("stack", "list") == []
