"""Stacks from the command line, end to end in this process: real engine, real database."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """\
heat_template_version: 2018-08-31
description: Two resources, one needs the other
parameters:
  size: {type: number, default: 1}
  word: {type: string, hidden: true, default: s3cret}
resources:
  first:
    type: OS::Heat::TestResource
    properties: {value: {get_param: size}}
  second:
    type: OS::Heat::TestResource
    properties: {value: {get_attr: [first, output]}}
outputs:
  said: {description: what was said, value: {get_attr: [second, output]}}
  hidden: {value: {get_param: word}}
"""

FAILING = """\
heat_template_version: 2018-08-31
resources:
  good: {type: OS::Heat::TestResource, properties: {value: one}}
  bad:
    type: OS::Heat::TestResource
    properties: {value: two, fail: true}
"""


@pytest.fixture
def template(write: Write) -> Path:
    return write("t.yaml", TEMPLATE)


@pytest.fixture
def web(zonda: Zonda, template: Path) -> None:
    """A stack ``web`` that is there."""
    zonda("stack", "create", "web", "-t", template)


def test_create_shows_events_and_the_stack(zonda: Zonda, template: Path) -> None:
    done = zonda("stack", "create", "web", "-t", template, "-f", "json")

    assert done.data["stack_name"] == "web"
    assert done.data["stack_status"] == "CREATE_COMPLETE"
    assert done.data["description"] == "Two resources, one needs the other"
    lines = done.err.splitlines()
    assert lines[-1].startswith("Stack web CREATE_COMPLETE in ")
    position = {
        name: next(n for n, line in enumerate(lines) if f"[{name}]: CREATE_COMPLETE" in line)
        for name in ("web.first", "web.second", "web")
    }
    assert position["web.first"] < position["web.second"] < position["web"]


@pytest.mark.usefixtures("web")
def test_what_is_there_is_listed_and_shown(zonda: Zonda) -> None:
    (row,) = zonda("stack", "list", "-f", "json").data
    assert (row["Stack Name"], row["Stack Status"]) == ("web", "CREATE_COMPLETE")

    shown = zonda("stack", "show", "web", "-f", "json").data
    assert shown["id"] == row["ID"]
    assert shown["parameters"]["size"] == 1
    assert shown["parameters"]["word"] == "(hidden)"
    assert [one["output_key"] for one in shown["outputs"]] == ["said", "hidden"]

    by_id = zonda("stack", "show", row["ID"], "-f", "value", "-c", "stack_name").out
    assert by_id == "web\n"


@pytest.mark.usefixtures("web")
def test_outputs(zonda: Zonda) -> None:
    assert zonda("stack", "output", "list", "web", "-f", "json").data == [
        {"output_key": "said", "description": "what was said"},
        {"output_key": "hidden", "description": ""},
    ]
    assert zonda("stack", "output", "show", "web", "said", "-f", "json").data == {
        "output_key": "said",
        "output_value": "1",
        "description": "what was said",
    }
    shown = zonda("stack", "output", "show", "web", "--all", "-f", "json").data
    assert {name: one["output_value"] for name, one in shown.items()} == {
        "said": "1",
        "hidden": "(hidden)",
    }


@pytest.mark.usefixtures("web")
def test_a_hidden_output_is_shown_to_who_asks_for_that(zonda: Zonda) -> None:
    asked = ("stack", "output", "show", "web", "hidden", "-f", "json")
    assert zonda(*asked).data["output_value"] == "(hidden)"
    assert zonda(*asked, "--show-hidden").data["output_value"] not in ("(hidden)", None)


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        pytest.param(("stack", "show", "nobody"), 1, "Stack (nobody)", id="stack"),
        pytest.param(("stack", "wait", "nobody"), 1, "Stack (nobody)", id="wait"),
        pytest.param(("stack", "delete", "-y", "nobody"), 1, "Stack (nobody)", id="delete"),
        pytest.param(("stack", "suspend", "nobody"), 1, "nobody", id="suspend"),
        pytest.param(("stack", "output", "show", "web", "x"), 1, "said, hidden", id="output"),
        pytest.param(("stack", "output", "show", "web"), 2, "--all", id="no-output-named"),
        pytest.param(("stack", "resource", "show", "web", "x"), 1, "x", id="resource"),
        pytest.param(
            ("resource", "type", "show", "OS::Heat::Vaule"), 1, "OS::Heat::Value", id="type"
        ),
        pytest.param(("template", "function", "list", "1999"), 1, "2018-08-31", id="version"),
        pytest.param(("stack", "delete", "web"), 2, "-y", id="delete-without-yes"),
        pytest.param(("stack", "update", "web"), 2, "--existing", id="update-without-template"),
        pytest.param(("stack", "cancel", "web"), 1, "nothing to cancel", id="nothing-to-cancel"),
        pytest.param(
            ("stack", "cancel", "--no-rollback", "web"),
            1,
            "no action in progress",
            id="nothing-to-stop",
        ),
        pytest.param(("stack", "list", "-c", "x"), 2, "Stack Name", id="column"),
    ],
)
def test_what_cannot_be_done_is_said(
    zonda: Zonda, words: tuple[str, ...], code: int, what: str
) -> None:
    assert what in zonda(*words, code=code).err


@pytest.mark.usefixtures("web")
def test_a_name_is_used_once(zonda: Zonda, template: Path) -> None:
    done = zonda("stack", "create", "web", "-t", template, code=1)

    assert "web" in done.err


@pytest.mark.usefixtures("web")
def test_resources_and_events(zonda: Zonda) -> None:
    rows = zonda("stack", "resource", "list", "web", "-f", "json").data
    assert {row["resource_name"]: row["resource_status"] for row in rows} == {
        "first": "CREATE_COMPLETE",
        "second": "CREATE_COMPLETE",
    }
    shown = zonda("stack", "resource", "show", "web", "second", "-f", "json").data
    assert shown["requires"] == ["first"]
    assert shown["properties"]["value"] == "1"

    events = zonda("stack", "event", "list", "web", "-f", "json").data
    assert events[0]["resource_status"] == "CREATE_IN_PROGRESS"
    assert events[-1]["resource_name"] == "web"
    assert events[-1]["resource_status"] == "CREATE_COMPLETE"
    last = zonda("stack", "event", "list", "web", "--limit", "1", "-f", "json").data
    assert last == events[-1:]
    first = zonda("stack", "event", "list", "web", "--resource", "first", "-f", "json").data
    assert {event["resource_name"] for event in first} == {"first"}
    followed = zonda("stack", "event", "list", "web", "--follow").out.splitlines()
    assert len(followed) == len(events)


@pytest.mark.usefixtures("web")
def test_update_changes_what_the_parameters_say(zonda: Zonda, template: Path) -> None:
    done = zonda("stack", "update", "web", "-t", template, "-P", "size=7", "-f", "json")

    assert done.data["stack_status"] == "UPDATE_COMPLETE"
    assert zonda("stack", "output", "show", "web", "said", "-f", "value").out.splitlines()[1] == "7"
    assert "CREATE_COMPLETE" not in done.err


@pytest.mark.usefixtures("web")
def test_an_existing_template_is_kept(zonda: Zonda) -> None:
    zonda("stack", "update", "web", "--existing", "--parameter", "size=3")

    assert zonda("stack", "show", "web", "-f", "json").data["parameters"]["size"] == 3


@pytest.mark.usefixtures("web")
def test_delete_leaves_nothing(zonda: Zonda) -> None:
    done = zonda("stack", "delete", "-y", "web", "web")

    assert "Stack web DELETE_COMPLETE" in done.err
    assert zonda("stack", "list", "-f", "json").data == []
    zonda("stack", "show", "web", code=1)


@pytest.mark.usefixtures("web")
def test_one_stack_that_refuses_keeps_no_other_from_its_action(
    zonda: Zonda, template: Path
) -> None:
    for name in ("one", "two"):
        zonda("stack", "create", name, "-t", template)
    zonda("stack", "protect", "one")
    done = zonda("stack", "delete", "-y", "nope", "one", "two", "none", code=1)
    for said in ("Stack (nope)", "Stack (none)", "protect", "Stack two DELETE_COMPLETE"):
        assert said in done.err
    names = [row["Stack Name"] for row in zonda("stack", "list", "-f", "json").data]
    assert names == ["web", "one"]
    assert "Stack one CHECK_COMPLETE" in zonda("stack", "check", "nope", "one", code=1).err


@pytest.mark.usefixtures("web")
def test_a_deletion_may_be_repeated(zonda: Zonda) -> None:
    key = zonda("stack", "show", "web", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "delete", "-y", "web")
    for name in ("web", key):
        done = zonda("stack", "delete", name)
        assert "Stack web was deleted at 2" in done.err
        assert "nothing to do" in done.err


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    "words",
    [
        ("stack", "show", "web"),
        ("stack", "event", "list", "web"),
        ("stack", "history", "web"),
        ("stack", "why", "web"),
        ("stack", "suspend", "web"),
        ("stack", "plan", "web", "--delete"),
    ],
    ids=" ".join,
)
def test_a_name_that_is_deleted_leads_to_its_id(zonda: Zonda, words: tuple[str, ...]) -> None:
    key = zonda("stack", "show", "web", "-f", "value", "-c", "id").out.strip()
    zonda("stack", "delete", "-y", "web")
    assert f"its id is {key}." in zonda(*words, code=1).err
    if words[1] == "suspend":
        assert "It was deleted at 2" in zonda("stack", "suspend", key, code=1).err


@pytest.mark.usefixtures("web")
def test_actions_show_the_stacks_that_they_were_for_where_that_is_asked_for(zonda: Zonda) -> None:
    for verb in ("suspend", "resume", "check"):
        done = zonda("stack", verb, "nope", "web", "-f", "json", code=1)
        assert [row["Stack Status"] for row in done.data] == [f"{verb.upper()}_COMPLETE"]
        assert "Stack (nope)" in done.err
        assert zonda("stack", verb, "web").out == ""
    (row,) = zonda("stack", "delete", "-y", "web", "-f", "json").data
    assert (row["Stack Name"], row["Stack Status"]) == ("web", "DELETE_COMPLETE")


@pytest.mark.sqlite
def test_actions_of_one_stack_show_it_where_that_is_asked_for(zonda: Zonda, template: Path) -> None:
    zonda("stack", "create", "web", "-t", template, "--no-wait")
    shown = ("-f", "value", "-c", "stack_status")
    assert zonda("stack", "cancel", "web", "--no-rollback", *shown).out == "CREATE_FAILED\n"
    assert zonda("stack", "retry", "web", *shown).out == "CREATE_COMPLETE\n"
    assert zonda("stack", "rollback", "web", "--to", "1", *shown).out == "ROLLBACK_COMPLETE\n"
    zonda("stack", "snapshot", "create", "web", "--name", "good")
    restored = zonda("stack", "snapshot", "restore", "web", "good", *shown)
    assert restored.out == "RESTORE_COMPLETE\n"
    assert "| stack_status | RESTORE" in zonda("stack", "wait", "web", "-c", "stack_status").out


REFUSED = """\
heat_template_version: 2018-08-31
resources:
  out: {type: OS::Heat::TestResource, external_id: ONE}
  pw: {type: OS::Heat::RandomString, properties: {length: SIZE}}
