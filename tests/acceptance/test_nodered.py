"""A stranger's plain webhook: flows of a real Node-RED, which know nothing of zonda.

Node-RED is looked for in ``$ZONDA_NODE_RED``, a folder of ``npm install --prefix``, which
``.ci/run`` makes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from .conftest import absent, eventually, free_port

FLOWS = Path(__file__).parent / "nodered" / "flows.json"
HOW = "npm install --prefix FOLDER node-red@4.1, then ZONDA_NODE_RED=FOLDER"

TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 3}
resources:
  disk:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: "flows:make"}
        UPDATE: {workflow: "flows:change"}
        DELETE: {workflow: "flows:remove"}
      input: {size: {get_param: size}}
outputs:
  id: {value: {get_resource: disk}}
  path: {value: {get_attr: [disk, output, path]}}
  size: {value: {get_attr: [disk, output, size]}}
"""


@pytest.fixture(scope="module")
def program() -> list[str]:
    """The command that starts Node-RED; where there is none it skips, and in the CI fails."""
    node, folder = shutil.which("node"), os.environ.get("ZONDA_NODE_RED", "")
    red = Path(folder) / "node_modules" / "node-red" / "red.js"
    if node is None or not folder or not red.exists():
        absent(f"Node-RED is not installed: {HOW}", "ZONDA_NODE_RED_TESTS")
    return [node, str(red)]


@pytest.fixture(scope="module")
def node_red(program: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Node-RED with the flows, on loopback; its URL."""
    folder = tmp_path_factory.mktemp("node-red")
    shutil.copy(FLOWS, folder / "flows.json")
    port = free_port()
    settings = {
        "uiHost": "127.0.0.1",
        "uiPort": port,
        "flowFile": "flows.json",
        "disableEditor": True,
        "httpAdminRoot": False,
        "telemetry": {"enabled": False, "updateNotification": False},
    }
    (folder / "settings.js").write_text(f"module.exports = {json.dumps(settings)}\n")
    log = folder / "log"
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*program, "--userDir", str(folder), "--settings", str(folder / "settings.js")],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**kept, "HOME": str(folder)},
            cwd=folder,
        )

    def is_ready() -> bool:
        assert process.poll() is None, log.read_text()
        return "Started flows" in log.read_text()

    try:
        eventually(is_ready, "Node-RED starts its flows", 60)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def disks(node_red: str) -> Callable[[], Any]:
    """What disks there are, as Node-RED tells."""
    return lambda: requests.get(f"{node_red}/disks", timeout=10).json()


def test_a_stack_lives_its_life_on_a_strangers_webhook(
    zonda: Any, write: Callable[[str, str], Path], node_red: str, disks: Callable[[], Any]
) -> None:
    zonda.configure(f'[runners.flows]\nendpoint = "{node_red}"\n')
    template = write("t.yaml", TEMPLATE)
    zonda.run("stack", "create", "s", "-t", template)
    (made,) = disks().items()
    assert made == (zonda.outputs("s")["id"], {"size": 3})
    assert zonda.outputs("s") == {"id": made[0], "path": f"/disks/{made[0]}", "size": 3}

    zonda.run("stack", "update", "s", "-t", template, "--parameter", "size=5")
    assert disks() == {made[0]: {"size": 5}}
    assert zonda.outputs("s")["size"] == 5

    zonda.run("stack", "update", "s", "-t", template, "--parameter", "size=5000", code=1)
    assert zonda.state("s") == "UPDATE_FAILED"
    shown = zonda.data("stack", "resource", "show", "s", "disk")
    assert "no disk is larger than 1000" in shown["resource_status_reason"]
    assert disks() == {made[0]: {"size": 5}}

    zonda.run("stack", "delete", "--yes", "s")
    assert disks() == {}


def test_a_strangers_webhook_passes_the_check_of_endpoints(
    zonda: Any, node_red: str, disks: Callable[[], Any]
) -> None:
    done = zonda.run(
        *("runner", "check", node_red, "--workflow", "make", "--delete-workflow", "remove"),
        *("--input", '{"size": 1}', "--failing-input", '{"size": 2000}', "-f", "json"),
    )
    rows = {row["Check"]: row for row in json.loads(done.stdout)}
    assert rows["failure"]["Verdict"] == "pass"
    assert rows["fields"]["Verdict"] == "hint"
    assert rows["tidied up"]["Verdict"] == "pass"
    assert disks() == {}
