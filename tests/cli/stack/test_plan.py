"""``stack plan``, ``stack apply``, targets and ``--dry-run`` on a real database."""

from __future__ import annotations

import io
import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Zonda = Callable[..., Any]
Write = Callable[[str, str], Path]

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  secret: {type: string, hidden: true}
resources:
  pw: {type: OS::Heat::RandomString, properties: {length: %s}}
  db: {type: OS::Heat::TestResource, properties: {value: %s}}
  map: {type: OS::Heat::Value, properties: {value: {a: {b: %s}, c: {get_attr: [db, output]}}}}
  hid: {type: OS::Heat::Value, properties: {value: {get_param: secret}}}
  use: {type: OS::Heat::Value, properties: {value: {get_resource: pw}}}
outputs:
  said: {value: {get_attr: [db, output]}}
"""


@pytest.fixture
def template(write: Write) -> Callable[..., Path]:
    def written(name: str, length: int = 8, value: str = "one", inside: int = 1) -> Path:
        return write(name, TEMPLATE % (length, value, inside))

    return written


def secret(text: str) -> str:
    return f"secret={text}"


def test_a_new_stack_is_planned_where_nothing_is_yet(
    zonda: Zonda, template: Callable[..., Path], tmp_path: Path
) -> None:
    given = ("-t", template("t.yaml"), "-P", secret("hush-hush"))
    shown = zonda("stack", "plan", "s", *given, "-f", "table")
    assert "+ pw  OS::Heat::RandomString  will be created" in shown.out
    assert "properties.value.c: (known after apply)" in shown.out
    assert "hush" not in shown.out
    assert "\x1b" not in shown.out
    assert not (tmp_path / "home").exists()


def test_the_whole_way(zonda: Zonda, template: Callable[..., Path], tmp_path: Path) -> None:
    one, two = template("one.yaml"), template("two.yaml", 9, "two", 2)
    file = tmp_path / "plan.json"
    zonda("stack", "plan", "s", "-t", one, "-P", secret("first-one"), "-o", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not (tmp_path / "home" / "zonda.db").exists()
    one.unlink()  # what it was made of is in the plan
    zonda("stack", "apply", file)
    template("one.yaml")
    same = ("stack", "plan", "s", "-t", one, "-P", secret("first-one"), "-f", "table")
    assert "Nothing to do" in zonda(*same, "--detailed-exitcode").out
    given = ("-t", two, "-P", secret("second-one"))
    other = ("stack", "plan", "s", *given, "-o", file, "-f", "table")
    shown = zonda(*other, "--detailed-exitcode", code=2).out
    assert "-/+ pw  OS::Heat::RandomString  will be replaced" in shown
    assert "~ properties.length: 8 -> 9  forces a replacement" in shown
    assert '~ properties.value: "one" -> "two"' in shown
    assert "~ properties.value.a.b: 1 -> 2" in shown
    assert "~ properties.value: (hidden)" in shown
    assert "? use  OS::Heat::Value  may be updated in place" in shown
    assert "~ said: " in shown
    for text in ("first-one", "second-one"):
        assert text not in shown + file.read_text()
    assert zonda("stack", "apply", file, "-f", "json").data["stack_status"] == "UPDATE_COMPLETE"
    assert "Nothing to do" in zonda(*other).out


def test_a_plan_that_is_out_of_date_is_refused(
    zonda: Zonda, template: Callable[..., Path], tmp_path: Path
) -> None:
    one, two = template("one.yaml"), template("two.yaml", 9)
    file = tmp_path / "plan.json"
    given = ("-P", secret("hush-hush"))
    zonda("stack", "create", "s", "-t", one, *given)
    zonda("stack", "plan", "s", "-t", two, *given, "-o", file)
    zonda("stack", "check", "s")
    refused = zonda("stack", "apply", file, code=1)
    assert "out of date" in refused.err
    assert "generation 1 then, 2 now" in refused.err
    file.write_text(file.read_text().replace("RandomString", "SomethingElse"))
    assert "changed after it was made" in zonda("stack", "apply", file, code=2).err
    assert "no plan" in zonda("stack", "apply", one, code=2).err


def test_json_is_the_documented_shape(
    zonda: Zonda, template: Callable[..., Path], tmp_path: Path
) -> None:
    given = ("-t", template("t.yaml"), "-P", secret("hush-hush"))
    file = tmp_path / "plan.json"
    shown = zonda("stack", "plan", "s", *given, "-f", "json", "-o", file).data
    kept = json.loads(file.read_text())
    assert kept.pop("sealed").startswith("sealed:")
    assert kept == shown
    document = (Path(__file__).parents[3] / "docs" / "reference" / "plan-json.md").read_text()
    missing = [key for key in shown if f"`{key}`" not in document]
    missing += [key for each in shown["resources"] for key in each if f"`{key}`" not in document]
    assert missing == []


def test_deletion_targets_and_dry_run(zonda: Zonda, template: Callable[..., Path]) -> None:
    given = ("-P", secret("hush-hush"))
    zonda("stack", "create", "s", "-t", template("one.yaml"), *given, "--exclude", "pw")
    names = [row["resource_name"] for row in _resources(zonda)]
    assert sorted(names) == ["db", "hid", "map"]
    two = template("two.yaml", value="two")
    part = ("stack", "update", "s", "-t", two, *given, "--dry-run", "--target", "map")
    shown = zonda(*part, "-f", "table").out
    assert "targets: map" in shown
    assert "with them, by what they require: db" in shown
    assert "left as they are: pw, hid, use" in shown
    zonda("stack", "update", "s", "-t", two, *given, "--target", "map")
    assert sorted(row["resource_name"] for row in _resources(zonda)) == ["db", "hid", "map"]
    zonda("stack", "update", "s", "-t", two, *given)
    assert len(_resources(zonda)) == 5
    plan = zonda("stack", "plan", "--delete", "s", "-f", "json").data
    assert plan["summary"] == {"delete": 5, "unchanged": 0}
    assert (
        "There is no resource nobody"
        in zonda("stack", "plan", "s", "-t", two, *given, "--target", "nobody", code=2).err
    )


def test_what_is_gone_from_the_template_and_not_selected_is_counted(
    zonda: Zonda, write: Write
) -> None:
    text = "heat_template_version: 2018-08-31\nresources:\n  a: {type: OS::Heat::None}\n"
    more = "  b: {type: OS::Heat::None}\n  c: {type: OS::Heat::None}\n"
    zonda("stack", "create", "s", "-t", write("t.yaml", text + more))
    plan = ("stack", "plan", "s", "-t", write("t.yaml", text), "--target", "b")
    shown = zonda(*plan, "-f", "json").data
    assert shown["selection"]["left_alone"] == ["a", "c"]
    assert shown["summary"] == {"delete": 1, "outside": 2, "unchanged": 0}


def test_a_plan_that_is_known_to_fail_is_kept_and_said_to_be_refused(
    zonda: Zonda, template: Callable[..., Path], tmp_path: Path
) -> None:
    given = ("-P", secret("hush-hush"))
    zonda("stack", "create", "s", "-t", template("one.yaml"), *given)
    zonda("stack", "protect", "s", "pw")
    file = tmp_path / "plan.json"
    plan = ("stack", "plan", "s", "-t", template("two.yaml", 9), *given, "-o", file)
    said = zonda(*plan, "--detailed-exitcode", code=1).err
    assert "known to fail, so that 'zonda stack apply' refuses it" in said
    zonda("stack", "apply", file, code=1)


@pytest.mark.sqlite
def test_a_stack_in_progress_can_be_planned_beside_what_runs(
    zonda: Zonda, template: Callable[..., Path]
) -> None:
    given = ("-t", template("t.yaml"), "-P", secret("hush-hush"))
    zonda("stack", "create", "s", *given, "--no-wait")
    shown = zonda("stack", "plan", "s", *given, "-f", "table").out
    assert "CREATE_IN_PROGRESS" in shown
    assert "overtake" in shown


def test_a_plan_is_text_in_a_pipe_and_json_where_that_is_asked_for(
    zonda: Zonda, template: Callable[..., Path]
) -> None:
    given = ("s", "-t", template("t.yaml"), "-P", secret("hush-hush"))
    asked = zonda("stack", "plan", *given, "-f", "json").data
    assert asked["zonda_plan"] == 1
    dry = zonda("stack", "create", "--dry-run", *given, "-f", "json").data
    assert dry["resources"] == asked["resources"]
    for words in (("plan",), ("create", "--dry-run")):
        assert zonda("stack", *words, *given).out.startswith("Stack s: CREATE (new)\n")
    zonda("stack", "create", *given)
    assert zonda("stack", "update", "--dry-run", *given).out.startswith("Stack s: UPDATE")
    dry = zonda("stack", "update", "--dry-run", *given, "-f", "json").data
    assert dry["does_something"] is False


class Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colours_and_nothing_from_outside_steers_it(
    zonda: Zonda, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    steering = write(
        "t.yaml",
        "heat_template_version: 2018-08-31\n"
        'resources: {r: {type: OS::Heat::Value, properties: {value: "\\e[2J\\ue001x"}}}\n',
    )
    terminal = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        patch.setenv("TERM", "xterm")
        patch.delenv("NO_COLOR", raising=False)
        zonda("stack", "plan", "s", "-t", steering)
    shown = terminal.getvalue()
    assert "\x1b[32m+ r\x1b[0m" in shown
    assert "\x1b[2J" not in shown
    assert shown.count("\x1b[31m") == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["stack", "plan", "s"], "no template to make one of", id="no template"),
        pytest.param(["stack", "plan", "s", "--delete", "-P", "a=b"], "whole stack", id="too much"),
        pytest.param(["stack", "apply", "nothing.json"], "cannot be read", id="no file"),
    ],
)
def test_wrong_use(zonda: Zonda, words: list[str], said: str) -> None:
    assert said in zonda(*words, code=2).err


def _resources(zonda: Zonda) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = zonda("stack", "resource", "list", "s", "-f", "json").data
    return found
