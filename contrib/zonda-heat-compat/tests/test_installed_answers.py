"""Templates that are looked at while the cloud gives no answer, or a client raises anything."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
try:
    version("openstack-heat")
except PackageNotFoundError:
    if os.environ.get("HEAT_COMPAT_OPENSTACK_TESTS") == "required":
        raise
    pytest.skip("pip install 'contrib/zonda-heat-compat[openstack]'", allow_module_level=True)

COMMAND = """
import sys
from zonda.core.cli.main import main
print("exit", main(sys.argv[1:]))
"""
# Port 9 of the loopback: nobody listens there.
CLOUDS = """
clouds:
  down:
    auth: {auth_url: 'http://127.0.0.1:9/v3', username: u, password: s3cret, project_name: p,
           user_domain_name: Default, project_domain_name: Default}
"""
TEMPLATE = """
heat_template_version: 2018-08-31
parameters: {image: {type: string, default: x, constraints: [{custom_constraint: glance.image}]}}
resources:
  net: {type: OS::Neutron::Net, properties: {name: mine}}
  ip: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}
  zone: {type: OS::Designate::RecordSet, properties: {zone: z.org., records: [a], type: A}}
  server:
    type: OS::Nova::Server
    properties:
      image: {get_param: image}
      flavor: small
      networks: [{network: {get_resource: net}}, {network: other}]
"""
WILD = """
from heat.engine import constraints, properties, resource, translation
from heat.engine.clients import client_plugin
from heat.common import exception

class Wild(client_plugin.ClientPlugin):
    def _create(self, version=None):
        raise ZeroDivisionError("in the client")
    def find_it(self, value):
        raise {raised}

class Thing(resource.Resource):
    properties_schema = {{"it": properties.Schema(properties.Schema.STRING)}}
    def translation_rules(self, props):
        plugin = Wild(self.context)
        rule = translation.TranslationRule
        return [rule(props, rule.RESOLVE, ["it"], client_plugin=plugin, finder="find_it")]
    def {where}(self, *given):
        {code}

def resource_mapping():
    return {{"Wild::Thing": Thing}}
"""
AMBIGUOUS = (
    "__import__('neutronclient.common.exceptions').common.exceptions.NeutronClientNoUniqueMatch"
)
THING = """
heat_template_version: 2018-08-31
resources:
  one: {type: Wild::Thing, properties: {it: x}}
  two: {type: OS::Heat::Value, properties: {valve: 1}}
"""


def run(tmp_path: Path, *arguments: str, **variables: str) -> tuple[int, list[str]]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    home = {"ZONDA_HOME": str(tmp_path / "home"), "ZONDA_PLUGIN_DIRS": str(tmp_path / "plugins")}
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**known, **home, **variables},
        timeout=300,
    )
    assert "Traceback" not in done.stderr, done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("exit ")
    return int(lines[-1].split()[1]), done.stderr.splitlines()


@pytest.mark.parametrize(
    ("cloud", "reason"),
    [
        ("down", "ConnectFailure: Unable to establish connection to http://127.0.0.1:9/v3/"),
        ("nowhere", "The cloud nowhere cannot be used: Cloud nowhere was not found."),
    ],
)
def test_a_cloud_without_an_answer_makes_no_fault(tmp_path: Path, cloud: str, reason: str) -> None:
    (tmp_path / "clouds.yaml").write_text(CLOUDS)
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    where = {"OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml"), "OS_CLOUD": cloud}
    code, said = run(tmp_path, "template", "validate", str(tmp_path / "t.yaml"), **where)
    assert code == 0, said
    assert [line for line in said if reason not in line or "[ZON616]" not in line] == []
    lines = [line.partition("t.yaml:")[2].partition(":")[0] for line in said]
    # the parameter, the network of the address, the zone, flavor and network of the server
    assert {"3", "6", "7", "11", "12"} <= {*lines}
    assert "s3cret" not in "".join(said)


def test_a_finder_without_an_answer_is_told_where_no_constraint_tells_it(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    text = WILD.format(raised="ConnectionRefusedError('away')", where="handle_check", code="pass")
    (tmp_path / "plugins" / "wild.py").write_text(text)
    (tmp_path / "t.yaml").write_text(THING.replace("valve", "value"))
    code, said = run(tmp_path, "template", "validate", str(tmp_path / "t.yaml"))
    assert code == 0, said
    (told,) = said
    assert "t.yaml:4:41: warning: " in told
    assert "The value is not checked: ConnectionRefusedError: away [ZON616]" in told


@pytest.mark.parametrize(
    ("raised", "where", "code"),
    [
        ("KeyError('lost')", "handle_check", "pass"),
        ("ZeroDivisionError('zero')", "handle_check", "pass"),
        ("SystemExit(3)", "handle_check", "pass"),
        (f"{AMBIGUOUS}(resource='port', name='x')", "handle_check", "pass"),
        ("ValueError('x')", "validate", "Wild(self.context).client()"),
        ("ValueError('x')", "validate", "raise SystemExit(3)"),
        ("ValueError('x')", "add_dependencies", "Wild(self.context).client()"),
        ("ValueError('x')", "translation_rules", "Wild(self.context).client()"),
    ],
)
def test_whatever_a_client_raises_is_a_fault_with_its_place(
    tmp_path: Path, raised: str, where: str, code: str
) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "wild.py").write_text(
        WILD.format(raised=raised, where=where, code=code)
    )
    (tmp_path / "t.yaml").write_text(THING)
    code_of, said = run(tmp_path, "template", "validate", str(tmp_path / "t.yaml"))
    text = "\n".join(said)
    assert code_of == 2, said
    assert "t.yaml:4:" in text, "the resource whose client failed"
    assert "t.yaml:5:" in text, "and the fault of the other one"
