"""Heat's own types, found in an installed openstack-heat; nothing here asks a cloud."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, version
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
try:
    VERSION = version("openstack-heat")
except PackageNotFoundError:
    if os.environ.get("HEAT_COMPAT_OPENSTACK_TESTS") == "required":
        raise
    pytest.skip("pip install 'contrib/zonda-heat-compat[openstack]'", allow_module_level=True)

COMMAND = """
import sys
from zonda.core.cli.main import main
sys.argv = ["zonda", *sys.argv[1:]]
print("exit", main(sys.argv[1:]))
print("of Heat:", sum(name.partition(".")[0] == "heat" for name in sys.modules))
"""
VALUE = """
heat_template_version: 2018-08-31
resources: {v: {type: OS::Heat::Value, properties: {value: 1}}}
"""
NET = """
heat_template_version: 2018-08-31
resources: {n: {type: OS::Neutron::Net, properties: {name: mine, shard: true}}}
"""
NETWORKS = """
heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: 10.0.0.0/24}
  router:
    type: OS::Neutron::Router
    properties: {external_gateway_info: {network: public}}
  plug:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet_id: {get_resource: subnet}}
  port:
    type: OS::Neutron::Port
    properties:
      network_id: {get_resource: net}
      fixed_ips: [{subnet_id: {get_resource: subnet}}]
  address:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: public, port_id: {get_resource: port}}
  elsewhere:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: other}
"""
OWN = """
from zonda.hooks import resource

class Net(resource.Resource):
    "A network of mine."

def resource_mapping():
    return {"OS::Neutron::Net": Net}
"""


def run(tmp_path: Path, *arguments: str, code: str = COMMAND) -> list[str]:
    home = {"ZONDA_HOME": str(tmp_path / "home"), "ZONDA_PLUGIN_DIRS": str(tmp_path / "plugins")}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **home},
        timeout=120,
    )
    return (done.stdout + done.stderr).splitlines()


# Libraries of Heat's files import what Python will drop.
@pytest.mark.filterwarnings("ignore")
def test_every_type_of_heats_files_is_found_without_importing_one() -> None:
    from zonda.core.plugins.manager import gather_plugins, make_manager

    from zonda_heat_compat import installed, plugin

    before = set(sys.modules)
    plugins = gather_plugins(make_manager(plugin, discover=False))
    imported = set(sys.modules) - before
    assert not [name for name in imported if name.startswith("heat.engine.resources.openstack.")]
    assert len(plugins.resource_types) > 180
    for module, _ in {*installed._list_places().values()}:
        brought = importlib.import_module(module).resource_mapping()
        found = {
            name: getattr(importlib.import_module(module), cls)
            for name, (where, cls) in installed._list_places().items()
            if where == module
        }
        assert found == brought


def test_the_list_of_plugins_says_what_is_there_in_one_line(tmp_path: Path) -> None:
    said = run(tmp_path, "plugin", "list")
    text = " ".join(line.strip() for line in said)
    found = f"openstack-heat {VERSION}: 166 types, 20 clients, 70 constraints."
    assert found in text
    assert "warning" not in text
    assert "exit 0" in said


@pytest.mark.parametrize("command", [["stack", "list"], ["template", "validate", "value.yaml"]])
def test_what_uses_none_of_heats_types_imports_nothing_of_heat(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "value.yaml").write_text(VALUE)
    (tmp_path / "home").mkdir(0o700)
    said = run(tmp_path, *[each.replace("value", str(tmp_path / "value")) for each in command])
    assert "of Heat: 0" in said
    assert "exit 0" in said


def test_a_fault_in_the_properties_is_told_as_that_of_any_type(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(NET)
    said = "\n".join(run(tmp_path, "template", "validate", str(tmp_path / "net.yaml")))
    assert "Unknown Property shard" in said


def test_who_brings_a_type_of_the_name_is_preferred(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "own.py").write_text(OWN)
    said = run(tmp_path, "resource", "type", "show", "OS::Neutron::Net")
    assert "A network of mine." in "\n".join(said)
    assert "of Heat: 0" in said


def test_heat_itself_is_what_other_processes_import(tmp_path: Path) -> None:
    code = "import heat.engine.stack as it; print(it.Stack.__module__)"
    assert "heat.engine.stack" in run(tmp_path, code=code)


def test_what_is_imported_already_is_not_exchanged(tmp_path: Path) -> None:
    code = """
