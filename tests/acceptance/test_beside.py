"""Every action of a stack by command beside a process that is the engine, on a real database."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PLUGIN = Path(__file__).parent / "plugins" / "vault.py"


@pytest.fixture
def beside(
    request: pytest.FixtureRequest, zonda: Any, tmp_path: Path, until: Callable[..., Any]
) -> Any:
    """A home whose engine is another process: of all stacks, or of one that takes long."""
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "vault.py").write_text(PLUGIN.read_text())
    notes = tmp_path / "notes"
    notes.mkdir()
    if getattr(request, "param", "engine run") == "engine run":
        zonda.start("engine", "run")
    else:
        (notes / "wait-long-create").touch()
        zonda.start("stack", "create", "other", "-t", template(tmp_path, "long"))
    lock = zonda.home / "zonda.db.lock"
    until(lambda: lock.exists() and lock.read_text().strip(), "the other process is the engine")
    return zonda


def template(folder: Path, *names: str, value: str = "one", needs: str = "") -> Path:
    """A template of vaults; the last one requires ``needs``."""
    entries = ""
    for name in names:
        given = f"{{folder: {json.dumps(str(folder / 'notes'))}, value: {value}}}"
        after = f", depends_on: {needs}" if needs and name == names[-1] else ""
        entries += f"  {name}: {{type: Test::Vault, properties: {given}{after}}}\n"
    file = folder / f"{'-'.join(names)}-{value}.yaml"
    file.write_text(f"heat_template_version: 2018-08-31\nresources:\n{entries}")
    return file


def calls(folder: Path) -> list[str]:
    """The calls that the vaults have noted since this was last asked.

    The file of the vaults is not emptied: what they add at that moment would be lost.
    """
    file, known = folder / "notes" / "calls", folder / "notes" / "known"
    found = file.read_text().splitlines() if file.exists() else []
    start = int(known.read_text()) if known.exists() else 0
    known.write_text(str(len(found)))
    return [line for line in found[start:] if not line.startswith("long ")]


def order(folder: Path, what: str, *, given: bool = True) -> None:
    """Order the vaults to fail or wait, or take that back."""
    file = folder / "notes" / what
    file.touch() if given else file.unlink()


@pytest.mark.parametrize("beside", ["engine run", "stack create"], indirect=True)
def test_undoing_and_trying_again(beside: Any, tmp_path: Path) -> None:
    zonda = beside
    zonda.run("stack", "create", "s", "-t", template(tmp_path, "a", "b", needs="a"))
    order(tmp_path, "fail-b-update")
    changed = template(tmp_path, "a", "b", value="two", needs="a")
    zonda.run("stack", "update", "s", "-t", changed, code=1)
    calls(tmp_path)
    order(tmp_path, "fail-b-update", given=False)
    zonda.run("stack", "retry", "s")
    assert calls(tmp_path) == ["b update"]
    zonda.run("stack", "rollback", "s", "--to", "1", "--skip", "a")
    assert calls(tmp_path) == ["b update"]
    assert zonda.state("s") == "ROLLBACK_COMPLETE"
    order(tmp_path, "fail-a-suspend")
    zonda.run("stack", "suspend", "s", code=1)
    zonda.run("stack", "resume", "s")
    assert calls(tmp_path) == ["b suspend", "a suspend", "a resume", "b resume"]
    order(tmp_path, "fail-a-delete")
    zonda.run("stack", "delete", "-y", "s", code=1)
    assert zonda.state("s") == "DELETE_FAILED"
    order(tmp_path, "fail-a-delete", given=False)
    zonda.run("stack", "delete", "-y", "s")
    assert calls(tmp_path) == ["b delete", "a delete", "a delete"]
    assert zonda.state("s") == ""


@pytest.mark.parametrize("beside", ["stack create"], indirect=True)
@pytest.mark.parametrize(
    ("option", "state", "names"),
    [
        pytest.param("--rollback", "ROLLBACK_COMPLETE", ["a"], id="undone"),
        pytest.param("--no-rollback", "UPDATE_FAILED", ["a", "b"], id="left"),
    ],
)
def test_a_running_update_is_cancelled(
    beside: Any,
    tmp_path: Path,
    until: Callable[..., Any],
    option: str,
    state: str,
    names: list[str],
) -> None:
    zonda = beside
    zonda.run("stack", "create", "s", "-t", template(tmp_path, "a"))
    order(tmp_path, "wait-b-create")
    update = zonda.start("stack", "update", "s", "-t", template(tmp_path, "a", "b"))
    until(lambda: "b create" in calls(tmp_path), "the creation runs")
    zonda.run("stack", "cancel", option, "--no-wait", "s")
    order(tmp_path, "wait-b-create", given=False)
    assert update.wait(60) == 1
    until(lambda: zonda.state("s") == state, f"the stack is {state}")
    assert sorted(zonda.resources("s")) == names


def test_snapshots(beside: Any, tmp_path: Path) -> None:
    zonda = beside
    zonda.run("stack", "create", "s", "-t", template(tmp_path, "a"))
    zonda.run("stack", "snapshot", "create", "s", "--name", "first")
    zonda.run("stack", "update", "s", "-t", template(tmp_path, "a", value="two"))
    calls(tmp_path)
    zonda.run("stack", "snapshot", "restore", "s", "first")
    shown = zonda.data("stack", "resource", "show", "s", "a")
    assert shown["properties"]["backup"] == "backup-one"
    zonda.run("stack", "snapshot", "delete", "s", "first")
    assert calls(tmp_path) == ["a update", "a delete backup-one"]
    assert zonda.state("s") == "RESTORE_COMPLETE"
    assert ("a", "DELETE_SNAPSHOT_COMPLETE") in zonda.events("s")


def test_giving_away_and_taking_over(beside: Any, tmp_path: Path) -> None:
    zonda, document = beside, tmp_path / "s.json"
    order(tmp_path, "fail-b-create")
    zonda.run("stack", "create", "s", "-t", template(tmp_path, "a", "b"), code=1)
    zonda.run("stack", "import", "s", "b", "gone", code=1)
    said = zonda.run("stack", "import", "s", "b", "thing").stderr
    assert 'differs from the template: value (template "one", there "what is there")' in said
    order(tmp_path, "fail-b-create", given=False)
    zonda.run("stack", "retry", "s")
    calls(tmp_path)
    zonda.run("stack", "abandon", "s", "-y", "-o", document)
    assert zonda.state("s") == ""
    zonda.run("stack", "adopt", "t", "--adopt-file", document)
    found = {name: row["physical_resource_id"] for name, row in zonda.resources("t").items()}
    assert found == {"a": "vault-a", "b": "thing"}
    assert calls(tmp_path) == []
    zonda.run("stack", "delete", "-y", "t")
    assert sorted(calls(tmp_path)) == ["a delete", "b delete"]


def test_what_is_managed_elsewhere_is_looked_at_and_left(beside: Any, tmp_path: Path) -> None:
    zonda, file = beside, tmp_path / "external.yaml"
    file.write_text(
        "heat_template_version: 2018-08-31\n"
        "resources: {a: {type: Test::Vault, external_id: thing}}\n"
    )
    zonda.run("stack", "create", "s", "-t", file)
    row = zonda.resources("s")["a"]
    assert (row["physical_resource_id"], row["resource_status"]) == ("thing", "CHECK_COMPLETE")
    zonda.run("stack", "check", "s")
    zonda.run("stack", "delete", "-y", "s")
    assert calls(tmp_path) == []


def test_an_engine_that_waits_takes_over_when_the_command_ends(
    zonda: Any, tmp_path: Path, until: Callable[..., Any]
) -> None:
    (zonda.home / "plugins").mkdir()
    (zonda.home / "plugins" / "vault.py").write_text(PLUGIN.read_text())
    (tmp_path / "notes").mkdir()
    order(tmp_path, "wait-long-create")
    command = zonda.start("stack", "create", "other", "-t", template(tmp_path, "long"))
    lock, waiting = zonda.home / "zonda.db.lock", zonda.home / "zonda.db.server-lock"
    until(lambda: lock.exists() and lock.read_text().strip() == str(command.pid), "it is at work")
    engine = zonda.start("engine", "run")
    until(lambda: waiting.exists() and waiting.read_text().strip() == str(engine.pid), "it waits")
    said = zonda.run("engine", "run", code=1).stderr
    assert f"Another engine is running for this database (process {engine.pid})." in said
    order(tmp_path, "wait-long-create", given=False)
    assert command.wait(60) == 0
    until(lambda: lock.read_text().strip() == str(engine.pid), "the engine has the lock")
    zonda.run("stack", "create", "s", "-t", template(tmp_path, "a"))
    assert engine.poll() is None


@pytest.mark.parametrize("beside", ["engine run", "stack create"], indirect=True)
def test_a_second_update_is_refused_waits_or_supersedes(
    beside: Any, tmp_path: Path, until: Callable[..., Any]
) -> None:
    zonda = beside
    holder = (zonda.home / "zonda.db.lock").read_text().strip()
    zonda.run("stack", "create", "s", "-t", template(tmp_path, "a"))
    order(tmp_path, "wait-a-update")
    first = zonda.start("stack", "update", "s", "-t", template(tmp_path, "a", value="two"))
    until(lambda: "a update" in calls(tmp_path), "the update runs")
    three = template(tmp_path, "a", value="three")
    said = zonda.run("stack", "update", "s", "-t", three, code=1).stderr
    assert "Stack s already has an action (UPDATE) in progress by" in said
    assert f"process {holder} carries it out" in said
    waits = zonda.start("stack", "update", "s", "-t", three, "--wait")
    order(tmp_path, "wait-a-update", given=False)
    assert first.wait(60) == 0
    assert waits.wait(60) == 0
    assert calls(tmp_path) == ["a update"]
    order(tmp_path, "wait-a-update")
    zonda.start("stack", "update", "s", "-t", template(tmp_path, "a", value="four"))
    until(lambda: "a update" in calls(tmp_path), "the next one runs")
    zonda.run("stack", "update", "s", "-t", three, "--supersede", "--no-wait")
    order(tmp_path, "wait-a-update", given=False)
    until(lambda: zonda.state("s") == "UPDATE_COMPLETE", "the last one has ended")
    history = zonda.data("stack", "history", "s")
    ends = [str(each) for each in history]
    assert sum("SUPERSEDED" in each for each in ends) == 1


@pytest.mark.parametrize("beside", ["engine run"], indirect=True)
def test_a_stack_is_made_in_the_project_of_the_command(beside: Any, tmp_path: Path) -> None:
    zonda, mine = beside, ("--set", "project=mine")
    file = template(tmp_path, "a")
    zonda.run("stack", "create", "s", "-t", file, *mine)
    assert zonda.state("s") == ""
    assert zonda.data("stack", "show", "s", *mine)["project"] == "mine"
    zonda.run("stack", "delete", "-y", "s", code=1)
    zonda.run("stack", "delete", "-y", "s", *mine)


def test_the_engine_tells_a_command_the_warnings(beside: Any, tmp_path: Path) -> None:
    """The command beside it need not load the template, yet says the same."""
    file = tmp_path / "odd.yaml"
    file.write_text(
        "heat_template_version: 2018-08-31\nparameters: {idle: {type: string, default: x}}\n"
    )
    told = beside.run("stack", "create", "odd", "-t", file).stderr
    assert "odd.yaml:2:14: warning: The parameter idle is used nowhere [ZON602]" in told
