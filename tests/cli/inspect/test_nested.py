"""Nested stacks and their names on the command line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

LEAF = """\
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true, default: leaf-secret}
  fail: {type: boolean, default: false}
resources:
  a:
    type: OS::Heat::TestResource
    properties: {value: {get_param: word}, fail: {get_param: fail}}
  b: {type: OS::Heat::TestResource, properties: {value: {get_attr: [a, output]}}}
outputs:
  said: {value: plain}
"""
MIDDLE = """\
heat_template_version: 2018-08-31
parameters:
  fail: {type: boolean, default: false}
resources:
  leaf: {type: leaf.yaml, properties: {fail: {get_param: fail}}}
outputs:
  said: {value: {get_attr: [leaf, said]}}
"""
ROOT = """\
heat_template_version: 2018-08-31
parameters:
  fail: {type: boolean, default: false}
  hush: {type: string, hidden: true, default: root-secret}
resources:
  middle: {type: middle.yaml, properties: {fail: {get_param: fail}}}
  beside: {type: OS::Heat::Value, properties: {value: {get_attr: [middle, said]}}}
"""


@pytest.fixture
def template(write: Write) -> Path:
    write("leaf.yaml", LEAF)
    write("middle.yaml", MIDDLE)
    return write("root.yaml", ROOT)


@pytest.fixture
def tree(zonda: Zonda, template: Path) -> None:
    """A stack ``t`` with two levels below it."""
    zonda("stack", "create", "t", "-t", template)


def test_stacks_with_whose_they_are(zonda: Zonda, tree: None) -> None:
    assert [one["Stack Name"] for one in zonda("stack", "list", "-f", "json").data] == ["t"]
    found = zonda("stack", "list", "--nested", "-f", "json").data
    owners = {one["Owner"]: one for one in found}
    assert set(owners) == {None, "t/middle", "t/middle/leaf"}
    assert owners["t/middle"]["Parent"] == owners[None]["ID"]
    assert owners["t/middle/leaf"]["Parent"] == owners["t/middle"]["ID"]


@pytest.mark.parametrize("by", ["path", "id", "name"])
def test_a_nested_stack_is_found_by_path_id_and_name(zonda: Zonda, tree: None, by: str) -> None:
    (leaf,) = [
        one
        for one in zonda("stack", "list", "--nested", "-f", "json").data
        if one["Owner"] == "t/middle/leaf"
    ]
    name = {"path": "t/middle/leaf", "id": leaf["ID"], "name": leaf["Stack Name"]}[by]
    shown = zonda("stack", "show", name, "-f", "json").data
    assert (shown["id"], shown["parent"], shown["owner"]) == (
        leaf["ID"],
        leaf["Parent"],
        "t/middle/leaf",
    )
    assert shown["root"] == zonda("stack", "show", "t", "-f", "json").data["id"]
    assert shown["parameters"]["word"] == "(hidden)"
    assert zonda("stack", "output", "show", name, "said", "-f", "json").data["output_value"] == (
        "plain"
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("t/middel", "middle"),
        ("t/beside", "The resource beside has no nested stack."),
        ("x/middle", "x"),
    ],
)
def test_a_path_that_leads_nowhere(zonda: Zonda, tree: None, name: str, told: str) -> None:
    assert told in zonda("stack", "show", name, code=1).err


def test_resources_by_levels(zonda: Zonda, tree: None) -> None:
    def paths(*words: str) -> list[str]:
        found = zonda("stack", "resource", "list", *words, "-f", "json").data
        return [one.get("path", one["resource_name"]) for one in found]

    assert paths("t") == ["middle", "beside"]
    assert paths("t", "--nested-depth", "1") == ["middle", "middle/leaf", "beside"]
    everything = ["middle", "middle/leaf", "middle/leaf/a", "middle/leaf/b", "beside"]
    assert paths("t", "-n", "5") == everything
    assert paths("t/middle", "-n", "1") == ["leaf", "leaf/a", "leaf/b"]
    assert "levels" in zonda("stack", "resource", "list", "t", "-n", "-1", code=2).err


def test_a_resource_of_a_nested_stack_and_the_stack_of_an_owner(zonda: Zonda, tree: None) -> None:
    owner = zonda("stack", "resource", "show", "t", "middle/leaf", "-f", "json").data
    leaf = zonda("stack", "show", "t/middle/leaf", "-f", "json").data
    assert (owner["nested_stack_id"], owner["nested_stack_name"]) == (
        leaf["id"],
        leaf["stack_name"],
    )
    one = zonda("stack", "resource", "show", "t", "middle/leaf/a", "-f", "json").data
    assert (one["resource_name"], one["nested_stack_id"]) == ("a", None)
    assert one["properties"]["value"] == "(hidden)"


def test_events_of_the_tree_in_their_order(zonda: Zonda, tree: None) -> None:
    own = zonda("stack", "event", "list", "t", "-f", "json").data
    assert not [each for each in own if "path" in each]
    told = zonda("stack", "event", "list", "t", "--nested-depth", "2", "-f", "json").data
    order = [each["path"] for each in told if each["resource_status"] == "CREATE_COMPLETE"]
    for inner, outer in (("middle/leaf/a", "middle/leaf/b"), ("middle/leaf", "middle")):
        assert order.index(inner) < order.index(outer)
    shallow = zonda("stack", "event", "list", "t", "-n", "1", "-f", "json").data
    assert "middle/leaf/a" not in {each["path"] for each in shallow}
    one = zonda("stack", "event", "list", "t", "--resource", "middle/leaf/a", "-f", "json").data
    assert {each["resource_name"] for each in one} == {"a"}


def test_events_of_what_is_gone(zonda: Zonda, write: Write, tree: None) -> None:
    """The owner's own events tell whose the stack was."""
    less = "heat_template_version: 2018-08-31\nresources:\n  beside: {type: OS::Heat::None}\n"
    zonda("stack", "update", "t", "-t", write("less.yaml", less))
    told = zonda("stack", "event", "list", "t", "-n", "9", "-f", "json").data
    gone = [each["path"] for each in told if each["resource_status"] == "DELETE_COMPLETE"]
    assert "middle/leaf/a" in gone


