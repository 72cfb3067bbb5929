"""``zonda stack drift``: verdicts, exit codes, output, schedules, exceptions, repair."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zonda.core.cli.drift import schedule_ignore
from zonda.hooks.errors import NotFound

PLUGIN = Path(__file__).parents[2] / "acceptance" / "plugins" / "thing.py"
SECRET = "hunter2-and-more"
Zonda = Callable[..., Any]


class Things:
    """A stack ``s`` with things ``a``, ``b`` and ``c``, and something without an outside."""

    def __init__(self, zonda: Zonda, tmp_path: Path) -> None:
        self.folder = tmp_path / "things"
        self.folder.mkdir()
        plugins = tmp_path / "home" / "plugins"
        plugins.mkdir(parents=True)
        (plugins / "thing.py").write_text(PLUGIN.read_text())
        given = f"{{folder: {json.dumps(str(self.folder))}, value: one, tags: {{env: dev}}"
        entries = "".join(
            f"  {name}: {{type: Test::Thing, properties: {given}, secret: {SECRET}}}}}\n"
            for name in "abc"
        )
        self.template = tmp_path / "t.yaml"
        self.template.write_text(
            f"heat_template_version: 2018-08-31\nresources:\n{entries}"
            "  quiet: {type: 'OS::Heat::Value', properties: {value: 1}}\n"
        )
        self.calls_seen = 0

    def set(self, name: str, **values: Any) -> None:
        """Change a thing by hand."""
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **values}))

    def lose(self, name: str) -> None:
        """Remove a thing by hand."""
        (self.folder / f"{name}.json").unlink()

    def order(self, what: str) -> None:
        """Have a thing be ``unreachable-NAME``."""
        (self.folder / what).touch()

    def calls(self) -> list[str]:
        """What was done to things since the last time."""
        lines = (self.folder / "calls").read_text().splitlines()
        new, self.calls_seen = lines[self.calls_seen :], len(lines)
        return new


@pytest.fixture
def things(zonda: Zonda, tmp_path: Path) -> Things:
    made = Things(zonda, tmp_path)
    zonda("stack", "create", "s", "-t", made.template)
    made.calls()
    return made


def test_in_sync_is_0(zonda: Zonda, things: Things) -> None:
    done = zonda("stack", "drift", "check", "s", code=0)
    assert done.out == "Stack s: IN_SYNC: 4 IN_SYNC\n"
    assert things.calls() == [], "nothing but get_live_state was called"


def test_drift_is_3_whatever_else_is_unknown(zonda: Zonda, things: Things) -> None:
    things.set("a", value="two")
    things.lose("b")
    things.order("unreachable-c")
    done = zonda("stack", "drift", "check", "s", code=3)
    lines = done.out.splitlines()
    assert lines[0] == "Stack s: DRIFTED: 1 MISSING, 1 DRIFTED, 1 UNKNOWN, 1 IN_SYNC"
    assert lines[1].startswith("  MISSING     b (Test::Thing)")
    assert lines[2:4] == ["  DRIFTED     a (Test::Thing)", '      value: "one" -> "two"']
    assert lines[4].startswith("  UNKNOWN     c (Test::Thing)")
    assert "nobody answers" in lines[4]
    assert things.calls() == []


def test_cannot_tell_is_4(zonda: Zonda, things: Things) -> None:
    things.order("unreachable-c")
    zonda("stack", "drift", "check", "s", code=4)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("check",), id="no-stack"),
        pytest.param(("schedule", "s", "now and then"), id="no-schedule"),
        pytest.param(("schedule", "s", "--policy", "pray"), id="no-policy"),
        pytest.param(("ignore", "s", "a"), id="no-reason"),
        pytest.param(("ignore", "s", "a", "--reason", " "), id="empty-reason"),
        pytest.param(("ignore", "s", "a.valeu", "--reason", "x"), id="no-property"),
        pytest.param(("ignore", "s", "a", "--reason", "x", "--until", "soon"), id="no-date"),
        pytest.param(("ignore", "s", "a", "--reason", "x", "--until", "2001-01-01"), id="over"),
        pytest.param(("ignore", "s", "a", "--reason", "x", "--until", "999999w"), id="too-far"),
    ],
)
def test_what_is_wrong_usage_is_2(zonda: Zonda, things: Things, words: tuple[str, ...]) -> None:
    zonda("stack", "drift", *words, code=2)


def test_what_is_not_there_is_1(zonda: Zonda, things: Things) -> None:
    zonda("stack", "drift", "check", "other", code=1)
    assert "could not be found" in zonda("stack", "drift", "check", "s", "d", code=1).err


def test_what_is_only_missing_is_called_so_by_all(zonda: Zonda, things: Things) -> None:
    things.lose("b")
    assert "Stack s: MISSING:" in zonda("stack", "drift", "check", "s", code=3).out
    assert "Stack s: MISSING:" in zonda("stack", "drift", "show", "s").out
    assert zonda("stack", "drift", "show", "s", "-f", "json").data["verdict"] == "MISSING"


def test_a_part_is_looked_at(zonda: Zonda, things: Things) -> None:
    things.set("a", value="two")
    zonda("stack", "drift", "check", "s", "b", code=0)
    shown = zonda("stack", "drift", "show", "s", "-f", "json").data
    verdicts = {each["resource"]: each["verdict"] for each in shown["resources"]}
    assert (verdicts["a"], verdicts["b"]) == ("NOT_CHECKED", "IN_SYNC")
    zonda("stack", "drift", "check", "s", "a", code=3)


def test_data_for_programs(zonda: Zonda, things: Things) -> None:
    things.set("a", tags={"env": "prod"}, secret="other")
    found = zonda("stack", "drift", "check", "s", "-f", "json", code=3).data
    assert found["status"] == "COMPLETE"
    assert found["verdict"] == "DRIFTED"
    assert found["counts"]["DRIFTED"] == 1
    [finding] = found["findings"]
    assert finding["resource"] == "a"
    hidden, tags = sorted(finding["differences"], key=lambda each: each["property"])
    assert hidden == {
        "property": "secret",
        "template": "(hidden)",
        "live": "(hidden)",
        "hidden": True,
        "ignored": "",
    }
    assert (tags["property"], tags["template"], tags["live"]) == ("tags.env", "dev", "prod")


def test_no_hidden_value_is_told(zonda: Zonda, things: Things, tmp_path: Path) -> None:
    things.set("a", secret="found-by-hand")
    said = zonda("stack", "drift", "check", "s", code=3)
    assert "secret: differs (hidden)" in said.out
    texts = [said.out, said.err]
    for words in (
        ("drift", "show", "s"),
        ("drift", "show", "s", "-f", "json"),
        ("event", "list", "s"),
    ):
        texts.append(zonda("stack", *words).out)
    texts.append(zonda("stack", "drift", "repair", "s").err)
    known = "".join(texts)
    assert SECRET not in known
    assert "found-by-hand" not in known
    files = (tmp_path / "home").glob("zonda.db*")
    stored = b"".join(file.read_bytes() for file in files)
    assert SECRET.encode() not in stored
    assert b"found-by-hand" not in stored


def test_show_tells_what_was_seen_last_without_looking(zonda: Zonda, things: Things) -> None:
    assert "never checked" in zonda("stack", "drift", "show", "s").out
    things.set("a", value="two")
    zonda("stack", "drift", "check", "s", code=3)
    things.set("a", value="three")
    done = zonda("stack", "drift", "show", "s")
    assert '      value: "one" -> "two"' in done.out
    zonda("stack", "drift", "show", "s", "--detailed-exitcode", code=3)
    assert "DRIFTED" in zonda("stack", "drift", "show", "s", "a").out
    shown = zonda("stack", "drift", "show", "s", "b").out.splitlines()
    assert shown[-2].endswith("b (Test::Thing)")
    (thing,) = zonda("stack", "drift", "show", "s", "b", "-f", "json").data["resources"]
    assert thing["not_observed"] == ["folder"]
    assert shown[-1].strip() == "not observed: folder"


def test_history_and_an_earlier_check(zonda: Zonda, things: Things) -> None:
    things.set("a", value="two")
    zonda("stack", "drift", "check", "s", code=3)
    things.set("a", value="one")
    zonda("stack", "drift", "check", "s")
    rows = zonda("stack", "drift", "history", "s", "-f", "json").data
    assert [(row["cause"], row["verdict"]) for row in rows] == [
        ("command", "DRIFTED"),
        ("command", "IN_SYNC"),
    ]
    again = zonda("stack", "drift", "show", "s", "--check", rows[0]["id"])
    assert '"one" -> "two"' in again.out
    assert "IN_SYNC" in zonda("stack", "drift", "history", "s", "--limit", "1").out


def test_a_check_is_shown_by_the_beginning_of_its_id_and_not_all_are_read(
    zonda: Zonda, things: Things, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        zonda("stack", "drift", "check", "s")
    first, second = (
        row["id"] for row in zonda("stack", "drift", "history", "s", "-f", "json").data
    )
    same = next(
        at for at, (one, other) in enumerate(zip(first, second, strict=True)) if one != other
    )
    monkeypatch.delattr("zonda.core.store.read.drift.DriftReads.drift_checks")
    shown = zonda("stack", "drift", "show", "s", "--check", second[: same + 1], "-f", "json")
    assert (second in shown.out, first in shown.out) == (True, False)
    for unclear in (first[:same], "no-such", f"{second}0", "z"):
        done = zonda("stack", "drift", "show", "s", "--check", unclear, code=1)
        assert "'zonda stack drift history s' lists them" in done.err


def test_stack_show_tells_the_verdict_until_the_stack_is_changed(
    zonda: Zonda, things: Things
) -> None:
    def shown() -> str:
        return str(zonda("stack", "show", "s", "-f", "json").data["drift_verdict"])

    assert shown() == "NOT_CHECKED"
    zonda("stack", "drift", "check", "s")
    assert shown() == "IN_SYNC"
    zonda("stack", "check", "s")
    assert shown() == "NOT_CHECKED"


def test_schedules(zonda: Zonda, things: Things) -> None:
    done = zonda("stack", "drift", "schedule", "s", "15m", "-f", "json")
    assert (done.data["drift_schedule"], done.data["drift_policy"]) == ("15m", "report")
    assert "zonda engine run" in done.err
    zonda("stack", "drift", "schedule", "s", "--policy", "repair")
    fields = zonda("stack", "show", "s", "-f", "json").data
    assert (fields["drift_schedule"], fields["drift_policy"]) == ("15m", "repair")
    zonda("stack", "drift", "schedule", "s", "off")
    assert zonda("stack", "drift", "schedule", "s", "-f", "json").data["drift_policy"] == "OFF"


def test_a_schedule_with_a_creation_and_an_update(
    zonda: Zonda, things: Things, write: Callable[[str, str], Path]
) -> None:
    file = write("quiet.yaml", "heat_template_version: 2018-08-31\n")
    options = ("--drift-schedule", "*/15 * * * *", "--drift-policy", "repair")
    zonda("stack", "create", "t", "-t", file, *options)
    shown = zonda("stack", "drift", "schedule", "t", "-f", "json").data
    assert (shown["drift_schedule"], shown["drift_policy"]) == ("*/15 * * * *", "repair")
    zonda("stack", "update", "t", "-t", file)
    shown = zonda("stack", "drift", "schedule", "t", "-f", "json").data
    assert shown["drift_schedule"] == "*/15 * * * *", "an update that says nothing keeps it"
    zonda("stack", "update", "t", "-t", file, "--drift-schedule", "1h")
    assert zonda("stack", "show", "t", "-f", "json").data["drift_schedule"] == "1h"
    zonda("stack", "create", "u", "-t", file, "--drift-schedule", "sometimes", code=2)


def test_what_is_ignored_is_in_sync_and_still_listed(zonda: Zonda, things: Things) -> None:
    things.set("a", value="two")
    zonda("stack", "drift", "ignore", "s", "a.value", "--reason", "by hand", "--until", "30d")
    done = zonda("stack", "drift", "check", "s", code=0)
    assert "IGNORED" in done.out
    assert "by hand" in done.out
    [row] = zonda("stack", "drift", "ignore", "list", "s", "-f", "json").data
    assert (row["Resource"], row["Property"], row["Reason"]) == ("a", "value", "by hand")
    assert row["Until"]
    zonda("stack", "drift", "ignore", "remove", "s", row["ID"])
    zonda("stack", "drift", "check", "s", code=3)


def test_repair_puts_right_what_has_drifted_and_nothing_else(zonda: Zonda, things: Things) -> None:
    things.set("a", value="two")
    things.lose("b")
    things.order("unreachable-c")
    zonda("stack", "drift", "check", "s", code=3)
    zonda("stack", "drift", "repair", "s")
    assert sorted(things.calls()) == ["a update value", "b create"]
    (things.folder / "unreachable-c").unlink()
    zonda("stack", "drift", "check", "s", code=0)


def test_a_repair_can_be_seen_first(zonda: Zonda, things: Things) -> None:
    things.set("a", value="two", secret="found-by-hand")
    things.lose("b")
    things.order("unreachable-c")
    zonda("stack", "drift", "check", "s", code=3)
    done = zonda("stack", "drift", "repair", "s", "--plan", "-f", "json", code=3)
    planned = done.data
    assert "nobody answers" in done.err, "what cannot be told is said beside the plan"
    doing = {each["name"]: each["action"] for each in planned["resources"]}
    assert (doing["a"], doing["b"]) == ("update", "replace")
    assert doing.get("c", "none") == "none"
    shown = zonda("stack", "drift", "repair", "s", "--plan", "-f", "table", code=3).out
    assert '~ properties.value: "two" -> "one"' in shown
    assert SECRET not in shown + json.dumps(planned)
    assert "found-by-hand" not in shown + json.dumps(planned)
    assert things.calls() == [], "a plan does nothing"
    rows = zonda("stack", "drift", "history", "s", "-f", "json").data
    assert [row["cause"] for row in rows] == ["command"], "nor does it leave anything"


def test_a_plan_of_a_repair_ends_as_a_check_does(zonda: Zonda, things: Things) -> None:
    plan = ("stack", "drift", "repair", "s", "--plan")
    zonda(*plan, code=0)
    things.order("unreachable-c")
    done = zonda(*plan, code=4)
    assert "of 1 nobody can tell" in done.err
    assert "UNKNOWN     c (Test::Thing)" in done.err
    things.lose("b")
    zonda(*plan, code=3)
    zonda(*plan, "b", code=3)
    zonda("stack", "drift", "repair", "s", "a", "--plan", code=0)
    zonda("stack", "drift", "ignore", "s", "b", "--reason", "on purpose")
    zonda(*plan, "b", code=0)
    zonda(*plan, code=4)


def test_a_plan_says_what_of_a_part_that_is_ignored_cannot_be_repaired(
    zonda: Zonda, things: Things
) -> None:
    things.set("a", tags="none at all")
    zonda("stack", "drift", "ignore", "s", "a.tags.env", "--reason", "the cost team")
    done = zonda("stack", "drift", "repair", "s", "--plan", "-f", "json", code=3)
    [note] = [each for each in done.data["notes"] if each.startswith("a: ")]
    assert "a repair leaves tags alone" in note
    assert "a repair leaves tags alone" in done.err


def test_nothing_to_repair_is_4_where_nobody_can_tell(zonda: Zonda, things: Things) -> None:
    things.order("unreachable-c")
    done = zonda("stack", "drift", "repair", "s", code=4)
    assert "nothing that could be looked at needs a repair; of 1 nobody can tell" in done.err
    assert things.calls() == []


def test_what_has_drifted_and_is_left_alone_is_3(zonda: Zonda, things: Things) -> None:
    things.set("a", tags="none at all")
    things.order("unreachable-c")
    zonda("stack", "drift", "ignore", "s", "a.tags.env", "--reason", "the cost team")
    done = zonda("stack", "drift", "repair", "s", code=3)
    assert "Stack s: nothing was repaired; what has drifted is left alone: a." in done.err
    assert "a repair leaves tags alone" in done.err
    assert "there is nothing to repair" not in done.err
    assert things.calls() == []


def test_a_repair_looks_again_whatever_the_last_check_has_said(
    zonda: Zonda, things: Things
) -> None:
    zonda("stack", "drift", "check", "s")
    things.set("a", value="two")
    zonda("stack", "drift", "repair", "s")
    assert things.calls() == ["a update value"]


def test_where_nothing_has_drifted_nothing_is_repaired(zonda: Zonda, things: Things) -> None:
    done = zonda("stack", "drift", "repair", "s")
    assert "there is nothing to repair" in done.err
    assert things.calls() == []


@pytest.mark.parametrize(
    ("what", "path", "name"),
    [
        pytest.param("web", "web", "", id="resource"),
        pytest.param("web.tags", "web", "tags", id="property"),
        pytest.param("web.tags.env", "web", "tags.env", id="inside-a-property"),
        pytest.param("web.1", "web.1", "", id="dot-in-a-name"),
        pytest.param("web.1.tags", "web.1", "tags", id="dot-in-a-name-and-property"),
        pytest.param("group/0.tags", "group/0", "tags", id="nested"),
        pytest.param("group/*.tags", "group/*", "tags", id="pattern"),
        pytest.param("group/*", "group/*", "", id="pattern-alone"),
    ],
)
def test_a_resource_and_its_property_are_told_apart(what: str, path: str, name: str) -> None:
    paths = ["web", "web.1", "group", "group/0"]
    assert schedule_ignore.split_property(what, paths) == (path, name)


def test_a_resource_that_is_not_there_cannot_be_ignored() -> None:
    with pytest.raises(NotFound, match="wep"):
        schedule_ignore.split_property("wep.tags", ["web"])


def test_the_environment_may_say_it_all(
    zonda: Zonda, things: Things, write: Callable[[str, str], Path]
) -> None:
    environment = write(
        "drift.yaml",
        "zonda:\n  drift:\n    schedule: 1h\n    policy: repair\n    ignore:\n"
        "      - {resource: a, property: value, until: 2999-01-01, reason: by hand}\n",
    )
    zonda("stack", "update", "s", "-t", things.template, "-e", environment)
    shown = zonda("stack", "show", "s", "-f", "json").data
    assert (shown["drift_schedule"], shown["drift_policy"]) == ("1h", "repair")
    [row] = zonda("stack", "drift", "ignore", "list", "s", "-f", "json").data
    assert (row["ID"], row["Resource"], row["By"]) == ("", "a", "environment")
    things.set("a", value="two")
    zonda("stack", "drift", "check", "s", code=0)
    zonda("stack", "drift", "schedule", "s", "2h")
    zonda("stack", "update", "s", "-t", things.template, "-e", environment)
    assert zonda("stack", "show", "s", "-f", "json").data["drift_schedule"] == "2h"


def test_why_tells_of_drift(zonda: Zonda, things: Things) -> None:
    assert zonda("stack", "why", "s", "-f", "json").data["drift"] == []
    things.set("a", value="two")
    zonda("stack", "drift", "check", "s", code=3)
    assert '      value: "one" -> "two"' in zonda("stack", "why", "s", "a").out
    assert "DRIFTED" not in zonda("stack", "why", "s", "b").out
    [told] = zonda("stack", "why", "s", "-f", "json").data["drift"]
    assert (told["resource"], told["verdict"]) == ("a", "DRIFTED")
