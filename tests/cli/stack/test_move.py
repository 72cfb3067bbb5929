"""Moves: a resource gets another name and stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {fail: {type: boolean, default: false}, size: {type: number, default: 8}}
resources:
  WEB: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}
  use: {type: OS::Heat::TestResource, properties: {value: {get_attr: [WEB, value]}}}
  last:
    type: OS::Heat::TestResource
    depends_on: [use, WEB]
    properties: {value: {get_param: fail}, fail: {get_param: fail}}
outputs: {word: {value: {get_attr: [WEB, value]}}}
"""


@pytest.fixture
def old(write: Write) -> Path:
    return write("old.yaml", TEMPLATE.replace("WEB", "web"))


@pytest.fixture
def new(write: Write) -> Path:
    return write("new.yaml", TEMPLATE.replace("WEB", "server"))


@pytest.fixture
def moved(write: Write) -> Path:
    return write("moved.yaml", "zonda: {moved: {web: server}}\n")


def word(zonda: Zonda) -> str:
    value: str = zonda("stack", "output", "show", "s", "word", "--raw").out
    return value


def ids(zonda: Zonda) -> dict[str, str]:
    rows = zonda("stack", "resource", "list", "s", "-f", "json").data
    return {row["resource_name"]: row["physical_resource_id"] for row in rows}


def history(zonda: Zonda) -> list[Any]:
    rows = zonda("stack", "history", "s", "-f", "json").data
    return [row["detail"].get("moved") for row in rows]


