"""Backups and their restoration: whole or not at all, also for a process that is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from zonda.core.store.file.lock import EngineLock, ServerLock
from zonda.core.store.maintenance import backup
from zonda.core.store.maintenance import restore as restoring
from zonda.core.store.schema.version import HEAD
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import find_database, open_store
from zonda.hooks.errors import StoreError

pytestmark = pytest.mark.sqlite  # the files themselves are looked at

KEY = make_key()
SEALER = Sealer(KEY)
ROWS = 3000  # of a kilobyte each: more than SQLite keeps in memory before it writes


def make_database(path: Path, text: str, rows: int = ROWS) -> Path:
    path.parent.mkdir(exist_ok=True)
    open_store(path, sealer=SEALER).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            ((f"{number}", text * 1000) for number in range(rows)),
        )
        connection.commit()
    return path


def add_stack(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        columns = connection.execute("PRAGMA table_info(stack)").fetchall()
        values = {"id": name, "root_id": name, "name": name, "project": "p"}
        needed = {row[1]: "" for row in columns if row[3]} | values
        connection.execute(
            f"INSERT INTO stack ({', '.join(needed)}) VALUES ({', '.join('?' * len(needed))})",
            list(needed.values()),
        )
        connection.commit()


def back_up(path: str, file: Path, *, force: bool = False) -> None:
    backup.back_up(find_database(path), file, force=force)


def restore(file: Path, path: str, sealer: Sealer, *, force: bool = False) -> str:
    return restoring.restore(file, find_database(path), sealer, beside=Path(path), force=force)


def read_texts(path: Path) -> set[str]:
    """The letters that the rows consist of; also checks every page."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        query = "SELECT DISTINCT substr(value, 1, 1) FROM meta WHERE name GLOB '[0-9]*'"
        return {text for (text,) in connection.execute(query)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_database(tmp_path / "home" / "zonda.db", "a")


@pytest.fixture
def file(path: Path, tmp_path: Path) -> Path:
    """A backup of a database with other rows and the same key."""
    made = tmp_path / "b.backup"
    back_up(str(make_database(tmp_path / "other" / "zonda.db", "b")), made)
    return made


def test_a_backup_is_one_file_for_its_owner_alone(path: Path, tmp_path: Path) -> None:
    back_up(str(path), tmp_path / "a.backup")
    assert stat.S_IMODE((tmp_path / "a.backup").stat().st_mode) == 0o600
    assert read_texts(tmp_path / "a.backup") == {"a"}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.backup", "home"]


def test_a_backup_has_what_was_there_when_it_began(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine writes after every ten pages; none of that is in it, and it comes to an end."""
    writes = []

    def write(*_: int) -> None:
        writes.append(None)
        with closing(sqlite3.connect(path)) as engine:
            engine.execute("UPDATE meta SET value = 'z' WHERE name GLOB '[0-9]*'")
            engine.commit()

    monkeypatch.setattr(
        backup, "copy_pages", lambda source, target: source.backup(target, pages=10, progress=write)
    )
    back_up(str(path), tmp_path / "a.backup")
    assert len(writes) > 10
    assert read_texts(tmp_path / "a.backup") == {"a"}
    assert read_texts(path) == {"z"}


def test_a_backup_overwrites_only_with_force(path: Path, file: Path) -> None:
    with pytest.raises(StoreError, match="exists already"):
        back_up(str(path), file)
    assert read_texts(file) == {"b"}
    back_up(str(path), file, force=True)
    assert read_texts(file) == {"a"}


def test_the_database_itself_and_a_folder_are_no_place_for_a_backup(path: Path) -> None:
    for place in (path, path.parent):
        with pytest.raises(StoreError):
            back_up(str(path), place, force=True)
    assert read_texts(path) == {"a"}


def test_a_missing_folder_is_told(path: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file") as caught:
        back_up(str(path), tmp_path / "missing" / "a.backup")
    assert "folder" in caught.value.hint


def test_a_missing_database_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database"):
        back_up(str(tmp_path / "zonda.db"), tmp_path / "a.backup")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_database_gives_no_backup(path: Path, tmp_path: Path) -> None:
    damage(path)
    with pytest.raises(StoreError, match="damaged"):
        back_up(str(path), tmp_path / "a.backup")
    assert not (tmp_path / "a.backup").exists()


def damage(path: Path) -> None:
    with path.open("r+b") as opened:
        opened.seek(path.stat().st_size // 2)
        opened.write(b"\xff" * 20_000)


def test_a_full_disk_leaves_the_backup_of_before(path: Path, file: Path) -> None:
    """The process may write files of a megabyte; the database has three."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))"
    ignore = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"
    done = run(f"{limit}; {ignore}\nback_up({str(path)!r}, Path({str(file)!r}), force=True)")
    assert "Refused: The database" in done.stderr
    assert read_texts(file) == {"b"}
    assert list(file.parent.glob("*.partial*")) == []


PREAMBLE = """
import os, signal
from pathlib import Path
from zonda.core.store.maintenance import backup, restore as restoring
from zonda.core.store.values.sealing import Sealer
from zonda.core.store.write.database import find_database

def back_up(path, file, force=False):
    backup.back_up(find_database(path), file, force=force)

def restore(file, path, sealer):
    restoring.restore(file, find_database(path), sealer, beside=Path(path))

def die(_, remaining, total):
    if remaining < total // 2:
        os.kill(os.getpid(), signal.SIGKILL)

def copy_half(source, target):
    source.backup(target, pages=10, progress=die)
"""


def run(text: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", PREAMBLE + text]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_process_killed_in_a_backup_leaves_the_backup_of_before(path: Path, file: Path) -> None:
    text = "backup.copy_pages = copy_half\n"
    done = run(f"{text}back_up({str(path)!r}, Path({str(file)!r}), force=True)")
    assert done.returncode == -signal.SIGKILL
    assert read_texts(file) == {"b"}
    back_up(str(path), file, force=True)
    assert read_texts(file) == {"a"}


@pytest.mark.parametrize("is_new", [False, True], ids=["in-place", "new"])
def test_a_process_killed_in_a_restoration_leaves_the_database_of_before(
    path: Path, file: Path, is_new: bool
) -> None:
    if is_new:
        path.unlink()
    text = f"restoring.copy_pages = copy_half\nkey = {KEY!r}\n"
    done = run(f"{text}restore(Path({str(file)!r}), {str(path)!r}, Sealer(key))")
    assert done.returncode == -signal.SIGKILL
    if is_new:
        assert not path.exists()
    else:
        assert read_texts(path) == {"a"}
        open_store(path, sealer=SEALER).close()
    restore(file, str(path), SEALER)
    assert read_texts(path) == {"b"}


def test_what_was_there_is_kept_beside_each_time(path: Path, file: Path) -> None:
    first = restore(file, str(path), SEALER)
    assert (read_texts(path), read_texts(Path(first))) == ({"b"}, {"a"})
    second = restore(Path(first), str(path), SEALER)
    assert (read_texts(path), read_texts(Path(second))) == ({"a"}, {"b"})
    assert read_texts(Path(first)) == {"a"}
    assert stat.S_IMODE(os.stat(second).st_mode) == 0o600


def test_a_process_that_has_the_database_open_sees_the_backup(path: Path, file: Path) -> None:
    store = open_store(path, sealer=SEALER, read_only=True)
    with closing(sqlite3.connect(path)) as reader:
        query = "SELECT substr(value, 1, 1) FROM meta WHERE name = '7'"
        assert reader.execute(query).fetchone() == ("a",)
        restore(file, str(path), SEALER)
        assert reader.execute(query).fetchone() == ("b",)
    store.close()


def test_a_database_with_stacks_is_replaced_only_with_force(path: Path, file: Path) -> None:
    add_stack(path, "mine")
    with pytest.raises(StoreError, match="has 1 stacks") as caught:
        restore(file, str(path), SEALER)
    assert "--force" in caught.value.hint
    assert read_texts(path) == {"a"}
    restore(file, str(path), SEALER, force=True)
    assert read_texts(path) == {"b"}


@pytest.mark.parametrize("lock", [EngineLock, ServerLock])
def test_a_database_with_an_engine_is_left_alone(
    path: Path, file: Path, lock: type[EngineLock]
) -> None:
    with lock(path), pytest.raises(StoreError, match=f"process {os.getpid()}") as caught:
        restore(file, str(path), SEALER, force=True)
    assert "Stop that process" in caught.value.hint
    assert read_texts(path) == {"a"}
    restore(file, str(path), SEALER)


def test_a_damaged_database_is_moved_away_with_force(path: Path, file: Path) -> None:
    damage(path)
    was = path.read_bytes()
    with pytest.raises(StoreError, match="damaged"):
        restore(file, str(path), SEALER)
    assert path.read_bytes() == was
    kept = restore(file, str(path), SEALER, force=True)
    assert read_texts(path) == {"b"}
    assert Path(kept).read_bytes() == was
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def _missing(file: Path) -> None:
    file.unlink()


def _no_database(file: Path) -> None:
    file.write_bytes(b"no database at all\n" * 1000)


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE other (id)")


def _newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()


def _another_key(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE meta SET value = 'other' WHERE name = 'key_check'")
        connection.commit()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_missing, "no backup"),
        (_no_database, "not a database"),
        (_empty, "empty"),
        (_short, "cannot be used"),
        (damage, "cannot be used"),
        (_another_program, "no schema of zonda"),
        (_newer, "newer zonda"),
        (_another_key, "another sealing key: its fingerprint is other"),
    ],
)
def test_a_backup_that_cannot_be_used_changes_nothing(
    path: Path, file: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(file)
    with pytest.raises(StoreError, match=said) as caught:
        restore(file, str(path), SEALER, force=True)
    assert caught.value.hint
    assert read_texts(path) == {"a"}
    assert sorted(each.name for each in path.parent.glob("*restore*")) == []


def test_the_database_itself_is_no_backup(path: Path) -> None:
    with pytest.raises(StoreError, match="the database itself"):
        restore(path, str(path), SEALER, force=True)


def test_a_restored_database_is_opened_as_any_other(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "fresh.db"
    assert restore(file, str(target), SEALER) == ""
    open_store(target, sealer=SEALER).close()
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("SELECT * FROM alembic_version").fetchone() == (HEAD,)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
