"""``examples/workflow-type``: a type that a manifest declares, through its whole life."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "workflow-type"


@pytest.fixture
def here(zonda: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the example, with the service running beside it."""
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLE, folder)
    with (folder / "disks.py").open("a") as script:  # notes what was done
        script.write('    with open("log", "a") as log:\n        print(sys.argv[1], file=log)\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    zonda.serve(folder / "workflows.yaml")
    return folder


def disks(folder: Path) -> list[dict[str, Any]]:
    """What the storage has, by label."""
    found = [json.loads(path.read_text()) for path in (folder / "disks").glob("*.json")]
    return sorted(found, key=lambda disk: str(disk["labels"]))


def given(here: Path, *more: str) -> tuple[str, ...]:
    """Template, environment and parameters of the example."""
    said = [f"directory={here / 'disks'}", *more]
    words = (word for each in said for word in ("--parameter", each))
    return ("-t", str(here / "template.yaml"), "-e", str(here / "environment.yaml"), *words)


def test_the_type_passes_its_check(zonda: Any) -> None:
    zonda.run("plugin", "check", EXAMPLE / "disk.yaml")


def test_the_example_through_its_life(zonda: Any, here: Path) -> None:
    zonda.run("stack", "create", "store", *given(here))
    assert [(disk["size"], disk["pool"]) for disk in disks(here)] == [(10, "fast")] * 2
    outputs = zonda.outputs("store")
    assert outputs["summary"] == "fast 10 GB"
    assert outputs["of_the_server"] == "fast 10 GB"
    path = Path(outputs["path"])
    assert json.loads(path.read_text())["labels"] == {"for": "data"}

    zonda.run("stack", "update", "store", *given(here, "size=20"))
    assert json.loads(path.read_text())["size"] == 20

    zonda.run("stack", "update", "store", *given(here, "size=20", "pool=large"))
    assert not path.exists()
    assert sorted(disk["pool"] for disk in disks(here)) == ["fast", "large"]

    zonda.run("stack", "delete", "store", "--yes")
    assert disks(here) == []


def test_a_plan_tells_what_changes_and_why_it_is_replaced(zonda: Any, here: Path) -> None:
    zonda.run("stack", "create", "store", *given(here))
    said = zonda.run("stack", "plan", "store", *given(here, "size=20")).stdout
    assert "10" in said
    assert "20" in said
    assert "update" in said
    said = zonda.run("stack", "plan", "store", *given(here, "pool=large")).stdout
    assert "replace" in said
    assert "pool" in said
    assert "correct horse" not in said


def test_what_was_changed_by_hand_fails_the_check_and_is_put_right(zonda: Any, here: Path) -> None:
    zonda.run("stack", "create", "store", *given(here))
    path = Path(zonda.outputs("store")["path"])
    path.write_text(json.dumps({**json.loads(path.read_text()), "size": 11}))
    failed = zonda.run("stack", "check", "store", code=1)
    assert "size (template 10, there 11)" in failed.stdout + failed.stderr
    zonda.run("stack", "update", "store", *given(here))
    assert json.loads(path.read_text())["size"] == 10
    zonda.run("stack", "check", "store")


def test_a_manifest_that_is_gone_still_deletes(zonda: Any, here: Path) -> None:
    types = zonda.home / "types"
    types.mkdir(parents=True)
    shutil.copy(here / "disk.yaml", types)
    template = here / "server.yaml"
    directory = f"directory={here / 'disks'}"
    zonda.run("stack", "create", "store", "-t", template, "--parameter", directory)
    assert len(disks(here)) == 1
    (types / "disk.yaml").unlink()
    zonda.run("stack", "delete", "store", "--yes")
    assert disks(here) == []


def test_what_exists_is_imported_and_looked_at(zonda: Any, here: Path) -> None:
    disk = here / "disks" / "found.json"
    disk.parent.mkdir()
    disk.write_text(json.dumps({"size": 12, "pool": "fast", "labels": {}, "check": ""}))
    adopted = {"resources": {"disk": {"resource_id": str(disk)}}}
    file = here / "adopt.json"
    file.write_text(json.dumps({**adopted, "action": "CREATE", "status": "COMPLETE"}))
    directory = f"directory={disk.parent}"
    words = ("-t", here / "server.yaml", "-e", here / "environment.yaml", "--parameter", directory)
    zonda.run("stack", "adopt", "store", *words, "--adopt-file", file)
    assert zonda.outputs("store")["disk"] == str(disk)
    shown = zonda.data("stack", "resource", "show", "store", "disk")
    assert "size (template 10, there 12)" in shown["resource_status_reason"]
    zonda.run("stack", "delete", "store", "--yes")
    assert not disk.exists()


def test_drift_is_found_shown_and_repaired(zonda: Any, here: Path) -> None:
    zonda.run("stack", "create", "store", *given(here))
    zonda.run("stack", "drift", "check", "store")
    path = Path(zonda.outputs("store")["path"])
    was = path.read_text()
    path.write_text(json.dumps({**json.loads(was), "size": 11, "labels": {"for": "nobody"}}))
    (here / "log").unlink()
    zonda.run("stack", "drift", "check", "store", code=3)
    assert (here / "log").read_text() == "look\nlook\n"
    shown = zonda.run("stack", "drift", "show", "store").stdout
    assert "size" in shown
    assert "11" in shown
    assert "labels" in shown
    zonda.run("stack", "drift", "repair", "store")
    assert json.loads(path.read_text()) == json.loads(was)
    zonda.run("stack", "drift", "check", "store")

    path.unlink()
    zonda.run("stack", "drift", "check", "store", code=3)
    assert "MISSING" in zonda.run("stack", "drift", "show", "store").stdout
    zonda.run("stack", "drift", "repair", "store")
    assert len(disks(here)) == 2
    zonda.run("stack", "drift", "check", "store")
