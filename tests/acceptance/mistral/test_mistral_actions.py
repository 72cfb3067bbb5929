"""External resources at a real Mistral: every action, every end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[[str, str], Path]
Until = Callable[..., Any]

NOTED = """
noted:
  input: [word]
  output: {first: <% $.word %>, told: <% env().get(heat_extresource_data) %>}
  tasks: {t: {action: std.noop}}
"""


def template(actions: str, **more: Any) -> str:
    """A stack of one external resource."""
    lines = "".join(f"      {name}: {json.dumps(value)}\n" for name, value in more.items())
    return f"""
heat_template_version: 2018-08-31
resources:
  it:
    type: OS::Mistral::ExternalResource
    properties:
      actions: {{{actions}}}
{lines}
outputs:
  all: {{value: {{get_attr: [it, output]}}}}
"""


def test_all_five_actions_are_told_what_came_before(stage: Any, mistral: Any, write: Write) -> None:
    verbs = ("CREATE", "UPDATE", "SUSPEND", "RESUME", "DELETE")
    flows = "".join(
        f"five_{verb}:\n  input: [word]\n  output: {{{verb.lower()}: <% $.word %>, "
        f"told: '<% env().get(heat_extresource_data, dict()).keys().orderBy($) %>'}}\n"
        "  tasks: {t: {action: std.noop}}\n"
        for verb in verbs
    )
    mistral.define(flows)
    actions = ", ".join(f"{verb}: {{workflow: five_{verb}}}" for verb in verbs)

    stage.run(
        "stack", "create", "five", "-t", write("1.yaml", template(actions, input={"word": 1}))
    )
    stage.run(
        "stack", "update", "five", "-t", write("2.yaml", template(actions, input={"word": 2}))
    )
    stage.run("stack", "suspend", "five")
    stage.run("stack", "resume", "five")
    given = {"create": 1, "update": 2, "suspend": 2, "resume": 2}
    told = ["create", "suspend", "told", "update"]
    assert stage.outputs("five")["all"] == {**given, "told": told}
    stage.run("stack", "delete", "five", "--yes")

    ran = mistral.executions("five_")
    # Mistral keeps whole seconds: the order is in what each was told of those before it.
    told_keys = {one["workflow_name"]: len(one["output"]["told"]) for one in ran}
    assert told_keys == dict(zip((f"five_{verb}" for verb in verbs), (0, 2, 3, 4, 5), strict=True))
    assert [one["state"] for one in ran] == ["SUCCESS"] * len(verbs)
    assert {one["description"] for one in ran} == {"Heat managed"}


def test_a_failed_create_hands_over_what_it_made(stage: Any, mistral: Any, write: Write) -> None:
    mistral.define(
        "half:\n  output-on-error: {resource_id: half-made}\n"
        "  tasks: {boom: {action: std.fail}}\n"
        "tidy:\n  output: {was: <% env().heat_extresource_data.resource_id %>}\n"
        "  tasks: {t: {action: std.noop}}\n"
    )
    file = write("h.yaml", template("CREATE: {workflow: half}, DELETE: {workflow: tidy}"))

    said = stage.run("stack", "create", "half", "-t", file, code=1)
    assert stage.state("half") == "CREATE_FAILED"
    assert "boom" in said.stderr
    assert stage.resources("half")["it"]["physical_resource_id"] == "half-made"
    stage.run("stack", "delete", "half", "--yes")
    assert [one["output"] for one in mistral.executions("tidy")] == [{"was": "half-made"}]


WAITING = """
waits:
  output: {resource_id: waited}
  tasks: {t: {action: std.async_noop}}
