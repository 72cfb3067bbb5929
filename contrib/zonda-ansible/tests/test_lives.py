"""Real modules of ansible-core on this machine, each through its whole life."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lives import Life, is_in_sync, live, make_life


def run(*words: str, cwd: Path | None = None) -> str:
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False).stdout


def make_file(folder: Path) -> Life:
    path = folder / "made"
    return Life(
        "ansible.builtin.file",
        {"path": str(path), "state": "directory", "mode": "0750"},
        {"mode": "0700"},
        path.is_dir,
        lambda: path.chmod(0o777),
    )


def make_copy(folder: Path) -> Life:
    path = folder / "made.txt"
    return Life(
        "ansible.builtin.copy",
        {"dest": str(path), "content": "{{ one }}\n"},
        {"content": "two\n"},
        path.is_file,
        lambda: path.write_text("three\n"),
    )


def make_template(folder: Path) -> Life:
    path, source = folder / "made.txt", folder / "source.j2"
    source.write_text("{{ 1 + 1 }} {{ ansible_managed | default('') | length }}\n")
    return Life(
        "ansible.builtin.template",
        {"dest": str(path), "src": str(source), "mode": "0644"},
        {"mode": "0600"},
        path.is_file,
        lambda: path.write_text("three\n"),
    )


def make_line(folder: Path) -> Life:
    path = folder / "lines"
    path.write_text("a=1\nb=2\n")
    return Life(
        "ansible.builtin.lineinfile",
        {"path": str(path), "regexp": "^c=", "line": "c=3"},
        {"line": "c=4"},
        lambda: "c=" in path.read_text(),
        lambda: path.write_text("a=1\nb=2\nc=9\n"),
    )


def make_block(folder: Path) -> Life:
    path = folder / "lines"
    path.write_text("a=1\n")
    return Life(
        "ansible.builtin.blockinfile",
        {"path": str(path), "block": "one\n"},
        {"block": "two\n"},
        lambda: "BEGIN ANSIBLE" in path.read_text(),
        lambda: path.write_text(path.read_text().replace("two", "three")),
    )


def make_get_url(folder: Path) -> Life:
    path, source = folder / "made", folder / "source"
    source.write_text("content\n")
    return Life(
        "ansible.builtin.get_url",
        {"dest": str(path), "url": source.as_uri(), "mode": "0644"},
        {"mode": "0600"},
        path.is_file,
        path.unlink,
    )


_NAMED = ("-c", "user.name=x", "-c", "user.email=x@y")


def make_git(folder: Path) -> Life:
    if shutil.which("git") is None:
        pytest.skip("git is missing: apt-get install git")
    path, source = folder / "made", folder / "source"
    source.mkdir()
    for words in (
        ["git", "init", "-q", "-b", "main"],
        *[["git", *_NAMED, "commit", "-q", "--allow-empty", "-m", name] for name in ("one", "two")],
        ["git", "branch", "old", "main~1"],
    ):
        subprocess.run(words, cwd=source, check=True)
    return Life(
        "ansible.builtin.git",
        {"dest": str(path), "repo": f"file://{source}", "version": "main"},
        {"version": "old"},
        path.is_dir,
        lambda: run("git", "checkout", "-q", "origin/main", cwd=path),
    )


def make_unarchive(folder: Path) -> Life:
    (folder / "in").mkdir()
    (folder / "in" / "file").write_text("content\n")
    shutil.make_archive(str(folder / "packed"), "gztar", folder / "in")
    (folder / "made").mkdir()
    path = folder / "made" / "file"
    return Life(
        "ansible.builtin.unarchive",
        {"dest": str(folder / "made"), "src": str(folder / "packed.tar.gz"), "mode": "0644"},
        {"mode": "0600"},
        path.is_file,
        keeps=True,
    )


def make_command(folder: Path) -> Life:
    path = folder / "made"
    return Life(
        "ansible.builtin.command",
        {"cmd": f"touch {path}", "creates": str(path)},
        {},
        path.exists,
        more={
            "ansible_delete": {
                "module": "ansible.builtin.file",
                "options": {"path": "$creates", "state": "absent"},
            }
        },
    )


def make_user(folder: Path) -> Life:
    needs_root()
    name = f"zt{os.getpid()}"
    return Life(
        "ansible.builtin.user",
        {"name": name, "comment": "One", "password": "!", "create_home": False},
        {"comment": "Two"},
        lambda: name in {each.pw_name for each in pwd.getpwall()},
        lambda: run("usermod", "-c", "Three", name),
    )


def make_group(folder: Path) -> Life:
    needs_root()
    name = f"zg{os.getpid()}"
    return Life(
        "ansible.builtin.group",
        {"name": name, "gid": 61000 + os.getpid() % 2000},
        {"gid": 63000 + os.getpid() % 2000},
        lambda: name in {each.gr_name for each in grp.getgrall()},
        lambda: run("groupmod", "-g", str(59000 + os.getpid() % 2000), name),
    )


def make_cron(folder: Path) -> Life:
    needs_root()
    if shutil.which("crontab") is None:
        pytest.skip("cron is missing: apt-get install cron")
    name = f"zonda test {os.getpid()}"
    return Life(
        "ansible.builtin.cron",
        {"name": name, "job": "true", "minute": "5"},
        {"minute": "6"},
        lambda: name in run("crontab", "-l"),
        lambda: subprocess.run(
            ["crontab", "-"], input=run("crontab", "-l").replace("6 * *", "7 * *"), text=True
        ),
    )


def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("it needs root: run the tests in a container as root")


MAKERS: list[Callable[[Path], Life]] = [
    make_file,
    make_copy,
    make_template,
    make_line,
    make_block,
    make_get_url,
    make_git,
    make_unarchive,
    make_command,
    make_user,
    make_group,
    make_cron,
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__.removeprefix("make_"))
def test_a_module_lives(make: Callable[[Path], Life], tmp_path: Path) -> None:
    live(make(tmp_path))


def test_another_name_is_another_thing(tmp_path: Path) -> None:
    given = {"path": str(tmp_path / "one"), "state": "directory"}
    life = make_life("ansible.builtin.file", given)
    life.create()
    assert life.resource_id == str(tmp_path / "one")
    assert life.update({**given, "path": str(tmp_path / "other")}) == "replaced"


def test_what_is_kept_stays(tmp_path: Path) -> None:
    path = tmp_path / "one"
    given = {"dest": str(path), "content": "x", "ansible_delete": "keep"}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    life.delete()
    assert path.read_text() == "x"


def test_what_the_module_returns_is_an_attribute(tmp_path: Path) -> None:
    life = make_life("ansible.builtin.copy", {"dest": str(tmp_path / "one"), "content": "four"})
    life.create()
    assert life.attribute("size") == 4
    assert life.attribute("ansible_result")["dest"] == str(tmp_path / "one")
    assert is_in_sync(life)
