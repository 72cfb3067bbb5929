"""``zonda db copy``, and the other commands with PostgreSQL: what is moved there goes on."""

from __future__ import annotations

import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.postgresql_server import PostgreSQL

from zonda.core.store.file.lock import EngineLock
from zonda.core.store.maintenance import copying
from zonda.core.store.schema.version import HEAD
from zonda.core.store.values.sealing import make_key
from zonda.core.store.write.database import find_database

pytestmark = pytest.mark.sqlite  # each test says itself what is on a server

FROZEN = Path(__file__).parents[2] / "store" / "frozen"
(NEWEST,) = FROZEN.glob(f"{HEAD}-*.zip")
NAMES = {"notes", "nested", "failed", "asleep", "paused", "interrupted"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with stacks of every kind, two of them at work."""
    found = tmp_path / "home"
    found.mkdir(mode=0o700)
    with zipfile.ZipFile(NEWEST) as archive:
        archive.extractall(found)
    with closing(sqlite3.connect(found / "zonda.db")) as connection:
        for table in ("stack", "resource"):
            connection.execute(
                f"UPDATE {table} SET deadline = 4102444800 WHERE deadline IS NOT NULL"
            )
        connection.execute(
            "INSERT INTO sink (name, seq, delivered, failures, error) VALUES ('log', 7, 7, 0, '')"
        )
        connection.commit()
    (found / "zonda.toml").write_text(f'plugin_dirs = ["{FROZEN / "plugins"}"]\n')
    return found


@pytest.fixture
def server(postgresql: PostgreSQL) -> Iterator[str]:
    """The URL of an empty database on a server."""
    yield postgresql.make_database()
    postgresql.drop_databases()


@pytest.fixture(params=["file", "server"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that is not made yet."""
    if request.param == "server":
        return str(request.getfixturevalue("server"))
    return f"sqlite:///{tmp_path / 'home' / 'target.db'}"


def copy(zonda: Any, source: str, target: str, code: int = 0) -> Any:
    form = () if code else ("-f", "json")
    done = zonda("db", "copy", source, target, *form, code=code)
    return done if code else {row["Table"]: (row["Rows"], row["Hash"]) for row in done.data}


def on(url: str) -> tuple[str, str]:
    return ("--set", f"database_url={url}")


def url_of(home: Path) -> str:
    return f"sqlite:///{home / 'zonda.db'}"


def test_what_is_copied_goes_on_is_updated_and_deleted(zonda: Any, home: Path, target: str) -> None:
    listed = zonda("stack", "list", "-f", "json").data
    events = zonda("stack", "event", "list", "notes", "-f", "json").data
    copied = copy(zonda, url_of(home), target)
    assert copied["stack"][0] > len(NAMES)
    assert (copied["sink"][0], copied["meta"][0]) == (1, 0)
    there = on(target)
    assert zonda("stack", "list", "-f", "json", *there).data == listed
    assert {row["Stack Name"] for row in listed} == NAMES
    assert zonda("stack", "event", "list", "notes", "-f", "json", *there).data == events
    assert {row["Status"] for row in zonda("db", "check", "-f", "json", *there).data} == {"ok"}
    shown = zonda(
        "stack", "output", "show", "notes", "password", "--show-hidden", "-f", "json", *there
    ).data
    assert shown["output_value"] == "swordfish-two"
    assert zonda("stack", "drift", "ignore", "list", "notes", "-f", "json", *there).data
    assert "before" in zonda("stack", "snapshot", "list", "notes", *there).out
    assert zonda("stack", "show", "notes", "-f", "json", *there).data["stack_name"] == "notes"
    zonda("stack", "unprotect", "notes", "random", *there)
    zonda("stack", "update", "notes", "--existing", "-P", "text=three", *there)
    signal = ("stack", "resource", "signal", "notes", "first", "--data", '{"text": "s"}')
    zonda(*signal, *there)
    zonda("stack", "drift", "check", "notes", *there, code=3)
    zonda("stack", "update", "nested", "--existing", "-P", "count=3", *there)
    zonda("stack", "resume", "asleep", *there)
    zonda("stack", "hook", "clear", "paused", "slow", *there)
    zonda("stack", "wait", "paused", *there)
    for name in sorted(NAMES):
        zonda("stack", "delete", name, "--yes", "--set", "cancel_grace=0.1", *there)
    assert zonda("stack", "list", "-f", "json", *there).data == []
    assert zonda("stack", "list", "-f", "json").data == listed  # the source is as it was


def test_what_is_at_work_has_a_duty_from_the_first_moment(
    zonda: Any, home: Path, server: str
) -> None:
    copy(zonda, url_of(home), server)
    query = "SELECT name, member FROM duty JOIN stack ON 'tree:' || stack.id = duty.key ORDER BY 1"
    found = dict(PostgreSQL(server).execute(query))
    assert {"interrupted", "paused"} <= found.keys() < NAMES
    assert {*found.values()} == {None}


def test_there_and_back_every_row_is_the_same(
    zonda: Any, home: Path, server: str, tmp_path: Path
) -> None:
    back = f"sqlite:///{tmp_path / 'back.db'}"
    first = copy(zonda, url_of(home), server)
    assert copy(zonda, server, back) == first
    with (
        closing(sqlite3.connect(home / "zonda.db")) as a,
        closing(sqlite3.connect(tmp_path / "back.db")) as b,
    ):
        for table in first:
            query = f"SELECT * FROM {table} ORDER BY 1, 2"
            assert a.execute(query).fetchall() == b.execute(query).fetchall()


def test_no_event_gets_a_number_that_was_used(zonda: Any, home: Path, target: str) -> None:
    """A sink that has all events up to 500 would never be told of number 1."""
    with closing(sqlite3.connect(home / "zonda.db")) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 500 WHERE name = 'event'")
        connection.commit()
    copy(zonda, url_of(home), target)
    zonda("stack", "suspend", "notes", *on(target))
    database = find_database(target.removeprefix("sqlite:///"))
    reads = database.open_reader()
    assert reads.execute("SELECT count(*) FROM event WHERE seq > 500").fetchone()[0] > 0
    reads.close()
    database.close()


def test_a_target_with_rows_is_refused_and_kept(zonda: Any, home: Path, target: str) -> None:
    copy(zonda, url_of(home), target)
    assert "is not empty" in copy(zonda, url_of(home), target, code=1).err
    assert len(zonda("stack", "list", "-f", "json", *on(target)).data) == len(NAMES)


def test_source_and_target_are_two(zonda: Any, home: Path) -> None:
    assert "same database" in copy(zonda, url_of(home), url_of(home), code=1).err


def test_a_missing_source_is_told_and_nothing_is_made(
    zonda: Any, home: Path, tmp_path: Path
) -> None:
    missing = f"sqlite:///{tmp_path / 'missing.db'}"
    assert "no database" in copy(zonda, missing, f"sqlite:///{tmp_path / 't.db'}", code=1).err
    assert not (tmp_path / "t.db").exists()


def test_a_source_with_an_engine_is_refused(zonda: Any, home: Path, target: str) -> None:
    with EngineLock(home / "zonda.db"):
        assert "An engine uses" in copy(zonda, url_of(home), target, code=1).err
    copy(zonda, url_of(home), target)


def test_another_key_is_refused(zonda: Any, home: Path, target: str) -> None:
    (home / "zonda.key").write_text(make_key())
    assert "another sealing key" in copy(zonda, url_of(home), target, code=1).err


def test_what_fails_in_the_middle_leaves_a_target_without_rows(
    zonda: Any, home: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(copying, "_set_last_event", lambda *_: 1 / 0)
        zonda("db", "copy", url_of(home), target, code=1)
    assert copy(zonda, url_of(home), target)["stack"][0] > 0


def test_rows_that_do_not_arrive_are_noticed(
    zonda: Any, home: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(copying._Digest, "read", lambda digest: str(id(digest)))
        told = zonda("db", "copy", url_of(home), target, code=1).err
    assert "did not arrive as it was" in told
    assert copy(zonda, url_of(home), target)["stack"][0] > 0


def test_a_backup_of_one_kind_is_restored_on_the_other(
    zonda: Any, home: Path, server: str, tmp_path: Path
) -> None:
    there, file = on(server), tmp_path / "s.backup"
    zonda("db", "backup", file)
    zonda("db", "restore", file, *there)
    status = zonda("db", "status", "-f", "json", *there).data
    assert status["stacks"] == len(NAMES)
    assert (status["schema"], status["key"]) == (HEAD, "fits")
    assert status["bytes"] > 4096
    assert "has " in zonda("db", "restore", file, *there, code=1).err
    zonda("stack", "delete", "notes", "--yes", "--force", *there, code=2)
    zonda("stack", "unprotect", "notes", "random", *there)
    zonda("stack", "delete", "notes", "--yes", *there)
    second = tmp_path / "second.backup"
    zonda("db", "backup", second, *there)
    told = zonda("db", "restore", file, "--force", *there).err
    assert "before-restore" in told
    assert len(zonda("stack", "list", "-f", "json", *there).data) == len(NAMES)
    zonda("db", "restore", second, "--force")
    assert len(zonda("stack", "list", "-f", "json").data) == len(NAMES) - 1
    assert {row["Status"] for row in zonda("db", "check", "-f", "json").data} == {"ok"}
    told = zonda("db", "upgrade", *there).err
    assert f"has the schema {HEAD} already" in told


def test_a_backup_of_an_older_schema_is_restored_on_a_server(
    zonda: Any, home: Path, server: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(next(FROZEN.glob("0018-*.zip"))) as archive:
        archive.extractall(tmp_path / "old")
    (tmp_path / "old" / "zonda.key").replace(home / "zonda.key")
    there = on(server)
    zonda("db", "restore", tmp_path / "old" / "zonda.db", *there)
    assert {row["Stack Name"] for row in zonda("stack", "list", "-f", "json", *there).data} == NAMES
    assert {row["Status"] for row in zonda("db", "check", "-f", "json", *there).data} == {"ok"}


def test_a_password_is_never_shown(zonda: Any, home: Path) -> None:
    url = "postgresql://me:swordfish@127.0.0.1:1/none"
    for words in (("status",), ("check",), ("upgrade",), ("copy", url_of(home), url)):
        told = zonda("db", *words, *on(url), code=1)
        assert "swordfish" not in told.err + told.out


def test_an_empty_database_is_made_by_upgrade(zonda: Any, home: Path, server: str) -> None:
    assert "Made the database postgresql://" in zonda("db", "upgrade", *on(server)).err
    assert zonda("stack", "list", "-f", "json", *on(server)).data == []