def test_the_environment_moves_a_resource_and_nothing_is_made_or_removed(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    before, secret = ids(zonda), word(zonda)

    plan = zonda("stack", "plan", "s", "-t", new, "-e", moved)
    done = zonda("stack", "update", "s", "-t", new, "-e", moved)

    assert "  = server  moved from web\n" in plan.out
    assert "web  OS::Heat::RandomString" not in plan.out
    assert "0 made, 1 changed, 0 replaced, 0 removed, 2 unchanged" in done.err
    assert "[s.server]: MOVE_COMPLETE  moved from web (by " in done.err
    assert "warning" not in done.err
    assert ids(zonda) == {
        ("server" if name == "web" else name): key for name, key in before.items()
    }
    assert word(zonda) == secret
    assert history(zonda) == [None, {"web": "server"}]
    required = zonda("stack", "resource", "show", "s", "server", "-f", "json").data["required_by"]
    assert required == ["last", "use"]


def test_what_was_moved_already_is_not_moved_again_and_a_new_stack_needs_no_move(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    zonda("stack", "update", "s", "-t", new, "-e", moved)
    again = zonda("stack", "update", "s", "-t", new, "-e", moved)
    assert "0 made, 0 changed, 0 replaced, 0 removed, 3 unchanged" in again.err
    assert history(zonda)[2] is None
    zonda("stack", "create", "fresh", "-t", new, "-e", moved)


def test_several_moves_one_after_the_other_lead_to_the_last_name(
    zonda: Zonda, old: Path, new: Path, write: Write
) -> None:
    zonda("stack", "create", "s", "-t", old)
    secret = word(zonda)
    chain = write("chain.yaml", "zonda: {moved: {web: site, site: server}}\n")
    zonda("stack", "update", "s", "-t", new, "-e", chain)
    assert word(zonda) == secret


def test_names_can_be_exchanged_by_two_updates_only(zonda: Zonda, old: Path, write: Write) -> None:
    zonda("stack", "create", "s", "-t", old)
    ring = write("ring.yaml", "zonda: {moved: {web: use, use: web}}\n")
    said = zonda("stack", "update", "s", "-t", old, "-e", ring, code=2).err
    assert "would become itself again" in said
    assert f"{ring}:1:" in said


def test_what_is_moved_may_change_in_the_same_update(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    plan = zonda("stack", "plan", "s", "-t", new, "-e", moved, "-P", "size=9").out
    assert "-/+ server  OS::Heat::RandomString  will be replaced" in plan
    zonda("stack", "update", "s", "-t", new, "-e", moved, "-P", "size=9")
    assert len(word(zonda)) == 9
    assert sorted(ids(zonda)) == ["last", "server", "use"]


def test_a_failed_update_that_goes_back_gives_the_old_name_back(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    before, secret = ids(zonda), word(zonda)

    given = ("-t", new, "-e", moved, "-P", "fail=true", "--enable-rollback")
    zonda("stack", "update", "s", *given, code=1)

    assert ids(zonda)["web"] == before["web"]
    assert sorted(ids(zonda)) == ["last", "use", "web"]
    assert word(zonda) == secret
    assert history(zonda) == [None, {"web": "server"}, {"server": "web"}]
    zonda("stack", "update", "s", "-t", new, "-e", moved)
    assert (word(zonda), ids(zonda)["server"]) == (secret, before["web"])


def test_a_rollback_on_demand_gives_the_names_of_then_back(
    zonda: Zonda, old: Path, new: Path, moved: Path, write: Write
) -> None:
    zonda("stack", "create", "s", "-t", old)
    before, secret = ids(zonda), word(zonda)
    zonda("stack", "update", "s", "-t", new, "-e", moved)
    third = write("third.yaml", TEMPLATE.replace("WEB", "third"))
    zonda(
        "stack",
        "update",
        "s",
        "-t",
        third,
        "-e",
        write("m.yaml", "zonda: {moved: {server: third}}"),
    )

    refused = zonda("stack", "rollback", "s", "--to", "1", "--skip", "use", code=1)
    assert "Nothing can be skipped" in refused.err
    plan = zonda("stack", "rollback", "s", "--to", "1")
    assert "moved from third" in plan.err
    assert (ids(zonda)["web"], word(zonda)) == (before["web"], secret)
    zonda("stack", "rollback", "s", "--to", "3")
    assert (ids(zonda)["third"], word(zonda)) == (before["web"], secret)


def test_an_update_that_failed_without_going_back_can_be_rolled_back_or_retried(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    secret = word(zonda)
    zonda("stack", "update", "s", "-t", new, "-e", moved, "-P", "fail=true", code=1)
    assert sorted(ids(zonda)) == ["last", "server", "use"]
    zonda("stack", "retry", "s", code=1)
    zonda("stack", "rollback", "s")
    assert (sorted(ids(zonda)), word(zonda)) == (["last", "use", "web"], secret)


def test_a_snapshot_of_before_is_restored_with_the_names_of_then(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    before, secret = ids(zonda), word(zonda)
    snapshot = zonda("stack", "snapshot", "create", "s", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "update", "s", "-t", new, "-e", moved)
    zonda("stack", "snapshot", "restore", "s", snapshot)
    assert (ids(zonda)["web"], word(zonda)) == (before["web"], secret)


def test_a_plan_file_moves_what_it_says(
    zonda: Zonda, old: Path, new: Path, moved: Path, tmp_path: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    secret, file = word(zonda), tmp_path / "plan.json"
    shown = zonda("stack", "plan", "s", "-t", new, "-e", moved, "-o", file, "-f", "json").data
    assert shown["moved"] == [{"from": "web", "name": "server"}]
    assert shown["does_something"] is True
    zonda("stack", "apply", file)
    assert (sorted(ids(zonda)), word(zonda)) == (["last", "server", "use"], secret)


def test_a_command_moves_a_resource_with_the_next_update_that_has_the_new_name(
    zonda: Zonda, old: Path, new: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    secret = word(zonda)

    zonda("stack", "resource", "move", "s", "web", "server")
    zonda("stack", "update", "s", "-t", old)  # somebody else, with the template of before
    assert sorted(ids(zonda)) == ["last", "use", "web"]
    assert "  = server  moved from web\n" in zonda("stack", "plan", "s", "-t", new).out
    zonda("stack", "update", "s", "-t", new)

    assert (sorted(ids(zonda)), word(zonda)) == (["last", "server", "use"], secret)


def test_a_command_takes_its_word_back(zonda: Zonda, old: Path, new: Path) -> None:
    zonda("stack", "create", "s", "-t", old)
    zonda("stack", "resource", "move", "s", "web", "server")
    zonda("stack", "resource", "move", "s", "web", "--reset")
    plan = zonda("stack", "plan", "s", "-t", new).out
    assert "moved from" not in plan
    assert "+ server  OS::Heat::RandomString  will be created" in plan


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("wbe", "server"), "wbe"),
        (("web", "use"), "Resource web cannot be moved to use: that is there already."),
        (("web", "group//0"), "no name of a resource"),
        (("group/0", "web"), "group/0"),
        (("web", ""), "no name of a resource"),
    ],
)
def test_a_command_that_cannot_be_is_refused(
    zonda: Zonda, old: Path, words: tuple[str, str], said: str
) -> None:
    zonda("stack", "create", "s", "-t", old)
    assert said in zonda("stack", "resource", "move", "s", *words, code=1).err


@pytest.mark.parametrize(
    ("moved", "change", "said"),
    [
        ("web: server", ("WEB", "web"), "the template still has web."),
        ("web: sever", ("WEB", "server"), "the template has no sever."),
        (
            "web: server",
            ("WEB: {type: OS::Heat::RandomString", "server: {type: OS::Heat::Value"),
            "type",
        ),
        (
            "web: use",
            ("WEB", "other"),
            "Resource web of stack s cannot be moved to use: that is there",
        ),
        ("{web: server, last: server}", ("WEB", "server"), "another one is moved there, too"),
    ],
)
def test_an_environment_that_cannot_be_is_refused_and_nothing_is_done(
    zonda: Zonda, old: Path, write: Write, moved: str, change: tuple[str, str], said: str
) -> None:
    zonda("stack", "create", "s", "-t", old)
    before = ids(zonda)
    text = TEMPLATE.replace(*change).replace("WEB", "server")
    if "Value" in text:
        text = text.replace("{length: {get_param: size}}", "{value: {get_param: size}}")
    table = moved if moved.startswith("{") else f"{{{moved}}}"
    environment = write("e.yaml", f"zonda: {{moved: {table}}}\n")
    done = zonda("stack", "update", "s", "-t", write("t.yaml", text), "-e", environment, code=1)
    assert said in done.err
    assert ids(zonda) == before
    assert len(history(zonda)) == 1


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[web]", "must map old names to new ones"),
        ("{web: 1}", "the names of resources must be text"),
        ("{web: servers//0}", "a name is empty"),
        ("{web: web}", "would become itself again"),
    ],
)
def test_a_section_that_says_nothing_sensible_is_a_located_fault(
    zonda: Zonda, old: Path, write: Write, table: str, said: str
) -> None:
    environment = write("e.yaml", f"zonda: {{moved: {table}}}\n")
    shown = zonda("template", "validate", old, "-e", environment, code=2).err
    assert said in shown
    assert f"{environment}:1:" in shown


def test_a_part_of_a_template_moves_nothing(
    zonda: Zonda, old: Path, new: Path, moved: Path
) -> None:
    zonda("stack", "create", "s", "-t", old)
    given = ("-t", new, "-e", moved, "--target", "use")
    assert "--target" in zonda("stack", "update", "s", *given, code=1).err
    assert sorted(ids(zonda)) == ["last", "use", "web"]


@pytest.mark.sqlite
def test_a_stack_at_work_moves_nothing(zonda: Zonda, old: Path, new: Path, moved: Path) -> None:
    zonda("stack", "create", "s", "-t", old, "--no-wait")
    assert "in progress" in zonda("stack", "resource", "move", "s", "web", "server", code=1).err
    zonda("stack", "wait", "s")


def test_a_group_that_is_moved_keeps_its_members(zonda: Zonda, write: Write) -> None:
    text = """
heat_template_version: 2018-08-31
resources:
  NAME:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: OS::Heat::RandomString}}
outputs: {word: {value: {get_attr: [NAME, resource.1.value]}}}
"""
    zonda("stack", "create", "s", "-t", write("a.yaml", text.replace("NAME", "group")))
    secret = word(zonda)
    moved = write("e.yaml", "zonda: {moved: {group: members}}\n")
    new = write("b.yaml", text.replace("NAME", "members"))
    done = zonda("stack", "update", "s", "-t", new, "-e", moved)
    assert "0 made, 0 changed, 0 replaced, 0 removed, 3 unchanged" in done.err
    assert word(zonda) == secret
    assert "members/1" in zonda("stack", "resource", "list", "s", "-n", "1").out
