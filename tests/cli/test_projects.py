"""Every command finds stacks of the project of the settings only, by name and by id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli.commands import COMMANDS

TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::TestResource, properties: {value: marker}}
outputs:
  said: {value: {get_attr: [a, output]}}
"""
MINE, OTHER = ("--set", "project=mine"), ("--set", "project=other")

#: What stands behind ``zonda COMMAND STACK``.
REST: dict[str, tuple[str, ...]] = {
    "stack update": ("--existing",),
    "stack plan": ("--existing",),
    "stack delete": ("-y",),
    "stack show": ("--at", "1"),
    "stack history": (),
    "stack diff": (),
    "stack why": (),
    "stack failures list": (),
    "stack graph": (),
    "stack rollback": ("--to", "1"),
    "stack retry": (),
    "stack cancel": (),
    "stack suspend": (),
    "stack resume": (),
    "stack check": (),
    "stack wait": (),
    "stack snapshot create": (),
    "stack snapshot list": (),
    "stack snapshot show": ("first",),
    "stack snapshot delete": ("first",),
    "stack snapshot restore": ("first",),
    "stack export": (),
    "stack abandon": ("-y",),
    "stack import": ("a", "1"),
    "stack environment show": (),
    "stack template show": (),
    "stack file list": (),
    "stack output list": (),
    "stack output show": ("said",),
    "stack resource list": (),
    "stack resource show": ("a",),
    "stack resource signal": ("a",),
    "stack resource mark unhealthy": ("a",),
    "stack resource move": ("a", "b"),
    "stack hook poll": (),
    "stack hook clear": ("a",),
    "stack protect": ("a",),
    "stack unprotect": ("a",),
    "stack drift check": (),
    "stack drift show": (),
    "stack drift history": (),
    "stack drift schedule": ("15m",),
    "stack drift ignore": ("a", "--reason", "why"),
    "stack drift ignore list": (),
    "stack drift ignore remove": ("1",),
    "stack drift repair": (),
    "stack event list": (),
}
#: Those that name no stack that is there.
WITHOUT = {"stack create", "stack adopt", "stack apply", "stack list"}


@pytest.fixture
def other(zonda: Any, write: Any) -> dict[str, Any]:
    """A stack of the project ``other``, as it is listed there; there is one of ``mine``, too."""
    file: Path = write("t.yaml", TEMPLATE)
    zonda("stack", "create", "secret-name", "-t", file, *OTHER)
    zonda("stack", "snapshot", "create", "secret-name", "--name", "first", *OTHER)
    zonda("stack", "create", "web", "-t", file, *MINE)
    found: dict[str, Any] = zonda("stack", "list", "-f", "json", *OTHER).data[0]
    return found


def test_every_command_is_in_the_table() -> None:
    assert {name for name in COMMANDS if name.startswith("stack ")} == {*REST, *WITHOUT}


def test_no_command_reaches_into_another_project(zonda: Any, other: dict[str, Any]) -> None:
    for name, rest in REST.items():
        for stack in (other["Stack Name"], other["ID"]):
            done = zonda(*name.split(), stack, *rest, *MINE, code=1)
            assert "could not be found" in done.err + done.out, name
            assert "marker" not in done.err + done.out, name

    assert zonda("stack", "list", "-f", "json", *OTHER).data == [other]


def test_a_list_has_the_stacks_of_one_project(zonda: Any, other: dict[str, Any]) -> None:
    for words in ((), ("--nested",), ("--name", "e")):
        shown = zonda("stack", "list", "-f", "json", *words, *MINE)
        assert [each["Stack Name"] for each in shown.data] == ["web"]
    assert [other["Stack Name"]] == ["secret-name"]


def test_ids_of_what_is_in_another_project_mean_nothing_here(
    zonda: Any, other: dict[str, Any]
) -> None:
    def ids(*words: str) -> list[str]:
        rows = zonda("stack", *words, "secret-name", "-f", "json", *OTHER).data
        return [each.get("ID") or each["physical_resource_id"] for each in rows]

    zonda("stack", "drift", "ignore", "secret-name", "a", "--reason", "why", *OTHER)
    snapshot, ignore = ids("snapshot", "list")[0], ids("drift", "ignore", "list")[0]
    shown = zonda("stack", "resource", "show", "secret-name", "a", "-f", "json", *OTHER).data
    for words in (
        ("snapshot", "show", "web", snapshot),
        ("snapshot", "delete", "web", snapshot),
        ("snapshot", "restore", "web", snapshot),
        ("drift", "ignore", "remove", "web", ignore),
        ("resource", "show", "web", shown["physical_resource_id"]),
        ("resource", "signal", "web", shown["physical_resource_id"]),
    ):
        assert "could not be found" in zonda("stack", *words, *MINE, code=1).err
    assert ids("snapshot", "list") == [snapshot]
    assert ids("drift", "ignore", "list") == [ignore]


def test_a_plan_file_is_of_its_project(zonda: Any, write: Any, tmp_path: Path) -> None:
    file, plan = write("t.yaml", TEMPLATE), tmp_path / "plan.json"
    zonda("stack", "plan", "web", "-t", file, "-o", plan, *OTHER)
    assert "'--set project=other'" in zonda("stack", "apply", plan, *MINE, code=2).err
    assert zonda("stack", "list", "-f", "json", *MINE).data == []
    zonda("stack", "apply", plan, *OTHER)
    assert [each["Stack Name"] for each in zonda("stack", "list", "-f", "json", *OTHER).data] == [
        "web"
    ]


def test_a_project_has_a_name(zonda: Any) -> None:
    done = zonda("--set", "project= ", "stack", "list", code=2)
    assert "project: must not be empty" in done.err
