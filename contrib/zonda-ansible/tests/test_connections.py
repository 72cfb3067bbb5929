"""Ways to a machine other than a key: passwords, and connection plug-ins of collections."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from cases.ground import Ground, Life, need, need_root, run, skip
from commands import Zonda
from containers import ABSENT as NO_PODMAN
from containers import Container, find_podman
from lives import is_in_sync, live, make_life
from servers import ABSENT, SshServer, find_server
from zonda.hooks import ResourceFailure

PASSWORD = "s3cr3t-of-sudo"
#: Writes down what anybody may see of all processes.
LOOK = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ"
PYTHON = "/usr/bin/python3"
#: A connection plug-in in a collection: commands run here, with a variable that names the box.
PLUGIN = """
DOCUMENTATION = '''
name: box
short_description: Runs commands in a box
description: [Runs commands in a box.]
options:
  box: {description: Its name., vars: [{name: ansible_host}]}
  label: {description: A label., vars: [{name: ansible_box_label}]}
'''
import shlex
from ansible.plugins.connection.local import Connection as Local

class Connection(Local):
    transport = "acme.tools.box"

    def exec_command(self, cmd, in_data=None, sudoable=True):
        box = shlex.quote(f"{self.get_option('box')} {self.get_option('label')}")
        return super().exec_command(f"BOX={box} {cmd}", in_data, sudoable)
