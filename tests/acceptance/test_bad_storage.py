"""A database that cannot be used is refused with a sentence, and nothing is lost."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

#: Loaded before the fork: between fork and exec little may be done.
LIBC = ctypes.CDLL(None)
PR_CAPBSET_DROP = 24

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  a: {type: OS::Heat::TestResource, properties: {value: one}}
outputs:
  o: {value: {get_attr: [a, output]}}
"""

MANY = """
heat_template_version: 2018-08-31
resources:
""" + "".join(
    f"  r{n}: {{type: OS::Heat::TestResource, properties: {{value: {'x' * 3000}}}}}\n"
    for n in range(150)
)


@pytest.fixture
def template(write: Callable[[str, str], Path]) -> Path:
    return write("t.yaml", TEMPLATE)


def test_a_file_that_is_no_database_is_refused_and_left_alone(zonda: Any, template: Path) -> None:
    garbage = b"this is not a database\n" * 1000
    (zonda.home / "zonda.db").write_bytes(garbage)
    for words in (("stack", "list"), ("stack", "create", "s", "-t", template)):
        assert "zonda.db" in zonda.run(*words, code=1).stderr
    assert (zonda.home / "zonda.db").read_bytes() == garbage


def test_a_damaged_database_is_reported(zonda: Any, template: Path) -> None:
    zonda.run("stack", "create", "s", "-t", template)
    database = zonda.home / "zonda.db"
    whole = database.read_bytes()
    database.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    for suffix in ("-wal", "-shm"):
        (zonda.home / f"zonda.db{suffix}").unlink(missing_ok=True)
    assert "zonda.db" in zonda.run("stack", "delete", "s", "--yes", code=1).stderr


def test_another_key_is_refused(zonda: Any, template: Path) -> None:
    zonda.run("stack", "create", "s", "-t", template)
    (zonda.home / "zonda.key").unlink()
    assert "key" in zonda.run("stack", "delete", "s", "--yes", code=1).stderr


def obey_permissions() -> None:
    """Take from root what lets it write everywhere (CAP_DAC_OVERRIDE and its like), for good."""
    for capability in (1, 2):
        if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) and os.geteuid() == 0:
            os._exit(99)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="capabilities are Linux's")
def test_a_folder_that_cannot_be_written_is_reported(zonda: Any, template: Path) -> None:
    zonda.home.chmod(0o555)
    create = ("stack", "create", "s", "-t", template)
    done = zonda.run(*create, code=1, preexec_fn=obey_permissions)
    zonda.home.chmod(0o755)
    assert str(zonda.home) in done.stderr
    assert list(zonda.home.iterdir()) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="capabilities are Linux's")
def test_a_home_that_became_read_only_can_still_be_looked_at(zonda: Any, template: Path) -> None:
    zonda.run("stack", "create", "s", "-t", template)
    zonda.home.chmod(0o555)
    for path in zonda.home.iterdir():
        path.chmod(0o444)
    words = ("stack", "list", "-f", "json")
    shown = zonda.run(*words, preexec_fn=obey_permissions).stdout
    assert [row["Stack Status"] for row in json.loads(shown)] == ["CREATE_COMPLETE"]
    zonda.run("stack", "delete", "s", "--yes", code=1, preexec_fn=obey_permissions)
    zonda.home.chmod(0o755)
    for path in zonda.home.iterdir():
        path.chmod(0o644)
    assert zonda.state("s") == "CREATE_COMPLETE"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="capabilities are Linux's")
@pytest.mark.parametrize(
    ("home_mode", "file_mode"),
    [
        pytest.param(0o500, 0o400, id="all"),
        pytest.param(0o500, 0o600, id="the folder"),
        pytest.param(0o700, 0o400, id="the files"),
    ],
)
def test_a_copy_that_may_only_be_read_is_shown(
    zonda: Any, template: Path, home_mode: int, file_mode: int
) -> None:
    zonda.run("stack", "create", "s", "-t", template)
    with closing(sqlite3.connect(zonda.home / "zonda.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in list(zonda.home.iterdir()):
        if path.name not in ("zonda.db", "zonda.key"):
            path.unlink()
        else:
            path.chmod(file_mode)
    zonda.home.chmod(home_mode)
    for words in (("list",), ("show", "s"), ("resource", "list", "s"), ("output", "list", "s")):
        zonda.run("stack", *words, preexec_fn=obey_permissions)
    zonda.home.chmod(0o700)
    for path in zonda.home.iterdir():
        path.chmod(0o600)


@pytest.fixture
def small_disk(zonda: Any) -> Iterator[Path]:
    """The home of zonda on a disk of its own of one megabyte."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(zonda.home)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield zonda.home
    zonda.close()
    subprocess.run(["umount", str(zonda.home)], check=True)


@pytest.mark.usefixtures("small_disk")
def test_a_full_disk_loses_nothing_that_was_committed(
    zonda: Any, template: Path, write: Callable[[str, str], Path]
) -> None:
    zonda.run("stack", "create", "s", "-t", template)
    said = zonda.run("stack", "create", "big", "-t", write("many.yaml", MANY), code=1).stderr
    assert "full" in said or "space" in said
    assert zonda.state("s") == "CREATE_COMPLETE"
    assert zonda.outputs("s") == {"o": "one"}


def test_a_limit_on_the_size_of_files_loses_nothing_that_was_committed(
    zonda: Any, template: Path, write: Callable[[str, str], Path]
) -> None:
    zonda.run("stack", "create", "s", "-t", template)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    many = write("many.yaml", MANY)
    said = zonda.run("stack", "create", "big", "-t", many, code=1, preexec_fn=limit).stderr
    assert "zonda.db" in said
    assert zonda.state("s") == "CREATE_COMPLETE"
    assert zonda.outputs("s") == {"o": "one"}
