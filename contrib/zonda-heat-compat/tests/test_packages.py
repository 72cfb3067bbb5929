"""Packages for Heat, found by their entry points."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")

MODULE = """
from heat.common import exception
from heat.engine import constraints, properties, resource
from heat.engine.clients import client_plugin


class AcmeClient(client_plugin.ClientPlugin):
    def _create(self, version=None):
        return {"tenant": self.context.tenant_id, "version": version}

    def is_not_found(self, ex):
        return isinstance(ex, KeyError)

    def find_thing(self, name):
        if name != "known":
            raise exception.EntityNotFound(entity="Thing", name=name)
        return "id-" + name


class ThingConstraint(constraints.BaseCustomConstraint):
    resource_client_name = "acme"
    resource_getter_name = "find_thing"


class Thing(resource.Resource):
    default_client_name = "acme"
    properties_schema = {
        "thing": properties.Schema(
            properties.Schema.STRING,
            required=True,
            constraints=[constraints.CustomConstraint("acme.thing")],
        ),
    }

    def handle_create(self):
        self.resource_id_set(self.client_plugin().find_thing(self.properties["thing"]))
        self.data_set("client", self.client()["tenant"])

    def handle_delete(self):
        with self.client_plugin().ignore_not_found:
            raise KeyError(self.resource_id)


def resource_mapping():
    return {"Acme::Thing": Thing}
"""
BROKEN = "import library_of_nobody\n"
ENTRY_POINTS = """
[zonda]
acme = acme_heat
broken = acme_broken

[heat.clients]
acme = acme_heat:AcmeClient

[heat.constraints]
acme.thing = acme_heat:ThingConstraint
acme.broken = acme_broken:Nothing
"""
CODE = """
import pathlib, sys
from zonda.core.testing.stack import InlineStack
from zonda.hooks.errors import ValidationErrors

stack = InlineStack(pathlib.Path(sys.argv[1]))
template = "heat_template_version: 2018-08-31\\n"
template += "resources: {t: {type: Acme::Thing, properties: {thing: %s}}}"
try:
    stack.create(template % "unknown")
except ValidationErrors as error:
    print(error)
print(stack.create(template % "known").state, stack.resources["t"].physical_id)
print(stack.delete().state)
stack.close()
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    information = folder / "acme_heat-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "acme_heat.py").write_text(MODULE)
    (folder / "acme_broken.py").write_text(BROKEN)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-heat\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def run(site: Path, tmp_path: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(site), "ZONDA_HOME": str(tmp_path)},
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_types_clients_and_constraints_of_a_package_work_together(
    site: Path, tmp_path: Path
) -> None:
    assert run(site, tmp_path, CODE).splitlines() == [
        "Property error: resources.t.properties.thing: Error validating value 'unknown': "
        "The Thing (unknown) could not be found.",
        "CREATE_COMPLETE id-known",
        "DELETE_COMPLETE",
    ]


def test_what_is_broken_is_told_and_hurts_nothing_else(site: Path, tmp_path: Path) -> None:
    code = """
from zonda.core.plugins.manager import gather_plugins, make_manager
failures = []
plugins = gather_plugins(make_manager(failures=failures), failures)
print("acme.thing" in plugins.constraints, "Acme::Thing" in plugins.resource_types)
for each in plugins.failures:
    print(each)
"""
    first, *told = run(site, tmp_path, code).splitlines()
    assert first == "True True"
    assert any("broken (acme-heat 1.0) cannot be imported" in line for line in told)
    assert any("The constraint acme.broken of heat-compat" in line for line in told)
    assert all("library_of_nobody" in line for line in told)
