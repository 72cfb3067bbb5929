"""The first use of a database: kills, many commands at once, foreign files, permissions."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from zonda.core.store.file import version
from zonda.core.store.values import sealing
from zonda.core.store.values.sealing import Sealer, make_key, make_sealer
from zonda.core.store.write.database import find_database, open_store
from zonda.hooks.errors import StoreError

pytestmark = pytest.mark.sqlite

SEALER = Sealer(make_key())
TRACED = {version.__file__, sealing.__file__}


def use(home: Path) -> None:
    """What the first command does: make the key, make the database."""
    database = home / "z.db"
    sealer = make_sealer(None, home / "z.key", database=find_database(database))
    open_store(database, sealer=sealer).close()


def in_child(run: Callable[[], None]) -> int:
    """The wait status of a process that runs it; 0 if it ended well."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    try:
        run()
    except BaseException:  # the child's end, whatever it was
        os._exit(1)
    os._exit(0)


def killed_at(line: int, home: Path) -> None:
    """Use a home, and be killed before the line of that number among those that are run."""
    seen = set[tuple[str, int]]()

    def traced(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename not in TRACED:
            return None
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        if len(seen) > line:
            os.kill(os.getpid(), signal.SIGKILL)
        return traced

    sys.settrace(traced)
    use(home)
    sys.settrace(None)


def test_a_kill_at_any_line_of_the_first_use_leaves_a_home_that_can_be_used(tmp_path: Path) -> None:
    for line in range(1000):
        home = tmp_path / str(line)
        home.mkdir()
        status = in_child(lambda line=line, home=home: killed_at(line, home))  # type: ignore[misc]
        assert status in (0, signal.SIGKILL), line
        if find_database(home / "z.db").is_made():
            key = make_sealer(None, home / "z.key", database=find_database(home / "z.db"))
            open_store(home / "z.db", sealer=key, read_only=True).close()
        use(home)
        assert {file.name for file in home.iterdir()} == {"z.db", "z.key"}
        if status == 0:
            break
    assert status == 0
    assert line > 20


def test_twenty_first_commands_at_once_use_one_database_and_one_key(tmp_path: Path) -> None:
    begin, go = os.pipe()
    children = []
    for _ in range(20):
        child = os.fork()
        if not child:
            os.close(go)
            os.read(begin, 1)
            os._exit(in_child(lambda: use(tmp_path)) and 1)
        children.append(child)
    os.close(go)
    ends = [os.waitpid(child, 0)[1] for child in children]
    os.close(begin)
    assert ends == [0] * 20
    use(tmp_path)


def _empty(path: Path) -> None:
    path.touch()


def _without_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def _with_a_log(path: Path) -> None:
    _without_tables(path)
    path.with_name(f"{path.name}-wal").write_bytes(b"\0" * 32)


@pytest.mark.parametrize("half_made", [_empty, _without_tables, _with_a_log])
def test_what_a_killed_alpha_has_left_is_no_database_yet(
    tmp_path: Path, half_made: Callable[[Path], None]
) -> None:
    half_made(tmp_path / "z.db")
    (tmp_path / "z.key").touch()
    assert not find_database(tmp_path / "z.db").is_made()
    use(tmp_path)
    assert find_database(tmp_path / "z.db").is_made()


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    before = path.read_bytes()
    yield
    assert path.read_bytes() == before


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("CREATE TABLE place (name TEXT)", id="another-program's"),
        pytest.param("CREATE TABLE alembic_version (version_num TEXT)", id="another-alembic's"),
    ],
)
def test_the_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, statement: str, read_only: bool
) -> None:
    path = tmp_path / "z.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with unchanged(path), pytest.raises(StoreError, match="no schema of zonda") as caught:
        open_store(path, sealer=SEALER, read_only=read_only)
    assert "another program" in caught.value.hint
    assert [file.name for file in tmp_path.iterdir()] == ["z.db"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o177])
def test_all_files_are_their_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        database = tmp_path / "z.db"
        sealer = make_sealer(None, tmp_path / "z.key", database=find_database(database))
        opened = open_store(database, sealer=sealer)
        with opened.transaction() as tx:
            tx.add_request("r", "text", 1.0)
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        opened.close()
    finally:
        os.umask(before)
    assert set(modes) == {"z.db", "z.db-shm", "z.db-wal", "z.key"}
    assert set(modes.values()) == {0o600}
