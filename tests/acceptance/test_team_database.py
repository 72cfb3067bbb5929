"""The example: a database and a configuration, made by scripts, through their whole life."""

from __future__ import annotations

import configparser
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "team-database"


class Team:
    """The stack of the example, and what is there on disk."""

    def __init__(self, zonda: Any, folder: Path) -> None:
        self.zonda = zonda
        self.folder = folder

    def change(self, verb: str, **parameters: str) -> None:
        """``stack create`` or ``stack update``."""
        given = {"directory": str(self.folder), **parameters}
        words = [word for pair in given.items() for word in ("--parameter", "=".join(pair))]
        template = EXAMPLE / "team-database.yaml"
        self.zonda.run("stack", verb, "team", "-t", template, *words)
        assert self.zonda.state("team") == f"{verb.upper()}_COMPLETE"

    @property
    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    @property
    def database(self) -> Path:
        [found] = [path for path in self.files if path.suffix == ".sqlite3"]
        return found

    @property
    def config(self) -> configparser.ConfigParser:
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(self.folder / "kestrel" / "database.ini")
        return parser

    def query(self, statement: str) -> list[Any]:
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(statement).fetchall()

    @property
    def members(self) -> list[str]:
        return [name for (name,) in self.query("SELECT name FROM member ORDER BY name")]


@pytest.fixture
def team(zonda: Any, tmp_path: Path) -> Team:
    """The stack, created, with its runner service."""
    folder = tmp_path / "data"
    folder.mkdir()
    made = Team(zonda, folder)
    zonda.serve(EXAMPLE / "workflows.yaml")
    made.change("create")
    return made


def test_creation_makes_a_real_database_and_its_configuration(team: Team) -> None:
    assert team.members == ["ada", "grace"]
    assert team.query("SELECT team, locked FROM about") == [("kestrel", 0)]
    assert team.query("PRAGMA user_version") == [(1,)]
    database = team.config["database"]
    assert database["path"] == str(team.database)
    assert len(database["password"]) == 24
    assert stat.S_IMODE((team.folder / "kestrel" / "database.ini").stat().st_mode) == 0o600
    assert team.zonda.outputs("team") == {
        "database": str(team.database),
        "members": 2,
        "config": str(team.folder / "kestrel" / "database.ini"),
        "summary": f"team kestrel has database {team.database.stem}",
    }


def test_an_update_changes_rows_and_schema_in_place(team: Team) -> None:
    before, password = team.database, team.config["database"]["password"]
    team.change("update", members="ada,barbara", schema_level="2")
    assert team.database == before
    assert team.members == ["ada", "barbara"]
    assert team.query("PRAGMA user_version") == [(2,)]
    assert team.query("SELECT count(*) FROM project") == [(0,)]
    assert team.config["database"]["projects"] == "yes"
    assert team.config["database"]["password"] == password
    assert team.zonda.outputs("team")["members"] == 2


def test_another_name_replaces_the_database_and_points_the_configuration_to_it(
    team: Team,
) -> None:
    before = team.database
    team.change("update", database_name="people")
    assert team.database != before
    assert team.database.name.startswith("people-")
    assert not before.exists()
    assert team.config["database"]["path"] == str(team.database)


def test_suspend_and_resume_lock_and_unlock(team: Team) -> None:
    team.zonda.run("stack", "suspend", "team")
    assert team.query("SELECT locked FROM about") == [(1,)]
    team.zonda.run("stack", "resume", "team")
    assert team.query("SELECT locked FROM about") == [(0,)]
    assert team.zonda.outputs("team")["database"] == str(team.database)


def test_deletion_leaves_nothing_behind(team: Team) -> None:
    assert team.files
    team.zonda.run("stack", "delete", "team", "--yes")
    assert list(team.folder.iterdir()) == []


def test_an_update_without_a_change_runs_nothing(team: Team) -> None:
    before = {path: path.stat().st_mtime_ns for path in team.files}
    team.change("update")
    assert {path: path.stat().st_mtime_ns for path in team.files} == before
