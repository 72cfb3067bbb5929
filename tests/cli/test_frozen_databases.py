"""A database of any release, and of main since schema 0014, is upgraded in place and goes on."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from zonda.core.store.schema.version import HEAD

pytestmark = pytest.mark.sqlite  # files of older releases

FROZEN = Path(__file__).parents[1] / "store" / "frozen"
YEAR_2100 = 4102444800
ARCHIVES = sorted(FROZEN.glob("*.zip"))

Write = Callable[[str, str], Path]

NOTES = """
heat_template_version: 2021-04-16
parameters: {text: {type: string, default: three}}
resources:
  first: {type: Frozen::Note, properties: {text: {get_param: text}}}
outputs: {text: {value: {get_attr: [first, text]}}}
"""


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.stem)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The home of a frozen release."""
    found = tmp_path / "home"
    found.mkdir(mode=0o700)
    with zipfile.ZipFile(request.param) as archive:
        archive.extractall(found)
    for file in found.iterdir():
        file.chmod(0o600)
    _extend_deadlines(found)
    (found / "zonda.toml").write_text(f'plugin_dirs = ["{FROZEN / "plugins"}"]\n')
    return found


def _extend_deadlines(home: Path) -> None:
    """What was running when it was frozen has time left, however long ago that was."""
    with closing(sqlite3.connect(home / "zonda.db")) as connection:
        for table in ("stack", "resource"):
            connection.execute(
                f"UPDATE {table} SET deadline = {YEAR_2100} WHERE deadline IS NOT NULL"
            )
        connection.commit()


def _version(home: Path) -> str:
    with closing(sqlite3.connect(home / "zonda.db")) as connection:
        return str(connection.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def text_of_notes(zonda: Any) -> object:
    return zonda("stack", "output", "show", "notes", "text", "-f", "json").data["output_value"]


def test_the_first_schema_that_is_kept_is_frozen() -> None:
    assert "0014-e4a3367" in [path.stem for path in ARCHIVES]


def test_the_newest_schema_is_frozen() -> None:
    names = [path.stem for path in ARCHIVES if path.stem.startswith(f"{HEAD}-")]
    assert names, (
        f"no frozen database of schema {HEAD}: see 'A new column or table' in contributing"
    )


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.stem)
def test_a_frozen_database_has_the_schema_of_its_name(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path)
    assert _version(tmp_path) == archive.stem.partition("-")[0]


def test_every_stack_of_a_frozen_database_is_listed_as_it_was(home: Path, zonda: Any) -> None:
    rows = zonda("stack", "list", "-f", "json").data
    assert {row["Stack Name"]: row["Stack Status"] for row in rows} == {
        "notes": "UPDATE_COMPLETE",
        "nested": "CREATE_COMPLETE",
        "failed": "CREATE_FAILED",
        "asleep": "SUSPEND_COMPLETE",
        "paused": "CREATE_IN_PROGRESS",
        "interrupted": "CREATE_IN_PROGRESS",
    }
    assert _version(home) == HEAD


@pytest.mark.usefixtures("home")
def test_what_a_frozen_database_keeps_is_shown(zonda: Any) -> None:
    shown = zonda("stack", "output", "show", "notes", "--all", "-f", "json").data
    assert shown["text"]["output_value"] == "two"
    assert "swordfish" not in str(shown)
    revealed = zonda(
        "stack", "output", "show", "notes", "--all", "--show-hidden", "-f", "json"
    ).data
    assert revealed["password"]["output_value"] == "swordfish-two"
    assert "before" in zonda("stack", "snapshot", "list", "notes").out
    zonda("stack", "snapshot", "show", "notes", "before")
    assert len(zonda("stack", "history", "notes", "-f", "json").data) >= 3
    zonda("stack", "diff", "notes")
    zonda("stack", "drift", "show", "notes")
    assert zonda("stack", "drift", "ignore", "list", "notes", "-f", "json").data
    zonda("stack", "failures", "list", "failed")
    zonda("stack", "why", "failed", "bad")
    zonda("stack", "resource", "list", "nested", "-n", "5")
    zonda("stack", "graph", "nested")
    zonda("stack", "event", "list", "notes")


@pytest.mark.usefixtures("home")
def test_every_stack_of_a_frozen_database_goes_on(zonda: Any, write: Write) -> None:
    zonda("stack", "update", "notes", "-t", write("t.yaml", NOTES), code=1)  # random is protected
    zonda("stack", "unprotect", "notes", "random")
    zonda("stack", "update", "notes", "-t", write("t.yaml", NOTES))
    assert text_of_notes(zonda) == "three"
    zonda("stack", "snapshot", "restore", "notes", "before")
    assert text_of_notes(zonda) == "one"
    zonda("stack", "update", "nested", "--existing", "-P", "count=3")
    zonda("stack", "update", "failed", "--existing", "-P", "fails=false")
    zonda("stack", "resume", "asleep")
    zonda("stack", "hook", "clear", "paused", "slow")
    zonda("stack", "wait", "paused")
    for name in ("notes", "nested", "failed", "asleep", "paused", "interrupted"):
        zonda("stack", "delete", name, "--yes", "--set", "cancel_grace=0.1")
    assert zonda("stack", "list", "-f", "json").data == []


@pytest.mark.usefixtures("home")
def test_an_action_that_was_running_is_taken_up_by_the_new_release(zonda: Any, home: Path) -> None:
    plugins = home / "plugins"
    shutil.copytree(FROZEN / "plugins", plugins)
    file = plugins / "frozen_note.py"
    file.write_text(file.read_text().replace('if token["waits"]:', "if False:"))
    (home / "zonda.toml").write_text(f'plugin_dirs = ["{plugins}"]\n')
    zonda("stack", "wait", "interrupted")
    (shown,) = zonda("stack", "resource", "list", "interrupted", "-f", "json").data
    assert (shown["resource_status"], shown["physical_resource_id"]) == (
        "CREATE_COMPLETE",
        "note-slow",
    )
