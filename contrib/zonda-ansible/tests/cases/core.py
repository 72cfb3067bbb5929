"""The modules of ansible-core that work on files, users and jobs."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess

from .ground import Ground, Life, need, need_root, run


def make_file(ground: Ground) -> Life:
    folder = ground.folder
    path = folder / "made"
    return Life(
        "ansible.builtin.file",
        {"path": str(path), "state": "directory", "mode": "0750"},
        {"mode": "0700"},
        path.is_dir,
        lambda: path.chmod(0o777),
    )


def make_copy(ground: Ground) -> Life:
    folder = ground.folder
    path = folder / "made.txt"
    return Life(
        "ansible.builtin.copy",
        {"dest": str(path), "content": "{{ one }}\n"},
        {"content": "two\n"},
        path.is_file,
        lambda: path.write_text("three\n"),
    )


def make_template(ground: Ground) -> Life:
    folder = ground.folder
    path, source = folder / "made.txt", folder / "source.j2"
    source.write_text("{{ 1 + 1 }} {{ ansible_managed | default('') | length }}\n")
    return Life(
        "ansible.builtin.template",
        {"dest": str(path), "src": str(source), "mode": "0644"},
        {"mode": "0600"},
        path.is_file,
        lambda: path.write_text("three\n"),
    )


def make_line(ground: Ground) -> Life:
    folder = ground.folder
    path = folder / "lines"
    path.write_text("a=1\nb=2\n")
    return Life(
        "ansible.builtin.lineinfile",
        {"path": str(path), "regexp": "^c=", "line": "c=3"},
        {"line": "c=4"},
        lambda: "c=" in path.read_text(),
        lambda: path.write_text("a=1\nb=2\nc=9\n"),
    )


def make_block(ground: Ground) -> Life:
    folder = ground.folder
    path = folder / "lines"
    path.write_text("a=1\n")
    return Life(
        "ansible.builtin.blockinfile",
        {"path": str(path), "block": "one\n"},
        {"block": "two\n"},
        lambda: "BEGIN ANSIBLE" in path.read_text(),
        lambda: path.write_text(path.read_text().replace("two", "three")),
    )


def make_get_url(ground: Ground) -> Life:
    folder = ground.folder
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


def make_git(ground: Ground) -> Life:
    folder = ground.folder
    need("git", "git")
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


def make_unarchive(ground: Ground) -> Life:
    folder = ground.folder
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


def make_unzip(ground: Ground) -> Life:
    """Unlike tar's, archives of zip are looked into in check mode."""
    folder = ground.folder
    need("unzip", "unzip")
    (folder / "in").mkdir()
    (folder / "in" / "file").write_text("content\n")
    shutil.make_archive(str(folder / "packed"), "zip", folder / "in")
    (folder / "made").mkdir()
    path = folder / "made" / "file"
    return Life(
        "ansible.builtin.unarchive",
        {"dest": str(folder / "made"), "src": str(folder / "packed.zip"), "mode": "0644"},
        {"mode": "0600"},
        path.is_file,
        lambda: path.write_text("by hand\n"),
        more={
            "ansible_delete": {
                "module": "ansible.builtin.file",
                "options": {"path": str(path), "state": "absent"},
            }
        },
    )


def make_command(ground: Ground) -> Life:
    folder = ground.folder
    path = folder / "made"
    return Life(
        "ansible.builtin.command",
        {"cmd": f"touch {path}", "creates": str(path)},
        {},
        path.exists,
        path.unlink,
        more={
            "ansible_delete": {
                "module": "ansible.builtin.file",
                "options": {"path": "$creates", "state": "absent"},
            }
        },
    )


def make_user(ground: Ground) -> Life:
    need_root()
    name = f"zt{os.getpid()}"
    return Life(
        "ansible.builtin.user",
        {"name": name, "comment": "One", "password": "!", "create_home": False},
        {"comment": "Two"},
        lambda: name in {each.pw_name for each in pwd.getpwall()},
        lambda: run("usermod", "-c", "Three", name),
    )


def make_group(ground: Ground) -> Life:
    need_root()
    name = f"zg{os.getpid()}"
    return Life(
        "ansible.builtin.group",
        {"name": name, "gid": 61000 + os.getpid() % 2000},
        {"gid": 63000 + os.getpid() % 2000},
        lambda: name in {each.gr_name for each in grp.getgrall()},
        lambda: run("groupmod", "-g", str(59000 + os.getpid() % 2000), name),
    )


def make_cron(ground: Ground) -> Life:
    need("crontab", "cron")
    table = ["crontab", "-u", ground.make_account()]
    return Life(
        "ansible.builtin.cron",
        {"name": "zt", "user": table[-1], "job": "true", "minute": "5"},
        {"minute": "6"},
        lambda: "zt" in run(*table, "-l"),
        lambda: subprocess.run(
            [*table, "-"], input=run(*table, "-l").replace("6 * *", "7 * *"), text=True
        ),
    )
