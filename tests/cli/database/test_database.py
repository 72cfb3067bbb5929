"""``zonda db``: status, check, upgrade, backup and restore, on homes with stacks of every kind."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.databases import execute, find_shown_url, open_database
from tests.conftest import ON_SERVER

from zonda.core.store.schema.version import HEAD
from zonda.core.store.values.sealing import make_key

FROZEN = Path(__file__).parents[2] / "store" / "frozen"
TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {word: {type: string, hidden: true}}
resources:
  first: {type: OS::Heat::RandomString}
  group:
    type: OS::Heat::ResourceGroup
    depends_on: first
    properties:
      count: 2
      resource_def: {type: OS::Heat::Value, properties: {value: {get_param: word}}}
outputs: {word: {value: {get_attr: [first, value]}}}
"""
CREATE = ("stack", "create", "s", "-P", "word=swordfish", "-t")


@pytest.fixture
def home(zonda: Any, write: Callable[[str, str], Path], tmp_path: Path) -> Path:
    """A home with a stack, one nested in it, and a hidden value."""
    zonda(*CREATE, write("t.yaml", TEMPLATE))
    return tmp_path / "home"


def read_word(zonda: Any) -> str:
    return str(zonda("stack", "output", "show", "s", "word", "--raw").out)


def read_findings(zonda: Any, code: int = 0) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for row in zonda("db", "check", "-f", "json", code=code).data:
        found.setdefault(row["Check"], []).append(row)
    return found


def test_the_status_counts_and_names_the_engine(zonda: Any, home: Path) -> None:
    found = zonda("db", "status", "-f", "json").data
    assert found["url"] == find_shown_url(home)
    assert (found["schema"], found["newest_schema"]) == (HEAD, HEAD)
    assert (found["stacks"], found["resources"]) == (1, 4)
    assert found["events"] == 2 * (2 + 4)  # begin and end of each stack and resource
    assert found["bytes"] > 4096
    assert (found["engine"], found["key"]) == ("none", "fits")
    with open_database(home).engine_lock() as lock:
        shown = zonda("db", "status", "-f", "json").data
        assert shown["engine"] == f"process {lock.read_holder()}"


def test_the_status_tells_of_a_key_that_does_not_fit(zonda: Any, home: Path) -> None:
    key = home / "zonda.key"
    was = key.read_text()
    key.write_text(make_key())
    assert zonda("db", "status", "-f", "json").data["key"] == "is another"
    key.unlink()
    assert "is missing" in zonda("db", "status", "-f", "json").data["key"]
    assert not key.exists()
    key.write_text(was)
    assert zonda("db", "status", "-f", "json").data["key"] == "fits"


@pytest.mark.parametrize("command", ["status", "check", "backup"])
def test_without_a_database_nothing_is_made(zonda: Any, tmp_path: Path, command: str) -> None:
    words = [command, str(tmp_path / "b")] if command == "backup" else [command]
    assert "no database" in zonda("db", *words, code=1).err
    assert not (tmp_path / "home").exists()


def test_a_database_that_is_well_has_no_finding(zonda: Any, home: Path) -> None:
    with open_database(home).engine_lock():  # also while an engine runs
        found = read_findings(zonda)
    # a server looks after its files itself
    pages = [] if ON_SERVER else ["pages"]
    assert list(found) == [*pages, "schema", "key", "references", "values"]
    assert {row["Status"] for rows in found.values() for row in rows} == {"ok"}


BROKEN = "sealed:gAAAAABmm"


@pytest.mark.parametrize(
    ("statement", "check", "place"),
    [
        pytest.param(
            f"UPDATE resource SET properties = '{BROKEN}' WHERE name = 'first'",
            "values",
            "properties: it cannot be read",
            id="sealed",
        ),
        pytest.param(
            "UPDATE resource SET outputs = '{' WHERE name = 'first'",
            "values",
            "outputs: it cannot be read",
            id="json",
        ),
        pytest.param(
            f"UPDATE resource SET given = 'adopt:{BROKEN}' WHERE name = 'first'",
            "values",
            "given: it cannot be read",
            id="annotation",
        ),
        pytest.param(
            f"UPDATE template SET body = '{BROKEN}'", "values", "body: it cannot", id="template"
        ),
        pytest.param(
            "UPDATE stack SET template_id = 'lost' WHERE owner_resource_id IS NULL",
            "references",
            "template_id: no template lost",
            id="reference",
        ),
        pytest.param(
            "UPDATE stack SET owner_resource_id = 'lost' WHERE owner_resource_id IS NOT NULL",
            "references",
            "owner_resource_id: no resource lost",
            id="owner",
        ),
        pytest.param(
            "UPDATE resource SET stack_id = 'lost' WHERE name = 'first'",
            "references",
            "no such stack",
            id="foreign-key",
            marks=pytest.mark.sqlite,  # a server refuses it
        ),
        pytest.param(
            "UPDATE alembic_version SET version_num = '0019'",
            "schema",
            "has the schema 0019 of an older zonda",
            id="older",
        ),
        pytest.param(
            "UPDATE alembic_version SET version_num = '9999'",
            "schema",
            "has the schema 9999 of a newer zonda",
            id="newer",
        ),
        pytest.param(
            "DROP TABLE drift_ignore", "schema", "table drift_ignore is missing", id="table"
        ),
        pytest.param(
            "ALTER TABLE sink DROP COLUMN error", "schema", "column sink.error", id="column"
        ),
    ],
)
def test_each_fault_is_one_finding_with_its_place(
    zonda: Any, home: Path, statement: str, check: str, place: str
) -> None:
    execute(home, statement)
    found = read_findings(zonda, code=1)
    faults = {name for name, rows in found.items() if rows[0]["Status"] == "error"}
    assert faults == {check}
    assert any(place in row["Finding"] for row in found[check])
    assert all(row["What to do"] for row in found[check])


