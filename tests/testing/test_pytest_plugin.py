"""The fixture for authors of plug-ins, used as they would: in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = '''
from zonda.hooks import attributes, properties, resource


class Slow(resource.Resource):
    """Ready after an hour."""

    properties_schema = {
        "size": properties.Schema(properties.Schema.INTEGER, "How large.", update_allowed=True)
    }
    attributes_schema = {"size": attributes.Schema("How large.")}

    def handle_create(self):
        self.resource_id_set("slow")
        return {"until": self.context.clock.now() + 3500}

    def check_create_complete(self, token):
        return self.context.clock.now() >= token["until"]

    def handle_update(self, json_snippet, tmpl_diff, prop_diff):
        return None

    def _resolve_attribute(self, name):
        return self.properties["size"]


def resource_mapping():
    return {"My::Slow": Slow}
'''

TESTS = '''
from pathlib import Path

import pytest

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 1}
resources:
  a: {type: "My::Slow", properties: {size: {get_param: size}}}
outputs:
  size: {value: {get_attr: [a, size]}}
"""


@pytest.fixture
def zonda_plugin_dirs():
    return [Path(__file__).parent / "plugins"]


def test_a_whole_life(zonda_stack):
    began = zonda_stack.clock.now()
    assert zonda_stack.create(TEMPLATE).state == "CREATE_COMPLETE"
    assert zonda_stack.clock.now() - began >= 3500
    assert zonda_stack.outputs == {"size": 1}
    before = zonda_stack.resources["a"].id
    assert zonda_stack.update(TEMPLATE, size=2).state == "UPDATE_COMPLETE"
    assert zonda_stack.resources["a"].id == before
    assert zonda_stack.outputs == {"size": 2}
    assert zonda_stack.suspend().state == "SUSPEND_COMPLETE"
    assert zonda_stack.resume().state == "RESUME_COMPLETE"
    assert zonda_stack.check().state == "CHECK_COMPLETE"
    assert zonda_stack.delete().state == "DELETE_COMPLETE"
'''


def test_a_plugin_author_runs_a_whole_template_without_waiting(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "slow.py").write_text(PLUGIN)
    (tmp_path / "test_slow.py").write_text(TESTS)
    # Loaded by its module's name, whether or not the entry point is installed.
    options = (
        "-q",
        "-p",
        "no:zonda",
        "-p",
        "zonda.core.testing.pytest_plugin",
        "-p",
        "no:cacheprovider",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