"""


@pytest.mark.parametrize("rollback", [(), ("--enable-rollback",)], ids=["stays", "rolled back"])
@pytest.mark.parametrize(
    ("change", "place"),
    [
        pytest.param(("ONE", "two"), "t.yaml:3:3: error: ", id="external id"),
        pytest.param(("SIZE", "9"), "t.yaml:4:", id="protected"),
    ],
)
def test_what_is_refused_before_it_begins_has_its_place(
    zonda: Zonda, write: Write, change: tuple[str, str], place: str, rollback: tuple[str, ...]
) -> None:
    changed = REFUSED.replace(*change)
    first, second = (text.replace("ONE", "one").replace("SIZE", "8") for text in (REFUSED, changed))
    zonda("stack", "create", "web", "-t", write("t.yaml", first))
    zonda("stack", "protect", "web", "pw")
    said = zonda("stack", "update", "web", "-t", write("t.yaml", second), *rollback, code=1).err
    assert place in said
    assert said.count("error: ") == 1, said


@pytest.mark.usefixtures("web")
def test_events_of_a_resource_that_never_was(zonda: Zonda) -> None:
    assert "nope" in zonda("stack", "event", "list", "web", "--resource", "nope", code=1).err


def test_several_stacks_are_deleted_at_once(zonda: Zonda, template: Path) -> None:
    for name in ("one", "two"):
        zonda("stack", "create", name, "-t", template)

    zonda("stack", "delete", "-y", "one", "two")

    assert zonda("stack", "list", "-f", "json").data == []


@pytest.mark.usefixtures("web")
def test_suspend_resume_and_check(zonda: Zonda) -> None:
    for word in ("suspend", "resume", "check"):
        done = zonda("stack", word, "web")
        assert f"Stack web {word.upper()}_COMPLETE" in done.err


def test_a_failure_names_the_line_of_the_template(zonda: Zonda, write: Write) -> None:
    template = write("bad.yaml", FAILING)

    done = zonda("stack", "create", "web", "-t", template, code=1)

    assert "Stack web CREATE_FAILED" in done.err
    assert f"{template}:4:3: error: ValueError: resources.bad: Test Resource failed" in done.err


def test_a_failure_is_rolled_back_if_asked_for(zonda: Zonda, write: Write) -> None:
    template = write("bad.yaml", FAILING)

    done = zonda("stack", "create", "web", "-t", template, "--enable-rollback", code=1)

    assert "Stack web ROLLBACK_COMPLETE" in done.err
    assert f"{template}:4:3: error: ValueError: resources.bad: Test Resource failed" in done.err


@pytest.mark.sqlite
def test_a_plan_is_carried_out_later(zonda: Zonda, template: Path) -> None:
    done = zonda("stack", "create", "web", "-t", template, "--no-wait", "-f", "json")
    assert done.data["stack_status"] == "CREATE_IN_PROGRESS"
    assert "zonda stack wait web" in done.err

    waited = zonda("stack", "wait", "web")

    assert "Stack web CREATE_COMPLETE" in waited.err
    assert zonda("stack", "output", "show", "web", "said", "-f", "json").data["output_value"] == "1"


@pytest.mark.usefixtures("web")
def test_waiting_for_an_idle_stack_ends_at_once(zonda: Zonda) -> None:
    assert zonda("stack", "wait", "web").err.startswith("Stack web CREATE_COMPLETE in ")


def test_tags_are_kept_and_found(zonda: Zonda, template: Path) -> None:
    zonda("stack", "create", "web", "-t", template, "--tags", "prod, eu", "--timeout", "7")

    shown = zonda("stack", "show", "web", "-f", "json").data
    assert shown["tags"] == ["prod", "eu"]
    assert shown["timeout_mins"] == 7
    assert len(zonda("stack", "list", "--tags", "eu", "-f", "json").data) == 1
    assert zonda("stack", "list", "--tags", "us", "-f", "json").data == []


@pytest.mark.parametrize("minutes", ["0", "-1", "x", "1.5", "525601", "9" * 20, "9" * 5000])
def test_a_timeout_is_a_number_of_minutes(zonda: Zonda, template: Path, minutes: str) -> None:
    done = zonda("stack", "create", "web", "-t", template, f"--timeout={minutes}", code=2)

    assert "number of minutes" in done.err


class Person(io.StringIO):
    """Somebody at a terminal, with answers."""

    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("web")
@pytest.mark.parametrize(
    ("answer", "code", "left"),
    [("y\n", 0, 0), ("yes\n", 0, 0), ("n\n", 1, 1), ("\n", 1, 1), ("", 1, 1)],
    ids=["y", "yes", "n", "return", "end"],
)
def test_a_person_is_asked_before_anything_is_deleted(
    zonda: Zonda, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int
) -> None:
    terminal = Person()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", Person(answer))
        patch.setattr(sys, "stderr", terminal)
        zonda("stack", "delete", "web", code=code)

    assert "Delete web" in terminal.getvalue()
    assert len(zonda("stack", "list", "-f", "json").data) == left


# -- templates that are looked at ------------------------------------------------------------


def test_validate_shows_what_a_template_declares(zonda: Zonda, template: Path) -> None:
    shown = zonda("template", "validate", "-t", template, "-f", "json").data

    assert shown["valid"] is True
    assert shown["resources"] == {
        "first": "OS::Heat::TestResource",
        "second": "OS::Heat::TestResource",
    }
    assert shown["parameters"]["size"]["type"] == "number"
    assert "s3cret" not in json.dumps(shown)


def test_validate_shows_every_fault_as_data(zonda: Zonda, write: Write) -> None:
    text = TEMPLATE.replace("get_param: size", "get_param: sizzle").replace("[first,", "[frist,")

    shown = zonda("template", "validate", write("t.yaml", text), "-f", "json", code=2).data

    assert shown["valid"] is False
    assert {error["line"] for error in shown["errors"]} == {9, 12}
    assert all(error["code"].startswith("ZON") for error in shown["errors"])


def test_validate_leaves_nothing_behind(zonda: Zonda, template: Path, tmp_path: Path) -> None:
    zonda("template", "validate", template)

    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("options", "value"),
    [
        pytest.param(["-P", "names=a,b"], ["a", "b"], id="text"),
        pytest.param(["-P", "names=a", "-P", "names=b"], ["a", "b"], id="repeated"),
        pytest.param(["-P", "names=a=b"], ["a=b"], id="equals-sign"),
        pytest.param(["--parameter-file", "names=FILE"], ["from", "file"], id="file"),
        pytest.param(["-e", "ENV"], ["env"], id="environment"),
        pytest.param(["-e", "ENV", "-P", "names=flag"], ["flag"], id="flag-beats-environment"),
    ],
)
def test_parameters_come_from(
    zonda: Zonda, write: Write, options: list[str], value: list[str]
) -> None:
    files = {
        "FILE": str(write("names.txt", "from,file")),
        "ENV": str(write("env.yaml", "parameters: {names: env}")),
    }
    template = write(
        "t.yaml",
        "heat_template_version: 2018-08-31\nparameters: {names: {type: comma_delimited_list}}\n",
    )
    words = [
        option.replace("FILE", files["FILE"]).replace("ENV", files["ENV"]) for option in options
    ]

    shown = zonda("template", "validate", template, *words, "-f", "json").data

    assert shown["parameters"]["names"]["value"] == value


@pytest.mark.parametrize("option", ["--parameter=x", "--parameter==x", "--parameter-file=x"])
def test_a_parameter_is_a_pair(zonda: Zonda, template: Path, option: str) -> None:
    assert "KEY=" in zonda("template", "validate", template, option, code=2).err


# -- plug-in files ---------------------------------------------------------------------------

DROP_IN = """
from zonda.hooks import attributes, properties, resource

