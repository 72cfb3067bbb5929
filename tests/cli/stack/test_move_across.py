"""Moves into nested stacks, out of them and into groups: values keep their source."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

HEAD = "heat_template_version: 2018-08-31\n"
WORD = "{type: OS::Heat::RandomString, properties: {length: 12}}"
GROUP = (
    "  servers: {type: OS::Heat::ResourceGroup, properties: {count: COUNT, "
    "removal_policies_mode: update, removal_policies: OUT, resource_def: " + WORD + "}}\n"
)


def inner(name: str) -> str:
    thing = f"  {name}: {WORD}\n" if name else ""
    out = f"outputs: {{word: {{value: {{get_attr: [{name}, value]}}}}}}\n" if name else ""
    rest = "  rest: {type: OS::Heat::Value, properties: {value: 1}}\n"
    return f"{HEAD}resources:\n{rest}{thing}{out}"


def group(count: int, value: str, more: str = "", out: str = "[]") -> str:
    text = GROUP.replace("COUNT", str(count)).replace("OUT", out)
    return f"{HEAD}resources:\n{text}{more}outputs: {{word: {{value: {{get_attr: {value}}}}}}}\n"


def one(name: str) -> str:
    out = f"outputs: {{word: {{value: {{get_attr: [{name}, value]}}}}}}\n"
    return f"{HEAD}resources:\n  {name}: {WORD}\n{out}"


def outer(names: str, word: str, more: str = "") -> str:
    text = "".join(f"  {name}: {{type: {name}.yaml}}\n" for name in names.split())
    return f"{HEAD}resources:\n{text}{more}outputs: {{word: {{value: {{get_attr: {word}}}}}}}\n"


THING = f"  a: {WORD}\n"
#: old name, new name, files before, files after
WAYS: list[tuple[str, str, dict[str, str], dict[str, str]]] = [
    ("web", "servers.0", {"t": one("web")}, {"t": group(1, "[servers, resource.0.value]")}),
    (
        "servers.0",
        "web",
        {"t": group(2, "[servers, resource.0.value]")},
        {"t": group(1, "[web, value]", f"  web: {WORD}\n", "[{resource_list: ['0']}]")},
    ),
    (
        "servers/0",
        "servers/1",
        {"t": group(1, "[servers, resource.0.value]")},
        {"t": group(1, "[servers, resource.1.value]", "", "[{resource_list: ['0']}]")},
    ),
    (
        "nested.a",
        "a",
        {"t": outer("nested", "[nested, word]"), "nested": inner("a")},
        {"t": outer("nested", "[a, value]", THING), "nested": inner("")},
    ),
    (
        "a",
        "nested.a",
        {"t": one("a")},
        {"t": outer("nested", "[nested, word]"), "nested": inner("a")},
    ),
    (
        "nested.a",
        "other.b",
        {"t": outer("nested other", "[nested, word]"), "nested": inner("a"), "other": inner("")},
        {"t": outer("nested other", "[other, word]"), "nested": inner(""), "other": inner("b")},
    ),
]
ways = pytest.mark.parametrize(("old", "new", "before", "after"), WAYS)


def laid(write: Write, files: dict[str, str]) -> Path:
    """The files of a layout; gives the template."""
    paths = {name: write(f"{name}.yaml", text) for name, text in files.items()}
    return paths["t"]


def word(zonda: Zonda) -> str:
    value: str = zonda("stack", "output", "show", "s", "word", "--raw").out
    return value


@ways
def test_the_environment_moves_it_and_nothing_is_made_or_removed(
    zonda: Zonda, write: Write, old: str, new: str, before: dict[str, str], after: dict[str, str]
) -> None:
    zonda("stack", "create", "s", "-t", laid(write, before))
    secret = word(zonda)
    moved = write("e.yaml", f"zonda: {{moved: {{{old}: {new}}}}}\n")
    given = ("-t", laid(write, after), "-e", moved)

    plan = zonda("stack", "plan", "s", *given)
    done = zonda("stack", "update", "s", *given)

    shown = new.replace(".", "/")
    assert f"  = {shown}  moved from {old.replace('.', '/')}\n" in plan.out
    assert "moved from " + old.replace(".", "/") in done.err
    assert word(zonda) == secret
    again = zonda("stack", "update", "s", *given)
    assert "0 made, 0 changed, 0 replaced, 0 removed" in again.err
    zonda("stack", "rollback", "s", "--to", "1")
    assert word(zonda) == secret


@ways
def test_a_command_and_a_plan_file_move_it(
    zonda: Zonda,
    write: Write,
    tmp_path: Path,
    old: str,
    new: str,
    before: dict[str, str],
    after: dict[str, str],
) -> None:
    zonda("stack", "create", "s", "-t", laid(write, before))
    secret, file = word(zonda), tmp_path / "plan.json"
    zonda("stack", "resource", "move", "s", old, new)
    template = laid(write, after)
    shown = zonda("stack", "plan", "s", "-t", template, "-o", file, "-f", "json").data
    assert shown["moved"] == [{"from": old.replace(".", "/"), "name": new.replace(".", "/")}]
    zonda("stack", "apply", file)
    assert word(zonda) == secret
    assert "moved from" not in zonda("stack", "plan", "s", "-t", template).out
