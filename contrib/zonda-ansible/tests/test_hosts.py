"""Modules over SSH, on a real server of the loopback."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cases.ground import skip
from lives import is_in_sync, make_life
from servers import ABSENT, SshServer, find_server
from zonda.hooks import ResourceFailure
from zonda.hooks.testing import Lifecycle

from zonda_ansible.hosts import Host, make_variables


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshServer]:
    """One that a test may stop or change."""
    if os.environ.get("ZONDA_ANSIBLE_TESTS") == "never":
        pytest.skip("ZONDA_ANSIBLE_TESTS=never")
    if find_server() is None:
        skip(ABSENT)
    found = SshServer(tmp_path / "sshd")
    yield found
    found.stop()


def make_host(server: SshServer, **more: Any) -> Lifecycle:
    life = Lifecycle(Host, {**server.settings, **more}, type_name="Zonda::Ansible::Host")
    life.create()
    return life


def test_operations_on_a_host_share_a_connection(server: SshServer, tmp_path: Path) -> None:
    host = make_host(server)
    connection = host.attribute("connection")
    path = tmp_path / "made"
    given = {"dest": str(path), "content": "one\n", "ansible_on": connection}
    life = make_life("ansible.builtin.copy", given)
    life.create()
    assert life.resource_id == str(path), "what other resources take for the thing's name"
    assert path.read_text() == "one\n"
    path.write_text("two\n")
    assert not is_in_sync(life)
    life.update({**given, "content": "three\n"})
    assert is_in_sync(life)
    life.delete()
    assert not path.exists()
    assert server.count_logins() == 1


def test_a_host_that_can_be_used_is_in_sync(server: SshServer) -> None:
    assert is_in_sync(make_host(server))


def test_a_host_without_the_python_that_is_given(server: SshServer) -> None:
    with pytest.raises(ResourceFailure, match=r"cannot be used: .*'/no/python' was not"):
        make_host(server, python="/no/python")


def test_a_host_that_cannot_be_used_is_unknown(server: SshServer) -> None:
    server.stop()
    given = server.settings
    with pytest.raises(ResourceFailure, match="cannot be used"):
        Lifecycle(Host, given, type_name="Zonda::Ansible::Host").live_state()


def test_another_machine_is_another_thing(server: SshServer, tmp_path: Path) -> None:
    given = {"path": str(tmp_path / "made"), "state": "touch", "ansible_on": server.settings}
    life = make_life("ansible.builtin.file", given)
    life.create()
    assert life.update({**given, "ansible_on": {}}) == "replaced"


def test_a_host_that_is_gone_is_told(server: SshServer) -> None:
    server.stop()
    with pytest.raises(ResourceFailure, match=r"cannot be used: .*refused"):
        make_host(server)


def test_a_key_that_is_refused_is_told_and_nobody_is_asked(server: SshServer) -> None:
    (server.folder / "authorized").write_text("")
    with pytest.raises(ResourceFailure, match="Permission denied"):
        make_host(server)


def test_passwords_are_hidden_and_variables_reach_ansible() -> None:
    given = {"address": "x", "become": True, "hidden_variables": {"a": 1}}
    assert make_variables(given) == {
        "a": 1,
        "ansible_host": "x",
        "ansible_become": True,
        "ansible_connection": "ssh",
    }
    assert "ansible_port" not in make_variables({"address": "x", "port": 0}), "none was given"
    schema = Host.properties_schema
    assert {name for name, each in schema.items() if each.hidden} == {
        "password",
        "become_password",
        "hidden_variables",
        "vault_password",
    }