"""


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    with ExitStack() as later:
        yield Ground(tmp_path, later, dict)


@pytest.fixture
def settings(ground: Ground) -> Mapping[str, Any]:
    """Those of a server that a user may log in to with a password, who needs it for sudo, too."""
    if os.environ.get("ZONDA_ANSIBLE_TESTS") == "never":
        pytest.skip("ZONDA_ANSIBLE_TESTS=never")
    if find_server() is None:
        skip(ABSENT)
    need_root()
    need("sudo", "sudo")
    user = ground.make_account()
    subprocess.run(["chpasswd"], input=f"{user}:{PASSWORD}\n", text=True, check=True)
    rule = Path("/etc/sudoers.d") / user
    rule.write_text(f"{user} ALL=(ALL) ALL\n")
    ground.later.callback(rule.unlink)
    folder = Path(tempfile.mkdtemp(prefix="zs"))  # where that user may read its keys
    folder.chmod(0o755)
    ground.later.callback(shutil.rmtree, folder)
    server = SshServer(folder, PasswordAuthentication="yes")
    ground.later.callback(server.stop)
    ground.later.callback(run, "pkill", "-u", user)  # what the connections that are kept have here
    return {**server.settings, "user": user, "python": PYTHON}


def test_become_with_a_password(settings: Mapping[str, Any], tmp_path: Path) -> None:
    seen, made = tmp_path / "seen", tmp_path / "made"
    resources = {
        "host": {
            "type": "Zonda::Ansible::Host",
            "properties": {
                **settings,
                "become": True,
                "become_password": {"get_param": "password"},
            },
        },
        "look": {
            "type": "Ansible::ansible.builtin.shell",
            "properties": {
                "ansible_on": {"get_attr": ["host", "connection"]},
                "cmd": f"id -un > {made}; {LOOK} > {seen} 2> /dev/null; true",
                "ansible_delete": {
                    "module": "ansible.builtin.file",
                    "options": {"path": str(made), "state": "absent"},
                },
            },
        },
    }
    template = {
        "heat_template_version": "2018-08-31",
        "parameters": {"password": {"type": "string", "hidden": True}},
        "resources": resources,
    }
    (tmp_path / "template.yaml").write_text(yaml.safe_dump(template))
    (tmp_path / "secret.yaml").write_text(yaml.safe_dump({"parameters": {"password": PASSWORD}}))
    given = ["-t", str(tmp_path / "template.yaml"), "-e", str(tmp_path / "secret.yaml")]
    zonda = Zonda(tmp_path, given)
    zonda.run_with_template("create", "s", "--debug")
    assert made.read_text() == "root\n"
    assert b"sudo" in seen.read_bytes()
    assert PASSWORD.encode() not in seen.read_bytes()
    zonda.run("drift", "check", "s", "--debug", code=4)
    zonda.run("delete", "s", "-y", "--debug")
    assert not made.exists()
    for file in (tmp_path / "zonda").rglob("*"):
        assert not file.is_file() or PASSWORD.encode() not in file.read_bytes()


def test_a_wrong_password_of_sudo_is_told_without_it(settings: Mapping[str, Any]) -> None:
    on = {**settings, "become": True, "become_password": "wr0ng-word"}
    life = make_life("ansible.builtin.command", {"cmd": "id", "ansible_on": on})
    with pytest.raises(ResourceFailure, match=r"(?i)incorrect sudo password") as raised:
        life.create()
    assert "wr0ng" not in str(raised.value)


def test_a_missing_password_of_sudo_is_asked_of_nobody(settings: Mapping[str, Any]) -> None:
    life = make_life(
        "ansible.builtin.command", {"cmd": "id", "ansible_on": {**settings, "become": True}}
    )
    with pytest.raises(ResourceFailure, match=r"(?i)missing sudo password"):
        life.create()


def test_a_login_with_a_password(settings: Mapping[str, Any], tmp_path: Path) -> None:
    on = {name: each for name, each in settings.items() if name != "private_key_file"}
    given = {"cmd": "id -un; cat /proc/[0-9]*/cmdline 2> /dev/null; true"}  # some end meanwhile
    life = make_life("ansible.builtin.shell", {**given, "ansible_on": {**on, "password": PASSWORD}})
    life.create()
    said = life.attribute("stdout")
    assert said.startswith(settings["user"])
    assert PASSWORD not in said
    wrong = {**on, "password": "wr0ng-word", "variables": {**on["variables"]}}
    wrong["variables"]["ansible_control_path"] = "none"
    life = make_life("ansible.builtin.shell", {**given, "ansible_on": wrong})
    with pytest.raises(ResourceFailure, match="cannot be reached") as raised:
        life.create()
    assert "wr0ng" not in str(raised.value)


def test_a_connection_plugin_of_a_collection(collection: Path, tmp_path: Path) -> None:
    (collection / "plugins" / "connection").mkdir()
    (collection / "plugins" / "connection" / "box.py").write_text(PLUGIN)
    on = {
        "address": "one",
        "connection": "acme.tools.box",
        "python": PYTHON,
        "variables": {"ansible_box_label": "blue"},
    }
    life = make_life("ansible.builtin.shell", {"cmd": "echo $BOX", "ansible_on": on})
    life.create()
    assert life.attribute("stdout") == "one blue"
    path = tmp_path / "made"
    given = {"dest": str(path), "content": "one\n", "ansible_on": on}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    path.write_text("two\n")
    assert not is_in_sync(life)
    assert life.update({**given, "ansible_on": {**on, "address": "two"}}) == "replaced"
    life.delete()
    assert not path.exists()


def test_a_connection_plugin_that_is_not_there_is_told() -> None:
    on = {"address": "one", "connection": "acme.none.box"}
    life = make_life("ansible.builtin.ping", {"ansible_on": on})
    with pytest.raises(ResourceFailure, match=r"acme\.none\.box"):
        life.create()


def test_a_life_in_a_changed_root(tmp_path: Path) -> None:
    need_root()
    on = {"address": "/", "connection": "community.general.chroot", "python": PYTHON}
    path = tmp_path / "made"
    given = {"dest": str(path), "content": "one\n", "ansible_on": on}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    assert path.read_text() == "one\n"
    path.write_text("two\n")
    assert not is_in_sync(life)
    assert life.update({**given, "content": "three\n"}) == "updated"
    assert path.read_text() == "three\n"
    life.delete()
    assert not path.exists()


@pytest.fixture
def container() -> Iterator[Container]:
    if os.environ.get("ZONDA_ANSIBLE_TESTS") == "never":
        pytest.skip("ZONDA_ANSIBLE_TESTS=never")
    if find_podman() is None:
        skip(NO_PODMAN)
    need_root()
    try:
        made = Container()
    except RuntimeError as error:
        skip(f"podman starts no container: {error}")
    yield made
    made.stop()


def test_lives_in_a_container(container: Container) -> None:
    path = Path("/etc/zonda-made")
    lines = Life(
        "ansible.builtin.copy",
        {"dest": str(path), "content": "one\n"},
        {"content": "two\n"},
        lambda: container.has(path),
        lambda: container.run("sh", "-c", f"echo three > {path}"),
    )
    account = Life(
        "ansible.builtin.user",
        {"name": "zonda-inner", "comment": "One", "create_home": False},
        {"comment": "Two"},
        lambda: bool(container.run("getent", "passwd", "zonda-inner")),
        lambda: container.run("usermod", "--comment", "Three", "zonda-inner"),
    )
    for case in (lines, account):
        live(case, container.settings)
        assert not path.exists()
        assert "zonda-inner" not in Path("/etc/passwd").read_text()


def test_a_container_that_is_gone_is_told(container: Container) -> None:
    host = {**container.settings, "address": "zonda-none"}
    life = make_life("ansible.builtin.ping", {"ansible_on": host})
    with pytest.raises(ResourceFailure, match="zonda-none"):
        life.create()