class Lamp(resource.Resource):
    '''A lamp.'''
    properties_schema = {"colour": properties.Schema(properties.Schema.STRING, "Its colour.")}
    attributes_schema = {"lit": attributes.Schema("Whether it is on.")}

    def handle_create(self):
        self.resource_id_set("lamp-" + self.properties["colour"])

    def _resolve_attribute(self, name):
        return True

def resource_mapping():
    return {"My::Lamp": Lamp}
"""


def test_a_plugin_file_is_a_type_like_any_other(zonda: Zonda, write: Write) -> None:
    write("home/plugins/lamp.py", DROP_IN)
    write("home/plugins/broken.py", "import nothing_like_that")
    template = write(
        "t.yaml",
        "heat_template_version: 2018-08-31\nresources:\n"
        "  lamp: {type: My::Lamp, properties: {colour: red}}\n"
        "outputs:\n  id: {value: {get_resource: lamp}}\n  lit: {value: {get_attr: [lamp, lit]}}\n",
    )

    zonda("stack", "create", "web", "-t", template)

    shown = zonda("stack", "output", "show", "web", "--all", "-f", "json").data
    assert {name: one["output_value"] for name, one in shown.items()} == {
        "id": "lamp-red",
        "lit": True,
    }
    described = zonda("resource", "type", "show", "My::Lamp", "-f", "json").data
    assert described["description"] == "A lamp."
    listed = zonda("plugin", "list", "-f", "json", code=1)
    assert {"resource type": ["My::Lamp"]} in [row["Brings"] for row in listed.data]
    assert any("broken.py" in row["Plugin"] and row["Failures"] for row in listed.data)


ODD = TEMPLATE.replace("  word:", "  unused: {type: string, default: x}\n  word:")


@pytest.mark.parametrize("more", [(), ("--no-wait",)], ids=["wait", "no-wait"])
def test_create_and_update_warn_as_validate_does(
    zonda: Zonda, write: Write, more: tuple[str, ...]
) -> None:
    template = write("t.yaml", ODD)
    said = zonda("template", "validate", template).err.splitlines()
    assert any("ZON602" in line for line in said)
    created = zonda("stack", "create", "odd", "-t", template, *more).err
    assert all(line in created for line in said)
    if not more:
        updated = zonda("stack", "update", "odd", "-t", template).err
        assert all(line in updated for line in said)
        assert "ZON602" not in zonda("stack", "update", "odd", "--existing").err


COUNTED = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 8}
  text: {type: string, default: one}
  more: {type: boolean, default: true}
conditions: {more: {get_param: more}}
resources:
  password: {type: OS::Heat::RandomString, properties: {length: {get_param: size}}}
  shown: {type: OS::Heat::TestResource, properties: {value: {get_param: text}}}
  same: {type: OS::Heat::None}
  gone: {type: OS::Heat::None, condition: more}
  come: {type: OS::Heat::None, condition: {not: more}}
outputs:
  text: {value: {get_attr: [shown, output]}}
  map: {value: {a: [1, 2]}}
"""


