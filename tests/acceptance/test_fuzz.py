"""Requests at random, made of the OpenAPI documents by schemathesis, against ``zonda serve``.

No answer may be a 500 or another one than the document says. schemathesis lives in an environment
of its own (``ZONDA_FUZZ``): ``python3 -m venv FOLDER && FOLDER/bin/pip install schemathesis``.
The seed is fixed; a long run: ``ZONDA_FUZZ_EXAMPLES=500 ZONDA_FUZZ_SEED=$RANDOM pytest
tests/acceptance/test_fuzz.py``, which is that number for each operation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import absent

PATIENCE = 120.0
FUZZ = Path(os.environ.get("ZONDA_FUZZ", Path.home() / ".cache" / "zonda-fuzz"))
SCHEMATHESIS = FUZZ / "bin" / "schemathesis"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
#: Operations that wait for events, and so take as long as they are told to.
WAITING = r"/(events|read/engine\.(look|wait_for_check))$"
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"t": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
    "outputs": {"o": {"value": {"get_attr": ["t", "output"]}}},
}


@dataclass
class Server:
    """A running server with one of everything; ``parts``: their names, for paths."""

    process: subprocess.Popen[str]
    url: str
    parts: dict[str, str]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON value of an answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v1/default{path}", data, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return json.load(reply)

    def make_parts(self) -> None:
        """Make one of everything."""
        sent = {"stack_name": "fixed", "template": TEMPLATE}
        stack_id = self.ask("POST", "/stacks", sent)["stack"]["id"]
        path = f"/stacks/fixed/{stack_id}"
        while not self.ask("GET", path)["stack"]["stack_status"].endswith("_COMPLETE"):
            pass
        config = self.ask("POST", "/software_configs", {"name": "c"})["software_config"]["id"]
        sent = {"config_id": config, "server_id": "s"}
        made = self.ask("POST", "/software_deployments", sent)["software_deployment"]
        self.parts |= {
            "stack_name": "fixed",
            "stack_id": stack_id,
            "resource": "t",
            "output": "o",
            "snapshot_id": self.ask("POST", f"{path}/snapshots", {"name": "s"})["id"],
            "event_id": self.ask("GET", f"{path}/resources/t/events")["events"][0]["id"],
            "config_id": config,
            "deployment_id": made["id"],
            "type": "OS::Heat::TestResource",
            "version": "heat_template_version.2018-08-31",
            "server_id": "s",
        }


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    if not SCHEMATHESIS.is_file():
        how = f"python3 -m venv {FUZZ} && {FUZZ}/bin/pip install schemathesis"
        absent(f"no schemathesis in {FUZZ} (ZONDA_FUZZ): {how}", "ZONDA_FUZZ_TESTS")
    environ = {**os.environ, "ZONDA_HOME": str(tmp_path / "home"), "ZONDA_LOG": "off"}
    words = [sys.executable, "-P", "-m", "zonda", "serve", "--address", "127.0.0.1:0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environ)
    assert process.stderr is not None
    said = next(line for line in process.stderr if "zonda at " in line)
    url = said.partition("zonda at ")[2].partition(";")[0]
    yield Server(process, url, {"project": "default"})
    process.terminate()
    process.communicate(timeout=PATIENCE)


def run(server: Server, folder: Path, document: str, *words: str) -> None:
    """Send requests made of a document; what the paths name is fixed as far as it is known."""
    lines = [f'"path.{name}" = {json.dumps(value)}' for name, value in server.parts.items()]
    config = folder / "schemathesis.toml"
    config.write_text("\n".join(["[parameters]", *lines]) + "\n")
    examples = os.environ.get("ZONDA_FUZZ_EXAMPLES", "4")
    seed = os.environ.get("ZONDA_FUZZ_SEED", "20")
    command = [str(SCHEMATHESIS), "--config-file", str(config), "run"]
    command += [f"{server.url}/openapi/{document}", "--url", server.url, "--no-color"]
    command += ["--checks", ",".join(CHECKS), "--seed", seed, "--max-examples", examples]
    if document == "zonda.yaml":
        command += ["--exclude-path-regex", WAITING]
    command += ["--generation-database", "none", "--request-timeout", str(PATIENCE), *words]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environ
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert server.process.poll() is None, "the server has ended"


@pytest.mark.parametrize("document", ["heat.yaml", "zonda.yaml"])
def test_no_request_at_random_for_what_is_there_gets_a_500(
    server: Server, tmp_path: Path, document: str
) -> None:
    server.make_parts()
    run(server, tmp_path, document, "--exclude-method", "DELETE", "--phases", "coverage,fuzzing")
    assert server.ask("GET", f"/stacks/fixed/{server.parts['stack_id']}")["stack"]


@pytest.mark.parametrize("document", ["heat.yaml", "zonda.yaml"])
def test_no_request_at_random_for_anything_gets_a_500(
    server: Server, tmp_path: Path, document: str
) -> None:
    run(server, tmp_path, document, "--phases", "fuzzing")
