"""Workflows and cron triggers as resources at a real Mistral."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[[str, str], Path]
Until = Callable[..., Any]

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  flow:
    type: OS::Mistral::Workflow
    properties:
      name: report
      type: direct
      description: NOTE
      tags: [nightly]
      input: {day: monday, note: null}
      output: {said: <% $.said %>}
      task_defaults: {on_error: [tell]}
      tasks:
        - name: write
          action: std.echo
          input: {output: "<% $.day %> NOTE"}
          publish: {said: <% task(write).result %>}
          on_success: [sign, file]
        - {name: sign, action: std.noop, on_success: [tell]}
        - {name: file, action: std.noop, wait_before: 0, on_success: [tell]}
        - {name: tell, action: std.noop, join: "1", retry: {count: 2, delay: 1}}
  nightly:
    type: OS::Mistral::CronTrigger
    properties:
      pattern: "0 3 * * *"
      workflow: {name: {get_resource: flow}, input: {day: sunday, note: n}}
outputs:
  next: {value: {get_attr: [nightly, next_execution_time]}}
  data: {value: {get_attr: [flow, data]}}
  ran: {value: {get_attr: [flow, executions]}}
"""


def definition(mistral: Any) -> str:
    return str(mistral.ask("GET", "workflows/report")["definition"])


def test_a_workflow_and_its_trigger_live_at_mistral(
    stage: Any, mistral: Any, write: Write, until: Until
) -> None:
    first = write("1.yaml", TEMPLATE.replace("NOTE", "first"))
    stage.run("stack", "create", "t", "-t", first)
    assert "description: first" in definition(mistral)
    assert mistral.ask("GET", "workflows/report")["tags"] == ["nightly"]
    [trigger] = mistral.ask("GET", "cron_triggers")["cron_triggers"]
    assert trigger["name"] == stage.resources("t")["nightly"]["physical_resource_id"]
    assert trigger["workflow_name"] == "report"
    assert json.loads(trigger["workflow_input"]) == {"day": "sunday", "note": "n"}
    # null while a busy Mistral gives no answer in time
    until(lambda: stage.outputs("t")["next"] == trigger["next_execution_time"], "it is answered")
    outputs = stage.outputs("t")
    assert outputs["data"] == {"name": "report", "input": {"day": "monday", "note": None}}

    stage.run("stack", "resource", "signal", "t", "flow", "--data", '{"input": {"note": "x"}}')

    def ended() -> Any:
        return [one for one in mistral.executions("report") if one["state"] == "SUCCESS"]

    [execution] = until(ended, "the execution has ended")
    assert execution["output"] == {"said": "monday first"}
    assert execution["input"] == {"day": "monday", "note": "x"}
    wrong = ("stack", "resource", "signal", "t", "flow", "--data", '{"input": {"no": "x"}}')
    assert "Unknown input no" in stage.run(*wrong, code=1).stderr

    old = mistral.ask("GET", "workflows/report")["id"]
    second = write("2.yaml", TEMPLATE.replace("NOTE", "second"))
    stage.run("stack", "update", "t", "-t", second)
    assert "description: second" in definition(mistral)
    assert mistral.ask("GET", "workflows/report")["id"] == old, "written anew, not made anew"

    stage.run("stack", "delete", "t", "--yes")
    assert mistral.call("GET", "workflows/report").status_code == 404
    assert mistral.ask("GET", "cron_triggers")["cron_triggers"] == []
    assert mistral.executions("report") == [], "what signals made is removed with it"


def test_a_name_that_is_taken_is_left_alone(stage: Any, mistral: Any, write: Write) -> None:
    mistral.define("report:\n  description: of others\n  tasks: {t: {action: std.noop}}\n")
    file = write("1.yaml", TEMPLATE)
    said = stage.run("stack", "create", "t", "-t", file, code=1)
    assert "Duplicate entry" in said.stderr
    stage.run("stack", "delete", "t", "--yes")
    assert "of others" in definition(mistral)
    mistral.ask("DELETE", "workflows/report")


def test_mistral_is_asked_whether_it_would_take_a_workflow(
    stage: Any, mistral: Any, write: Write
) -> None:
    text = TEMPLATE.replace("<% task(write).result %>", "<% task(write.result %>")
    said = stage.run("stack", "create", "t", "-t", write("1.yaml", text), code=2)
    assert "Mistral does not accept the workflow" in said.stderr
    assert stage.state("t") == ""


def test_a_killed_zonda_makes_no_workflow_twice(
    zonda: Any, mistral: Any, door: Any, settings: Any, write: Write, until: Until
) -> None:
    zonda.configure(settings(f"{door.url}/v2"))
    words: tuple[Any, ...] = ("stack", "create", "t", "-t", write("1.yaml", TEMPLATE))
    for path in ("POST /v2/workflows", "POST /v2/cron_triggers"):
        door.shut = path
        command = zonda.start(*words)
        until(lambda path=path: path in door.kept, f"the answer to {path} is kept back")
        command.kill()
        command.wait()
        words = ("stack", "wait", "t")
    door.open()
    zonda.run("stack", "wait", "t")
    assert zonda.state("t") == "CREATE_COMPLETE"
    zonda.run("stack", "delete", "t", "--yes")
    assert mistral.call("GET", "workflows/report").status_code == 404


def test_what_was_changed_by_hand_at_mistral_is_found_and_put_right(
    stage: Any, mistral: Any, write: Write
) -> None:
    stage.run("stack", "create", "t", "-t", write("1.yaml", TEMPLATE.replace("NOTE", "as written")))
    stage.run("stack", "drift", "check", "t")
    by_hand = definition(mistral).replace("as written", "by hand", 1)
    headers = {"Content-Type": "text/plain"}
    mistral.ask("PUT", "workflows", data=by_hand, headers=headers)
    [trigger] = mistral.ask("GET", "cron_triggers")["cron_triggers"]
    mistral.ask("DELETE", f"cron_triggers/{trigger['name']}")

    stage.run("stack", "drift", "check", "t", code=3)
    found = stage.run("stack", "drift", "show", "t").stdout
    assert "DRIFTED" in found
    assert "by hand" in found
    assert "MISSING" in found

    stage.run("stack", "drift", "repair", "t")
    stage.run("stack", "drift", "check", "t")
    assert "as written" in definition(mistral)
    assert "by hand" not in definition(mistral)
    [made] = mistral.ask("GET", "cron_triggers")["cron_triggers"]
    assert made["name"] != trigger["name"], "what is gone is replaced"
    stage.run("stack", "delete", "t", "--yes")