"""
WAITS = "CREATE: {workflow: waits}"


def started(mistral: Any, until: Until) -> str:
    """The id of the one execution that runs."""

    def running() -> Any:
        return [one["id"] for one in mistral.executions("waits") if one["state"] == "RUNNING"]

    [found] = until(running, "an execution runs")
    return str(found)


def test_an_execution_that_is_cancelled_at_mistral_has_failed(
    stage: Any, mistral: Any, write: Write, until: Until
) -> None:
    mistral.define(WAITING)
    create = stage.start("stack", "create", "c", "-t", write("w.yaml", template(WAITS)))
    content = {"state": "CANCELLED", "state_info": "not on a Sunday"}
    mistral.ask("PUT", f"executions/{started(mistral, until)}", json=content)
    said, _ = create.communicate(timeout=60)
    assert create.returncode == 1
    assert "not on a Sunday" in said
    assert stage.state("c") == "CREATE_FAILED"


def test_a_cancelled_stack_cancels_its_execution(
    stage: Any, mistral: Any, write: Write, until: Until
) -> None:
    stage.configure("cancel_grace = 0\n" + (stage.home / "zonda.toml").read_text())
    mistral.define(WAITING)
    create = stage.start("stack", "create", "g", "-t", write("w.yaml", template(WAITS)))
    execution = started(mistral, until)
    stage.run("stack", "cancel", "--no-rollback", "g")
    create.communicate(timeout=60)
    assert stage.state("g") == "CREATE_FAILED"
    found = mistral.ask("GET", f"executions/{execution}")
    assert found["state"] == "CANCELLED"
    assert found["state_info"] == "the operation was cancelled"


def test_output_that_mistral_drops_is_no_success(stage: Any, mistral: Any, write: Write) -> None:
    mistral.define(
        "huge:\n  output: {big: <% 'x' * 2000000 %>}\n  tasks: {t: {action: std.noop}}\n"
    )
    said = stage.run(
        "stack",
        "create",
        "huge",
        "-t",
        write("x.yaml", template("CREATE: {workflow: huge}")),
        code=1,
    )
    assert [one["state"] for one in mistral.executions("huge")] == ["SUCCESS"]
    assert "lost the output" in said.stderr
    assert "1 MiB" in said.stderr


def test_a_stored_environment_gets_the_outputs_so_far(
    stage: Any, mistral: Any, write: Write
) -> None:
    mistral.call("DELETE", "environments/site")
    variables = {"region": "north"}
    mistral.ask("POST", "environments", json={"name": "site", "variables": variables})
    mistral.define(
        "place:\n  output: {at: <% env().region %>, told: <% env().get(heat_extresource_data) %>}\n"
        "  tasks: {t: {action: std.noop}}\n"
    )
    action = "{workflow: place, params: {env: site}}"
    file = write("e.yaml", template(f"CREATE: {action}, DELETE: {action}"))
    stage.run("stack", "create", "place", "-t", file)
    stage.run("stack", "delete", "place", "--yes")
    outputs = [one["output"] for one in mistral.executions("place")]
    first, last = sorted(outputs, key=lambda output: output["told"] is not None)
    assert first == {"at": "north", "told": None}
    assert last == {"at": "north", "told": first}
    assert mistral.ask("GET", "environments/site")["variables"] == json.dumps(variables)


def test_a_workflow_that_mistral_does_not_have_is_found_before_anything_is_made(
    stage: Any, mistral: Any, write: Write
) -> None:
    file = write("n.yaml", template("CREATE: {workflow: no_such_flow}"))
    said = stage.run("stack", "create", "n", "-t", file, code=2)
    assert "Workflow not found [workflow_identifier=no_such_flow" in said.stderr
    assert stage.state("n") == ""


def test_a_workflow_that_is_gone_when_its_time_comes_is_told(
    stage: Any, mistral: Any, write: Write
) -> None:
    mistral.define(WAITING.replace("waits", "soon_gone"))
    file = write("d.yaml", template("DELETE: {workflow: soon_gone}"))
    stage.run("stack", "create", "d", "-t", file)
    mistral.ask("DELETE", "workflows/soon_gone")
    said = stage.run("stack", "delete", "d", "--yes", code=1)
    assert "Workflow not found [workflow_identifier=soon_gone" in said.stderr


def test_executions_are_forgotten_where_the_settings_say_so(
    stage: Any, mistral: Any, write: Write
) -> None:
    mistral.define(NOTED.replace("noted:", "kept_not:"))
    stage.configure((stage.home / "zonda.toml").read_text() + "forget = true\n")
    file = write("f.yaml", template("CREATE: {workflow: kept_not}", input={"word": "w"}))
    stage.run("stack", "create", "f", "-t", file)
    assert stage.outputs("f")["all"] == {"first": "w", "told": None}
    assert mistral.executions("kept_not") == []


SECRET = "s3cret-of-the-disk"


def test_a_secret_in_the_input_is_found_nowhere(stage: Any, mistral: Any, write: Write) -> None:
    mistral.define(
        "uses:\n  input: [password]\n  output: {length: <% $.password.len() %>}\n"
        "  tasks: {t: {action: std.noop}}\n"
        "tells:\n  input: [password]\n  output: {number: <% int($.password) %>}\n"
        "  tasks: {t: {action: std.noop}}\n"
        "refuses:\n  input: [word]\n  tasks: {t: {action: std.noop}}\n"
    )
    text = "heat_template_version: 2018-08-31\nparameters: {p: {type: string, hidden: true}}\n"
    text += "resources:\n"
    for name in ("uses", "tells", "refuses"):
        text += (
            f"  {name}:\n    type: OS::Mistral::ExternalResource\n    properties:\n"
            f"      actions: {{CREATE: {{workflow: {name}}}}}\n"
            "      input: {password: {get_param: p}}\n"
        )
    file = write("s.yaml", text)
    said = stage.run("stack", "create", "s", "-t", file, "--parameter", f"p={SECRET}", code=1)
    assert stage.state("s") == "CREATE_FAILED"
    states = {name: row["resource_status"] for name, row in stage.resources("s").items()}
    assert states["tells"] == states["refuses"] == "CREATE_FAILED"
    told = [said.stdout, said.stderr]
    for words in (
        ("stack", "show", "s"),
        ("stack", "event", "list", "s"),
        ("stack", "resource", "show", "s", "uses"),
        ("stack", "resource", "show", "s", "tells"),
        ("stack", "failures", "list", "s"),
        ("stack", "history", "s"),
    ):
        told.append(stage.run(*words, "-f", "json").stdout)
    assert any("invalid literal" in one for one in told), "Mistral's reason is shown"
    assert [one for one in told if SECRET in one] == []
    files = [path for path in stage.home.rglob("*") if path.is_file()]
    assert any(path.name.startswith("zonda.db") for path in files)
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