@pytest.mark.sqlite  # a server refuses them
def test_many_faults_of_a_kind_are_cut(zonda: Any, home: Path) -> None:
    rows = ", ".join(f"('x{number}', 'y', 'lost')" for number in range(50))
    execute(home, f"INSERT INTO edge (src, dst, stack_id) VALUES {rows}")
    found = read_findings(zonda, code=1)["references"]
    assert len(found) == 21
    assert "more" in found[-1]["Finding"]


@pytest.mark.sqlite
def test_damaged_pages_are_a_finding(zonda: Any, home: Path) -> None:
    file = home / "zonda.db"
    zonda("db", "backup", home / "b")
    for beside in home.glob("zonda.db-*"):
        beside.unlink()
    text = bytearray((home / "b").read_bytes())
    text[len(text) // 2 : len(text) // 2 + 9000] = b"\xff" * 9000
    file.write_bytes(text)
    found = read_findings(zonda, code=1)
    assert {"pages", "database"} & {
        name for name, rows in found.items() if rows[0]["Status"] == "error"
    }


def test_another_key_is_a_finding_and_values_are_not_tried(zonda: Any, home: Path) -> None:
    (home / "zonda.key").write_text(make_key())
    found = read_findings(zonda, code=1)
    assert found["key"][0]["Status"] == "error"
    assert "values" not in found


def test_upgrade_makes_an_empty_database_once(zonda: Any, tmp_path: Path) -> None:
    where = open_database(tmp_path / "home").where
    assert f"Made the database {where}" in zonda("db", "upgrade").err
    assert f"has the schema {HEAD} already" in zonda("db", "upgrade").err
    assert zonda("stack", "list", "-f", "json").data == []


@pytest.fixture(params=sorted(FROZEN.glob("*.zip")), ids=lambda path: path.stem)
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a database of an older schema, with its key."""
    folder = tmp_path / "frozen"
    with zipfile.ZipFile(request.param) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.sqlite  # a backup is a file
def test_a_database_of_any_schema_is_restored_upgraded_and_well(
    zonda: Any, frozen: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (frozen / "zonda.key").rename(home / "zonda.key")
    schema = zonda("db", "restore", frozen / "zonda.db").err
    before = zonda("db", "status", "-f", "json").data
    if before["schema"] != HEAD:
        assert "'zonda db upgrade'" in schema
        assert zonda("db", "check", code=1)
        told = zonda("db", "upgrade").err
        assert f"from the schema {before['schema']} to {HEAD}" in told
        assert (home / "zonda.db.before-upgrade").exists()
    after = zonda("db", "status", "-f", "json").data
    counted = ("stacks", "resources", "events", "key_fingerprint")
    assert [after[name] for name in counted] == [before[name] for name in counted]
    read_findings(zonda)


def test_upgrade_refuses_a_newer_schema(zonda: Any, home: Path) -> None:
    execute(home, "UPDATE alembic_version SET version_num = '9999'")
    assert "newer zonda" in zonda("db", "upgrade", code=1).err


@pytest.mark.sqlite  # a backup is a file
def test_a_backup_is_restored_with_its_hidden_values(
    zonda: Any, home: Path, tmp_path: Path, write: Callable[[str, str], Path]
) -> None:
    word, file = read_word(zonda), tmp_path / "s.backup"
    told = zonda("db", "backup", file).err
    status = zonda("db", "status", "-f", "json").data
    assert status["key_fingerprint"] in told
    assert str(home / "zonda.key") in told
    assert (home / "zonda.key").read_bytes() not in file.read_bytes()
    zonda("stack", "delete", "s", "--yes")
    zonda("db", "restore", file)
    assert read_word(zonda) == word
    read_findings(zonda)
    zonda("stack", "update", "s", "--existing", "-P", "word=other")
    zonda("stack", "delete", "s", "--yes")


@pytest.mark.sqlite  # a backup is a file
def test_restoring_needs_the_key_and_makes_none(zonda: Any, home: Path, tmp_path: Path) -> None:
    zonda("db", "backup", tmp_path / "s.backup")
    home.rename(tmp_path / "other")
    assert "key" in zonda("db", "restore", tmp_path / "s.backup", code=1).err
    assert not (home / "zonda.key").exists()
    home.mkdir(exist_ok=True)
    (home / "zonda.key").write_text(make_key())
    assert "another sealing key" in zonda("db", "restore", tmp_path / "s.backup", code=1).err
    assert not (home / "zonda.db").exists()
    (tmp_path / "other" / "zonda.key").replace(home / "zonda.key")
    zonda("db", "restore", tmp_path / "s.backup")
    read_findings(zonda)


@pytest.mark.sqlite  # a backup is a file
def test_restoring_beside_stacks_or_an_engine_is_refused(
    zonda: Any, home: Path, tmp_path: Path
) -> None:
    zonda("db", "backup", tmp_path / "s.backup")
    assert "has 2 stacks" in zonda("db", "restore", tmp_path / "s.backup", code=1).err
    with open_database(home).engine_lock():
        assert "An engine uses" in zonda("db", "restore", tmp_path / "s.backup", code=1).err
    assert "before-restore" in zonda("db", "restore", tmp_path / "s.backup", "--force").err


def test_a_file_that_is_missing_is_told(zonda: Any, home: Path, tmp_path: Path) -> None:
    assert "no backup" in zonda("db", "restore", tmp_path / "missing", code=1).err
    assert zonda("db", "status", "-f", "json").data["stacks"] == 1
