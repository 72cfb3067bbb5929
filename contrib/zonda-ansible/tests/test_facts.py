"""Facts of this machine as attributes of a host, and a host that another package makes."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pytest
from zonda.hooks.testing import FakeContext, Lifecycle

from zonda_ansible.facts import read_facts
from zonda_ansible.hosts import Host

EXAMPLE = Path(__file__).parent.parent / "examples" / "web-server.yaml"
#: A stranger's plug-in in place of that of a cloud: its server is this machine.
SERVER = """
from zonda.hooks import Resource, attributes, hookimpl, properties


class Server(Resource):
    properties_schema = {
        name: properties.Schema(properties.Schema.ANY)
        for name in ("image", "flavor", "key_name", "networks")
    }
    attributes_schema = {"first_address": attributes.Schema()}

    def handle_create(self):
        self.resource_id_set("web-1")

    def _resolve_attribute(self, name):
        return "127.0.0.1"


@hookimpl
def zonda_resource_types():
    return {"OS::Nova::Server": Server}
"""


@pytest.fixture
def zonda_plugin_dirs(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "cloud.py").write_text(SERVER)
    return [folder]


def make_host(*reads: str, **settings: Any) -> Lifecycle:
    context = FakeContext()
    context.reads = frozenset(reads)
    return Lifecycle(
        Host,
        {"fact_subsets": ["!all", "network"], **settings},
        type_name="Zonda::Ansible::Host",
        context=context,
    )


def test_facts_are_gathered_where_the_template_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "s3cret")
    life = make_host("facts")
    life.create()
    found = life.attribute("facts")
    assert found["nodename"] == platform.node()
    assert "interfaces" in found
    assert "processor" not in found, "another subset"
    assert "s3cret" not in str(found)


def test_facts_that_nobody_reads_are_not_gathered() -> None:
    life = make_host("connection")
    life.create()
    assert life.attribute("facts") is None
    assert "facts" not in life.saved.data


def test_facts_of_a_machine_that_cannot_be_reached_are_unknown() -> None:
    life = make_host("facts")
    life.create()
    assert life.attribute("facts")
    gone = {"connection": "ssh", "address": "127.0.0.1", "port": 1}
    life.definition = make_host("facts", **gone).definition
    with pytest.raises(Exception, match="cannot be used"):
        life.check()
    assert life.attribute("facts") is None


def test_names_without_prefix_and_no_environment() -> None:
    result = {"ansible_facts": {"ansible_system": "Linux", "ansible_env": {"A": "b"}, "own": 1}}
    assert read_facts(result) == {"system": "Linux", "own": 1}
    assert read_facts({}) == {}


def test_a_host_of_one_package_is_configured_by_another(zonda_stack: Any, tmp_path: Path) -> None:
    given = {
        **dict.fromkeys(("image", "flavor", "network", "key_name", "private_key_file"), "x"),
        "connection": "local",
        "user": "root",
        "become": False,
        "folder": str(tmp_path / "www"),
    }
    stack = zonda_stack.create(EXAMPLE.read_text(), **given)
    assert stack.state == "CREATE_COMPLETE", stack.status_reason
    page = tmp_path / "www" / "index.html"
    assert page.read_text().startswith("web-1 runs ")
    assert page.read_text().strip() != "web-1 runs"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
    assert not page.parent.exists()