def test_events_that_are_followed(zonda: Zonda, tree: None) -> None:
    out = zonda("stack", "event", "list", "t", "-n", "2", "--follow").out
    assert "[t.middle/leaf/a]: CREATE_COMPLETE" in out
    assert "[t.middle/]: CREATE_COMPLETE  Stack CREATE completed" in out


@pytest.mark.parametrize(
    "words",
    [
        ("update", "--existing"),
        ("delete", "-y"),
        ("suspend",),
        ("check",),
        ("cancel",),
        ("cancel", "--no-rollback"),
        ("abandon", "-y", "--with-secrets"),
        ("protect",),
        ("snapshot", "create"),
        ("rollback",),
        ("retry",),
    ],
    ids=" ".join,
)
def test_an_action_on_a_nested_stack_names_the_root(
    zonda: Zonda, tree: None, words: tuple[str, ...]
) -> None:
    number = 2 if words[0] == "snapshot" else 1
    command = (*words[:number], "t/middle", *words[number:])
    told = zonda("stack", *command, code=1).err
    assert "is nested in the stack t" in told
    assert "Act on t" in told


def test_a_mark_inside_is_mended_by_the_root(zonda: Zonda, template: Path, tree: None) -> None:
    def physical(name: str) -> str:
        found = zonda("stack", "resource", "show", "t", name, "-f", "json").data
        return str(found["physical_resource_id"])

    before = physical("middle/leaf/a")
    leaf = physical("middle/leaf")
    zonda("stack", "resource", "mark", "unhealthy", "t", "middle/leaf/a", "rusty")
    shown = zonda("stack", "resource", "show", "t", "middle/leaf/a", "-f", "json").data
    assert shown["resource_status"] == "CHECK_FAILED"
    zonda("stack", "update", "t", "-t", template)
    assert physical("middle/leaf/a") != before
    assert physical("middle/leaf") == leaf


