"""Drift by command, alone and beside a process that is the engine, on a real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PLUGIN = Path(__file__).parent / "plugins" / "thing.py"


@pytest.fixture
def things(tmp_path: Path) -> Path:
    """Where the things are."""
    folder = tmp_path / "things"
    folder.mkdir()
    return folder


@pytest.fixture(params=["alone", "beside"])
def drifting(
    request: pytest.FixtureRequest, zonda: Any, until: Callable[..., Any], things: Path
) -> Any:
    """A home where the commands are the engine themselves, or another process is."""
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "thing.py").write_text(PLUGIN.read_text())
    if request.param == "beside":
        serve(zonda, until)
    return zonda


def serve(zonda: Any, until: Callable[..., Any]) -> Any:
    """The long-running process, once it is the engine."""
    process = zonda.start("serve", "--no-api")
    lock = zonda.home / "zonda.db.lock"
    until(lambda: lock.exists() and lock.read_text().strip() == str(process.pid), "it runs")
    return process


def template(things: Path, *names: str) -> Path:
    """A template of things, of which one is nested."""
    given = f"{{folder: {json.dumps(str(things))}, value: one}}"
    entries = "".join(f"  {name}: {{type: Test::Thing, properties: {given}}}\n" for name in names)
    file = things.parent / f"{'-'.join(names)}.yaml"
    file.write_text(
        f"heat_template_version: 2018-08-31\nresources:\n{entries}"
        "  group:\n    type: OS::Heat::ResourceGroup\n    properties:\n      count: 1\n"
        f"      resource_def: {{type: Test::Thing, properties: {given}}}\n"
    )
    return file


def change(things: Path, name: str, value: str) -> None:
    """Change a thing by hand."""
    (things / f"{name}.json").write_text(json.dumps({"value": value, "tags": {}, "secret": ""}))


def calls(things: Path) -> list[str]:
    """What was done to things so far; forgotten then."""
    file = things / "calls"
    found = file.read_text().splitlines()
    file.write_text("")
    return found


def test_the_whole_way(drifting: Any, things: Path) -> None:
    zonda = drifting
    zonda.run("stack", "create", "s", "-t", template(things, "a", "b"))
    calls(things)
    zonda.run("stack", "drift", "check", "s", code=0)
    change(things, "a", "two")
    change(things, "0", "two")
    (things / "b.json").unlink()
    found = json.loads(zonda.run("stack", "drift", "check", "s", "-f", "json", code=3).stdout)
    assert {each["resource"]: each["verdict"] for each in found["findings"]} == {
        "a": "DRIFTED",
        "b": "MISSING",
        "group/0": "DRIFTED",
    }
    assert calls(things) == []
    plan = ("stack", "drift", "repair", "s", "--plan", "-f", "table")
    planned = zonda.run(*plan, code=3).stdout
    assert '~ properties.value: "two" -> "one"' in planned
    assert calls(things) == []
    zonda.run("stack", "drift", "repair", "s")
    assert sorted(calls(things)) == ["0 update value", "a update value", "b create"]
    zonda.run("stack", "drift", "check", "s", code=0)
    change(things, "a", "three")
    zonda.run("stack", "drift", "ignore", "s", "a.value", "--reason", "by hand")
    zonda.run("stack", "drift", "check", "s", code=0)
    [row] = zonda.data("stack", "drift", "ignore", "list", "s")
    zonda.run("stack", "drift", "ignore", "remove", "s", row["ID"])
    zonda.run("stack", "drift", "check", "s", "a", code=3)
    zonda.run("stack", "drift", "check", "s/group", code=0)
    (things / "unreachable-group").touch()
    (things / "unreachable-0").touch()
    zonda.run("stack", "drift", "check", "s", "b", "group", code=4)
    verdicts = [row["verdict"] for row in zonda.data("stack", "drift", "history", "s")]
    assert len(verdicts) == 8
    assert (verdicts[0], verdicts[-1]) == ("IN_SYNC", "UNKNOWN")


def test_a_second_check_is_refused_and_names_the_first(
    zonda: Any, until: Callable[..., Any], things: Path
) -> None:
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "thing.py").write_text(PLUGIN.read_text())
    serve(zonda, until)
    zonda.run("stack", "create", "s", "-t", template(things, "a"))
    (things / "slow-a").touch()
    first = zonda.start("stack", "drift", "check", "s")

    def running() -> Any:
        rows = zonda.data("stack", "drift", "history", "s")
        return rows and rows[-1]["status"] == "RUNNING" and rows[-1]["id"]

    key = until(running, "the check runs")
    assert key in zonda.run("stack", "drift", "check", "s", code=1).stderr
    (things / "slow-a").unlink()
    assert first.wait(30) == 0


def test_a_check_whose_engine_is_killed_is_begun_again(
    zonda: Any, until: Callable[..., Any], things: Path
) -> None:
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "thing.py").write_text(PLUGIN.read_text())
    engine = serve(zonda, until)
    zonda.run("stack", "create", "s", "-t", template(things, "a"))
    (things / "slow-a").touch()
    command = zonda.start("stack", "drift", "check", "s")
    until(lambda: zonda.data("stack", "drift", "history", "s"), "the check runs")
    engine.kill()
    engine.wait()

    def statuses() -> list[str]:
        return [row["status"] for row in zonda.data("stack", "drift", "history", "s")]

    until(lambda: statuses() == ["INTERRUPTED", "RUNNING"], "the command looks itself")
    (things / "slow-a").unlink()
    assert command.wait(60) == 0
    assert statuses() == ["INTERRUPTED", "COMPLETE"]


def test_a_schedule_fires_in_the_long_running_process_and_sinks_are_told(
    zonda: Any, until: Callable[..., Any], things: Path
) -> None:
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "thing.py").write_text(PLUGIN.read_text())
    log = zonda.home / "drift.jsonl"
    zonda.configure(f'[sinks.log]\nkind = "log"\nfile = "{log}"\nevents = ["DRIFT"]\n')
    zonda.run("stack", "create", "s", "-t", template(things, "a"), "--drift-schedule", "10")
    change(things, "a", "two")
    assert zonda.data("stack", "drift", "history", "s") == [], "a short command fires none"
    serve(zonda, until)
    until(lambda: log.exists() and "drift_drifted" in log.read_text(), "the log tells of it")
    told = [json.loads(line) for line in log.read_text().splitlines()]
    drifted = [each["data"] for each in told if each["type"] == "resource.drift_drifted"]
    assert [each["path"] for each in drifted] == ["a"]
    rows = zonda.data("stack", "drift", "history", "s")
    assert {row["cause"] for row in rows} == {"schedule"}
