"""os-collect-config, the agent on Heat's servers, against ``zonda serve``: it polls and signals.

It lives in an environment of its own, since its dependencies are not zonda's::

    python3 -m venv VENV && VENV/bin/pip install os-collect-config; export ZONDA_AGENT=VENV
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 120.0
AGENT = Path(os.environ.get("ZONDA_AGENT", Path.home() / ".cache" / "zonda-blackbox" / "agent"))
TEMPLATE = """\
heat_template_version: 2018-08-31
resources:
  server: {type: OS::Heat::DeployedServer}
  config:
    type: OS::Heat::SoftwareConfig
    properties:
      group: script
      config: "echo hello"
      inputs: [{name: who}]
      outputs: [{name: said}]
  deployment:
    type: OS::Heat::SoftwareDeployment
    properties:
      config: {get_resource: config}
      server: {get_resource: server}
      signal_transport: TRANSPORT
      input_values: {who: ann}
outputs:
  collect: {value: {get_attr: [server, os_collect_config]}}
  said: {value: {get_attr: [deployment, said]}}
"""
#: The work of the hooks of heat-agents: each deployment is carried out, its result signalled.
HOOK = """\
import json, os, sys, urllib.request

for path in os.environ["OS_CONFIG_FILES"].split(":"):
    for each in json.load(open(path)).get("deployments", []):
        known = {one["name"]: one["value"] for one in each["inputs"]}
        result = {"deploy_stdout": each["config"], "deploy_status_code": 0, "said": known["who"]}
        request = urllib.request.Request(
            known["deploy_signal_id"],
            json.dumps(result).encode(),
            {"content-type": "application/json"},
            method=known["deploy_signal_verb"],
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            print("signalled", each["name"], answer.status)
"""


@pytest.mark.parametrize("transport", ["CFN_SIGNAL", "TEMP_URL_SIGNAL", "HEAT_SIGNAL"])
def test_the_agent_polls_a_deployment_and_signals_its_result(
    transport: str, zonda: Any, tmp_path: Path, until: Callable[..., Any]
) -> None:
    program = AGENT / "bin" / "os-collect-config"
    if not program.is_file() and os.environ.get("ZONDA_AGENT_TESTS") != "required":
        pytest.skip(f"no os-collect-config in {AGENT}: pip install os-collect-config there")
    server = zonda.start("serve", "--address", "127.0.0.1:0")
    assert server.stdout is not None
    line = next(line for line in server.stdout if "zonda at " in line)
    serving = line.partition("zonda at ")[2].partition(";")[0]
    (tmp_path / "t.yaml").write_text(TEMPLATE.replace("TRANSPORT", transport))
    (tmp_path / "hook.py").write_text(HOOK)
    creating = zonda.start("stack", "create", "web", "-t", tmp_path / "t.yaml")
    until(lambda: is_waiting(zonda), "the deployment waits", 60)
    shown = zonda.data("stack", "output", "show", "web", "collect", "--show-hidden")
    url = shown["output_value"]["request"]["metadata_url"]
    assert url.startswith(f"{serving}/signal/v1/")
    config = tmp_path / "agent.conf"
    config.write_text(
        f"[DEFAULT]\ncollectors = request\ncachedir = {tmp_path / 'cache'}\n"
        f"command = {sys.executable} {tmp_path / 'hook.py'}\n[request]\nmetadata_url = {url}\n"
    )
    words = [str(program), "--config-file", str(config), "--force", "--one-time"]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert creating.wait(PATIENCE) == 0, creating.communicate()
    shown = zonda.data("stack", "output", "show", "web", "said", "--show-hidden")
    assert shown["output_value"] == "ann"


def is_waiting(zonda: Any) -> bool:
    """Whether the deployment has begun to wait."""
    if zonda.state("web") == "":
        return False
    found = zonda.resources("web").get("deployment", {})
    return bool(found.get("resource_status") == "CREATE_IN_PROGRESS")