def test_a_signal_to_a_nested_resource_that_takes_none(zonda: Zonda, tree: None) -> None:
    told = zonda("stack", "resource", "signal", "t", "middle/leaf/a", code=1).err
    assert "signal is not supported for resource." in told


@pytest.mark.sqlite
def test_a_breakpoint_inside_is_listed_and_cleared(
    zonda: Zonda, template: Path, tmp_path: Path
) -> None:
    words = ["stack", "create", "t", "-t", str(template), "--pre-create", "middle/leaf/a"]
    command = [sys.executable, "-P", "-m", "zonda", *words, "--home", str(tmp_path / "home")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "paused until Hook pre-create" in line:
            assert "[t.middle/leaf/a]" in line
            break
    assert "'zonda stack hook clear t middle/leaf/a' lets it go on" in process.stderr.readline()
    assert zonda("stack", "hook", "poll", "t", "-f", "json").data == []
    (one,) = zonda("stack", "hook", "poll", "t", "--nested-depth", "2", "-f", "json").data
    assert (one["resource_name"], one["hook"]) == ("middle/leaf/a", "pre-create")
    assert one["event_time"].endswith("Z")
    process.kill()
    process.stderr.close()
    process.wait(20)
    assert "No hook is reached" in zonda("stack", "hook", "clear", "t", "middle/leaf/b", code=1).err
    assert "nope/*" in zonda("stack", "hook", "clear", "t", "*/nope/*", code=1).err
    data = zonda("stack", "why", "t", "-f", "json").data["now"]
    assert (data[0]["path"], data[0]["doing"]) == ("middle/leaf/a", "paused")
    said = zonda("stack", "hook", "clear", "t", "mid*/*/a").err
    assert "'zonda stack wait t' carries it out" in said
    zonda("stack", "wait", "t")


def test_what_happens_inside_is_told_while_a_command_runs(zonda: Zonda, template: Path) -> None:
    err = zonda("stack", "create", "t", "-t", template).err
    assert "[t.middle/leaf/a]: CREATE_COMPLETE" in err
    assert err.count("[t.middle/leaf]: CREATE_COMPLETE") == 1


def test_many_events_inside_are_not_told_one_by_one(
    zonda: Zonda, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zonda.core.cli.progress.event_line.MOST_NESTED", 2)
    err = zonda("stack", "create", "t", "-t", template, "--parameter", "fail=true", code=1).err
    lines = [line for line in err.splitlines() if "[t.middle/" in line]
    assert len(lines) == 4
    assert [line for line in lines if "FAILED" in line] == lines[2:]
    assert "zonda stack event list t --nested-depth 9" in err


@pytest.fixture
def failed(zonda: Zonda, template: Path) -> None:
    """A stack ``t`` of which the innermost has failed."""
    zonda("stack", "create", "t", "-t", template, "--parameter", "fail=true", code=1)


@pytest.mark.parametrize("words", [("t",), ("t", "middle"), ("t/middle",), ("t", "middle/leaf/a")])
def test_a_failure_is_told_down_to_what_failed(
    zonda: Zonda, failed: None, words: tuple[str, ...]
) -> None:
    (one,) = zonda("stack", "why", *words, "-f", "json").data["failures"]
    assert (one["path"], one["resource_type"]) == ("middle/leaf/a", "OS::Heat::TestResource")
    assert (Path(one["file"]).name, one["line"]) == ("leaf.yaml", 6)
    assert one["properties"]["value"] == "(hidden)"
    assert "'zonda stack retry t' tries again" in " ".join(one["advice"])


def test_a_failure_is_told_to_people_with_its_lines(zonda: Zonda, failed: None) -> None:
    out = zonda("stack", "why", "t").out
    assert "leaf.yaml:6:3: CREATE of middle/leaf/a (OS::Heat::TestResource) failed" in out
    assert "    6 |   a:" in out
    assert "leaf-secret" not in out
    assert "root-secret" not in out


def test_why_an_owner_will_be_updated(zonda: Zonda, tree: None) -> None:
    zonda("stack", "resource", "mark", "unhealthy", "t", "middle/leaf/a", "rusty")
    out = zonda("stack", "why", "t", "middle").out
    assert "middle (middle.yaml): something in its nested stack is not as it shall be" in out
    assert "middle/leaf/a (OS::Heat::TestResource): it is CHECK_FAILED (rusty" in out
    told = zonda("stack", "why", "t", "middle", "-f", "json").data["now"]
    assert [each["path"] for each in told] == ["middle", "middle/leaf/a"]


def test_why_an_owner_was_updated(zonda: Zonda, write: Write, template: Path, tree: None) -> None:
    write("leaf.yaml", LEAF.replace("default: leaf-secret", "default: other-secret"))
    zonda("stack", "update", "t", "-t", template)
    out = zonda("stack", "why", "t", "middle").out
    assert "middle/leaf/a (OS::Heat::TestResource)" in out
    assert "it was updated last because value changed" in out


def test_what_a_nested_stack_is_made_of(zonda: Zonda, write: Write, tree: None) -> None:
    shown = zonda("stack", "template", "show", "t/middle/leaf").out
    assert shown == LEAF.replace("leaf-secret", "(hidden)")
    assert zonda("stack", "template", "show", "t/middle/leaf", "--with-secrets").out == LEAF
    environment = zonda("stack", "environment", "show", "t/middle", "-f", "json").data
    assert environment["parameters"] == {"fail": False}
    files = zonda("stack", "file", "list", "t/middle", "-f", "json")
    assert "leaf-secret" not in files.out
    assert "OS::Heat::TestResource" in files.data["leaf.yaml"]


def test_the_past_of_a_nested_stack(zonda: Zonda, write: Write, template: Path, tree: None) -> None:
    write("leaf.yaml", LEAF.replace("leaf-secret", "other-secret").replace("plain", "plainer"))
    zonda("stack", "update", "t", "-t", template)
    history = zonda("stack", "history", "t/middle/leaf", "-f", "json").data
    assert [each["action"] for each in history] == ["CREATE", "UPDATE"]
    diff = zonda("stack", "diff", "t/middle/leaf").out
    assert "+  said: {value: plainer}" in diff
    assert "default: (hidden, changed)" in diff
    assert "middle" not in zonda("stack", "show", "t/middle/leaf", "--at", "1", "-f", "json").data
    for shown in (diff, zonda("stack", "diff", "t").out):
        assert "-secret" not in shown


def test_defaults_of_hidden_parameters_below_are_hidden_in_the_environment(
    zonda: Zonda, write: Write, template: Path
) -> None:
    given = write("e.yaml", "parameter_defaults: {word: given-secret}\n")
    zonda("stack", "create", "t", "-t", template, "-e", given)
    for words in (
        ("environment", "show", "t"),
        ("environment", "show", "t/middle/leaf"),
        ("file", "list", "t"),
        ("export", "t"),
        ("show", "t", "--at", "1", "-f", "json"),
    ):
        assert "given-secret" not in zonda("stack", *words).out, words
    assert "given-secret" in zonda("stack", "environment", "show", "t", "--with-secrets").out


def test_a_generated_template_without_what_came_from_secrets(zonda: Zonda, write: Write) -> None:
    root = write(
        "group.yaml",
        "heat_template_version: 2018-08-31\n"
        "parameters: {hush: {type: string, hidden: true, default: root-secret}}\n"
        "resources:\n"
        "  g:\n"
        "    type: OS::Heat::ResourceGroup\n"
        "    properties:\n"
        "      count: 1\n"
        "      resource_def:\n"
        "        type: OS::Heat::Value\n"
        "        properties: {value: {get_param: hush}}\n",
    )
    zonda("stack", "create", "t", "-t", root)
    shown = zonda("stack", "template", "show", "t/g", "-f", "json").data
    assert shown["resources"]["0"]["properties"] == {"value": "(hidden)"}
    shown = zonda("stack", "template", "show", "t/g", "-f", "json", "--with-secrets").data
    assert shown["resources"]["0"]["properties"] == {"value": "root-secret"}


def test_a_document_has_those_of_nested_stacks_in_it(zonda: Zonda, tree: None) -> None:
    leaf = zonda("stack", "show", "t/middle/leaf", "-f", "json").data
    shown = zonda("stack", "export", "t")
    assert "leaf-secret" not in shown.out
    middle = shown.data["resources"]["middle"]
    inner = middle["resources"]["leaf"]
    assert (inner["resource_id"], inner["stack_name"]) == (leaf["id"], leaf["stack_name"])
    assert inner["template"]["outputs"] == {"said": {"value": "plain"}}
    assert list(inner["resources"]) == ["a", "b"]
    assert "resources.middle.resources.leaf.resources.a.resource_data.value" in shown.data["masked"]
    assert "files" not in inner
    own = zonda("stack", "export", "t/middle/leaf").data
    assert list(own["resources"]) == ["a", "b"]


def test_abandoning_forgets_nested_stacks_and_adopting_takes_them_over(
    zonda: Zonda, template: Path, tmp_path: Path, tree: None
) -> None:
    def physical(stack: str) -> list[Any]:
        found = zonda("stack", "resource", "list", stack, "-n", "9", "-f", "json").data
        return [one["physical_resource_id"] for one in found if one["resource_name"] in "ab"]

    before, document = physical("t"), tmp_path / "t.json"
    zonda("stack", "abandon", "t", "-y", "--with-secrets", "-o", document)
    assert zonda("stack", "list", "--nested", "-f", "json").data == []
    zonda("stack", "adopt", "t", "--adopt-file", document, "-t", template)
    assert physical("t") == before


def test_a_command_that_fails_points_at_what_failed_inside(zonda: Zonda, template: Path) -> None:
    err = zonda("stack", "create", "t", "-t", template, "--parameter", "fail=true", code=1).err
    told = "resources.middle.resources.leaf.resources.a: Test Resource failed a"
    (line,) = [line for line in err.splitlines() if "error: " in line]
    assert line.endswith(f"leaf.yaml:6:3: error: ValueError: {told}")


def test_the_graph_with_what_is_nested(zonda: Zonda, tree: None) -> None:
    shallow = zonda("stack", "graph", "t", "-f", "json").data
    assert [node["name"] for node in shallow["nodes"]] == ["middle", "beside"]
    data = zonda("stack", "graph", "t", "-n", "2", "-f", "json").data
    owners = {node["name"]: node["owner"] for node in data["nodes"]}
    assert owners["middle/leaf/a"] == "middle/leaf"
    assert owners["middle"] is None
    assert ["middle/leaf/b", "middle/leaf/a"] in [
        [edge["dependant"], edge["requirement"]] for edge in data["edges"]
    ]
    lines = zonda("stack", "graph", "t", "-n", "2").out.splitlines()
    assert [line.split("(")[0].strip(" │├└─") for line in lines] == [
        "beside",
        "middle",
        "middle/leaf",
        "middle/leaf/b",
        "middle/leaf/a",
    ]
    assert "[nested in it]" in lines[2]


@pytest.mark.parametrize(
    ("form", "begins", "ends"),
    [("dot", "subgraph ", "}"), ("mermaid", "subgraph ", "end")],
)
def test_nested_stacks_are_boxes_in_pictures(
    zonda: Zonda, tree: None, form: str, begins: str, ends: str
) -> None:
    lines = [
        line.strip() for line in zonda("stack", "graph", "t", "-n", "2", "-f", form).out.split("\n")
    ]
    assert sum(line.startswith(begins) for line in lines) == 2
    assert sum(line == ends for line in lines) == 2 + (form == "dot")


def test_nested_stacks_hang_from_their_owners_in_svg(zonda: Zonda, tree: None) -> None:
    out = zonda("stack", "graph", "t", "-n", "2", "-f", "svg").out
    assert "middle/leaf has middle/leaf/b: nested in it" in out


def test_a_protected_resource_inside_keeps_the_tree_from_being_deleted(
    zonda: Zonda, tree: None
) -> None:
    zonda("stack", "protect", "t", "middle/leaf/a")
    shown = zonda("stack", "resource", "show", "t", "middle/leaf/a", "-f", "json").data
    assert shown["protected"]
    zonda("stack", "delete", "-y", "t", code=1)
    assert zonda("stack", "resource", "show", "t", "middle/leaf/a", "-f", "json").data["protected"]
    zonda("stack", "unprotect", "t", "middle/leaf/a")
    zonda("stack", "delete", "-y", "t")
    assert zonda("stack", "list", "--nested", "-f", "json").data == []


def test_waiting_for_a_nested_stack_drives_all_of_it(zonda: Zonda, template: Path) -> None:
    zonda("stack", "create", "t", "-t", template, "--no-wait")
    zonda("stack", "wait", "t")
    assert "Nothing has failed" in zonda("stack", "why", "t/middle/leaf").out


def test_a_plan_of_a_nested_stack_is_refused(zonda: Zonda, template: Path, tree: None) -> None:
    said = zonda("stack", "plan", "t/middle", "-t", template, code=1).err
    assert "is nested in the stack t" in said


def test_failures_are_listed_down_to_the_innermost(zonda: Zonda, failed: None) -> None:
    (one,) = zonda("stack", "failures", "list", "t", "-f", "json").data
    assert (one["path"], one["resource_status"]) == ("middle/leaf/a", "CREATE_FAILED")
    assert "Test Resource failed a" in one["resource_status_reason"]
    (one,) = zonda("stack", "failures", "list", "t/middle", "-f", "json").data
    assert one["path"] == "leaf/a"


def test_what_is_a_secret_in_one_nested_template_may_be_a_word_in_another(
    zonda: Zonda, write: Write, template: Path
) -> None:
    write("leaf.yaml", LEAF.replace("leaf-secret", "unset"))
    write("middle.yaml", MIDDLE.replace("false}", "false}\n  mode: {type: string, default: unset}"))
    zonda("stack", "create", "t", "-t", template)
    document = zonda("stack", "export", "t").data
    inside = document["resources"]["middle"]
    assert inside["template"]["parameters"]["mode"]["default"] == "unset"
    inside = inside["resources"]["leaf"]
    assert inside["template"]["parameters"]["word"]["default"] == "(hidden)"
    assert "default: unset}" in document["files"]["middle.yaml"]
    assert "default: (hidden)}" in document["files"]["leaf.yaml"]


def test_a_secret_that_is_repeated_leaves_a_document_readable(zonda: Zonda, write: Write) -> None:
    text = (
        "heat_template_version: 2018-08-31\n"
        "parameters: {hush: {type: string, hidden: true, default: root-secret}}\n"
        "resources:\n"
        "  a: {type: OS::Heat::Value, properties: {value: root-secret}}\n"
    )
    zonda("stack", "create", "t", "-t", write("r.yaml", text))
    for words in (("export", "t"), ("template", "show", "t", "-f", "json")):
        shown = zonda("stack", *words)
        assert "root-secret" not in shown.out
        data = shown.data.get("template", shown.data)
        assert data["resources"]["a"]["properties"]["value"] == "(hidden)"


def test_a_nested_stack_without_resources_is_drawn(zonda: Zonda, write: Write) -> None:
    write("leaf.yaml", "heat_template_version: 2018-08-31\n")
    root = "heat_template_version: 2018-08-31\nresources: {empty: {type: leaf.yaml}}\n"
    zonda("stack", "create", "t", "-t", write("r.yaml", root))
    (node,) = zonda("stack", "graph", "t", "-n", "1", "-f", "json").data["nodes"]
    assert node["name"] == "empty"