def test_the_end_of_create_and_update_is_counts_time_and_outputs(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    template = write("counted.yaml", COUNTED)

    made = zonda("stack", "create", "c", "-t", template)
    given = ("-P", "size=9", "-P", "text=two", "-P", "more=false")
    changed = zonda("stack", "update", "c", "-t", template, *given)
    again = zonda("stack", "update", "c", "-t", template, *given)
    removed = zonda("stack", "delete", "-y", "c")

    last = [done.err.splitlines()[-1] for done in (made, changed, again, removed)]
    assert [re.sub(r"\d+\.\d s", "TIME", line) for line in last] == [
        "Stack c CREATE_COMPLETE in TIME: 4 made, 0 changed, 0 replaced, 0 removed, 0 unchanged",
        "Stack c UPDATE_COMPLETE in TIME: 1 made, 1 changed, 1 replaced, 1 removed, 1 unchanged",
        "Stack c UPDATE_COMPLETE in TIME: 0 made, 0 changed, 0 replaced, 0 removed, 4 unchanged",
        "Stack c DELETE_COMPLETE in TIME: 4 removed",
    ]
    assert [line.split("|")[1:3] for line in changed.out.splitlines()[3:5]] == [
        [" text       ", " two          "],
        [" map        ", " {            "],
    ]
    assert removed.out == ""


def test_what_is_left_behind_does_not_count_as_removed(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    kept = "    deletion_policy: Retain\n"
    text = "heat_template_version: 2018-08-31\nresources:\n"
    text += "".join(f"  {name}:\n    type: OS::Heat::RandomString\n{kept}" for name in "ab")
    text += "    properties: {length: 9}\n"
    text += "  c:\n    type: OS::Heat::None\n"

    zonda("stack", "create", "s", "-t", write("all.yaml", text))
    replaced = zonda("stack", "update", "s", "-t", write("new.yaml", text.replace("9", "8")))
    less = text.replace("  a:\n    type: OS::Heat::RandomString\n" + kept, "")
    updated = zonda("stack", "update", "s", "-t", write("less.yaml", less.replace("9", "8")))
    deleted = zonda("stack", "delete", "-y", "s")

    assert "0 changed, 1 replaced, 0 removed, 2 unchanged\n" in replaced.err
    assert "0 replaced, 0 removed, 2 unchanged, 1 left behind\n" in updated.err
    assert "1 removed, 1 left behind\n" in deleted.err


def test_the_end_of_a_create_tells_no_generated_password(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    text = COUNTED.replace("  map:", "  word: {value: {get_attr: [password, value]}}\n  map:")
    done = zonda("stack", "create", "c", "-t", write("t.yaml", text))

    word = zonda("stack", "output", "show", "c", "word", "--raw").out
    assert len(word) == 8
    assert word not in done.out
    assert "| word       | (hidden)     |" in done.out
    assert "'zonda stack output show c --all' shows what is sealed." in done.err


def test_the_end_of_a_failed_update_counts_what_failed_and_what_was_not_reached(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    text = COUNTED.split("outputs:")[0]
    zonda("stack", "create", "c", "-t", write("one.yaml", text))
    more = """
  bad: {type: OS::Heat::TestResource, properties: {value: x, fail: true}, depends_on: same}
  after: {type: OS::Heat::None, depends_on: bad}
"""
    done = zonda("stack", "update", "c", "-t", write("two.yaml", text + more[1:]), code=1)

    [line] = [line for line in done.err.splitlines() if line.startswith("Stack c UPDATE_FAILED")]
    assert line.endswith(
        ": 0 made, 0 changed, 0 replaced, 0 removed, 4 unchanged, 1 failed, 1 not reached"
    )
    assert done.out == ""


def test_a_rollback_counts_nothing_that_was_made_and_removed_again(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    text = "heat_template_version: 2018-08-31\nresources:\n  a: {type: OS::Heat::None}\n"
    bad = "  b: {type: OS::Heat::TestResource, depends_on: a, properties: {fail: true}}\n"
    template = write("t.yaml", text + bad)

    done = zonda("stack", "create", "c", "-t", template, "--enable-rollback", code=1)

    assert "0 made, 0 changed, 0 replaced, 0 removed, 0 unchanged" in done.err


def test_waiting_for_what_another_command_has_planned_ends_as_that_would(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    template = write("counted.yaml", COUNTED)
    planned = zonda("stack", "create", "c", "-t", template, "--no-wait")
    assert planned.out == ""

    waited = zonda("stack", "wait", "c")

    assert "4 made, 0 changed, 0 replaced, 0 removed, 0 unchanged" in waited.err
    assert "| text " in waited.out
    assert zonda("stack", "wait", "c").err.splitlines()[-1] == waited.err.splitlines()[-1]


SECRET = """
heat_template_version: 2018-08-31
parameters:
  word: {type: string, hidden: true, default: hush}
outputs:
  word: {value: {get_param: word}}
  text: {value: "a 'b' $c\\n"}
  count: {value: 3}
  list: {value: [1]}
"""


def test_a_raw_output_is_its_text_and_nothing_else(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    zonda("stack", "create", "s", "-t", write("secret.yaml", SECRET))
    raw = ("stack", "output", "show", "s", "--raw")

    assert zonda(*raw, "text").out == "a 'b' $c\n"
    assert zonda(*raw, "count").out == "3"
    assert zonda(*raw, "word", "--show-hidden").out == "hush"
    refused = zonda(*raw, "word", code=2)
    assert (refused.out, "--show-hidden" in refused.err) == ("", True)
    refused = zonda(*raw, "list", code=2)
    assert (refused.out, "-f json" in refused.err) == ("", True)
    for words in (("text", "-f", "yaml"), ("--all",), ("text", "-c", "output_key")):
        assert "--raw prints the value of one output" in str(zonda(*raw, *words, code=2))


def test_all_outputs_of_a_stack_are_variables_of_a_shell(
    zonda: Zonda, write: Callable[[str, str], Path]
) -> None:
    zonda("stack", "create", "s", "-t", write("secret.yaml", SECRET))

    shown = zonda("stack", "output", "show", "s", "--all", "-f", "shell", "--prefix", "s_").out

    assert shown == 's_word="(hidden)"\ns_text="a \'b\' \\$c\n"\ns_count="3"\ns_list="[1]"\n'


@pytest.mark.parametrize(
    "words",
    ["stack template show", "stack environment show", "stack file list", "resource type template"],
)
def test_results_that_are_yaml_without_being_asked_leave_errors_as_sentences(
    words: str, zonda: Zonda
) -> None:
    done = zonda(*words.split(), "absent", code=1)
    assert done.out == ""
    assert done.err.startswith("error: ")
