"""A database that cannot be used is refused with a sentence, and nothing is lost."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

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


def as_nobody(folder: Path) -> dict[str, Any]:
    """How to run a command as a user who may write nothing; skips where that is not possible."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    return {"user": pwd.getpwnam("nobody").pw_uid, "extra_groups": []}


@pytest.fixture
def unreadable_parents(zonda: Any, tmp_path: Path) -> Iterator[None]:
    """Opens the folders above the test's own to everybody, as far as pytest made them."""
    changed = []
    for folder in (zonda.home, *zonda.home.parents):
        mode = folder.stat().st_mode & 0o777
        if mode & 0o005 != 0o005:
            changed.append((folder, mode))
            folder.chmod(mode | 0o055)
    yield
    for folder, mode in changed:
        folder.chmod(mode)


@pytest.mark.usefixtures("unreadable_parents")
def test_a_folder_that_cannot_be_written_is_reported(zonda: Any, template: Path) -> None:
    options = as_nobody(zonda.home)
    done = zonda.run("stack", "create", "s", "-t", template, code=1, **options)
    assert str(zonda.home) in done.stderr
    assert list(zonda.home.iterdir()) == []


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