import heat
try:
    import zonda_heat_compat.plugin
except ImportError as error:
    print(error)
"""
    (said,) = run(tmp_path, code=code)
    assert "does not take its place" in said


SERVER = """
heat_template_version: 2018-08-31
parameters: {image: {type: string, default: x, constraints: [{custom_constraint: glance.image}]}}
resources:
  n: {type: OS::Neutron::Net, properties: {name: mine}}
  address: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
  s:
    type: OS::Nova::Server
    properties:
      image: {get_param: image}
      flavor: small
      networks: [{network: {get_resource: n}}]
"""


def test_a_template_is_valid_where_no_cloud_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(SERVER)
    said = run(tmp_path, "template", "validate", str(tmp_path / "server.yaml"))
    assert "exit 0" in said, said
    warned = [line for line in said if "warning" in line]
    assert warned
    assert all(line.endswith("No cloud is known for this stack [ZON616]") for line in warned)
    assert "Parameter 'image' is not checked: " in warned[0]


ROUTER = """
heat_template_version: 2018-08-31
parameters: {outside: {type: string}}
resources:
  r:
    type: OS::Neutron::Router
    properties: {external_gateway_info: {network: {get_param: outside}}}
  lease:
    type: OS::Blazar::Lease
    properties:
      name: l
      start_date: "2030-01-01 10:00"
      end_date: "2030-01-02 10:00"
      reservations: [{resource_type: "physical:host", min: 1, max: 1}]
"""


def test_a_template_is_valid_without_a_cloud_or_values_of_parameters(tmp_path: Path) -> None:
    """A router reads its gateway for its dependencies; a lease asks for hosts in its own check."""
    (tmp_path / "router.yaml").write_text(ROUTER)
    said = run(tmp_path, "template", "validate", str(tmp_path / "router.yaml"))
    assert "exit 0" in said, said
    told = "The resource is not checked: No cloud is known for this stack [ZON616]"
    assert any(told in line for line in said)


def test_what_would_be_made_says_that_there_is_no_cloud(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(SERVER)
    said = "\n".join(run(tmp_path, "stack", "create", "-t", str(tmp_path / "server.yaml"), "s"))
    assert "No cloud is known for this stack" in said
    assert "Traceback" not in said


def test_an_address_waits_for_the_way_to_its_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OS_CLOUD", raising=False)  # no service is asked for it
    file = tmp_path / "t.yaml"
    file.write_text(NETWORKS)
    said = "\n".join(run(tmp_path, "template", "graph", str(file), "-f", "json"))
    graph, _ = json.JSONDecoder().raw_decode(said[said.index("{") :])
    added = {
        (edge["dependant"], edge["requirement"])
        for edge in graph["edges"]
        if "add_dependencies" in edge["reasons"]
    }
    assert {("address", "router"), ("address", "plug")} <= added
    assert not any("elsewhere" in edge for edge in added)


class Counted(Distribution):
    """A distribution of that name, which counts how often it is read."""

    reads = 0

    def read_text(self, filename: str) -> str:
        """Its metadata, and an entry point."""
        if filename == "entry_points.txt":
            return "[heat.clients]\nown = own:Plugin\n"
        self.reads += 1
        return "Name: openstack-heat\n"

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        """Nothing of it is a file."""
        raise NotImplementedError


def test_whose_an_entry_point_is_is_read_once() -> None:
    """Each context and resource asks it for each of its clients."""
    from zonda_heat_compat import installed

    dist = Counted()
    (entry,) = dist.entry_points
    assert all(installed.brings(entry) for _ in range(3))
    assert dist.reads == 1
