"""Heat's own clients against ``zonda serve``: every ``openstack stack`` command, and ``heat``.

They live in an environment of their own (``ZONDA_CLIENTS``, by default the one of Heat's suites),
since their dependencies are not zonda's: ``pip install python-openstackclient python-heatclient``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE = 120.0
TEMPLATE = """\
heat_template_version: 2018-08-31
parameters: {n: {type: number, default: 8}}
resources:
  r: {type: OS::Heat::RandomString, properties: {length: {get_param: n}}}
  t: {type: OS::Heat::TestResource, properties: {value: {get_attr: [r, value]}}}
  h: {type: OS::Heat::WaitConditionHandle}
outputs: {o: {description: words, value: {get_attr: [r, value]}}}
"""
CLIENTS = Path(os.environ.get("ZONDA_CLIENTS", Path.home() / ".cache" / "zonda-blackbox" / "venv"))


@dataclass
class Client:
    """A client in a folder with a template, and the address of the server."""

    folder: Path
    url: str

    def openstack(self, text: str, *, code: int = 0) -> str:
        """The output of a command of openstackclient."""
        where = ["--os-auth-type", "none", "--os-endpoint", f"{self.url}/v1/default"]
        return self._run(["openstack", *where, *text.split()], code)

    def heat(self, text: str) -> str:
        """The output of a command of python-heatclient's own shell."""
        where = ["--os-no-client-auth", "--heat-url", f"{self.url}/v1/default"]
        return self._run(["heat", *where, "--os-auth-token", "any", *text.split()], 0)

    def _run(self, words: list[str], code: int) -> str:
        done = subprocess.run(
            [str(CLIENTS / "bin" / words[0]), *words[1:]],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONWARNINGS": "ignore"},
        )
        assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    if not (CLIENTS / "bin" / "openstack").is_file():
        pytest.skip(f"no openstackclient in {CLIENTS} (set ZONDA_CLIENTS)")
    folder = tmp_path_factory.mktemp("client")
    (folder / "t.yaml").write_text(TEMPLATE)
    environ = {**os.environ, "ZONDA_HOME": str(folder / "home"), "ZONDA_LOG": "off"}
    environ |= {"ZONDA_ENABLE_STACK_ABANDON": "yes", "ZONDA_ENABLE_STACK_ADOPT": "yes"}
    words = [sys.executable, "-P", "-m", "zonda", "serve", "--address", "127.0.0.1:0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environ)
    assert process.stderr is not None
    said = next(line for line in process.stderr if "zonda at " in line)
    yield Client(folder, said.partition("zonda at ")[2].partition(";")[0])
    process.terminate()
    process.communicate(timeout=PATIENCE)


#: Commands in their order, and what each has to say.
STEPS = [
    ("stack create -t t.yaml --tags a,b --wait s", "CREATE_COMPLETE"),
    ("stack list", "CREATE_COMPLETE"),
    ("stack list --nested --deleted --limit 5", "CREATE_COMPLETE"),
    ("stack list --all-projects", None),
    ("stack show s", "words"),
    ("stack show s --no-resolve-outputs", "CREATE_COMPLETE"),
    ("stack output list s", "words"),
    ("stack output show s o", "output_value"),
    ("stack output show s --all", "output_value"),
    ("stack resource list s", "OS::Heat::RandomString"),
    ("stack resource list s -n 2 --long", "OS::Heat::RandomString"),
    ("stack resource show s r", "attributes"),
    ("stack resource metadata s r", "{}"),
    ("stack resource signal s h", ""),
    ("stack resource mark unhealthy s t because", ""),
    ("stack resource show s t", "because"),
    ("stack resource mark unhealthy --reset s t", ""),
    ("stack event list s", "Stack CREATE started"),
    ("stack event list s --nested-depth 1 --limit 2", "s"),
    ("stack template show s", "OS::Heat::RandomString"),
    ("stack environment show s", "parameters"),
    ("stack file list s", "{}"),
    ("stack failures list s", ""),
    ("stack update -t t.yaml --parameter n=9 --wait s", "UPDATE_COMPLETE"),
    ("stack update --existing --parameter n=10 --dry-run s", "replaced"),
    ("stack update --existing --parameter n=10 --wait s", "UPDATE_COMPLETE"),
    ("stack check --wait s", "CHECK_COMPLETE"),
    ("stack suspend --wait s", "SUSPEND_COMPLETE"),
    ("stack resume --wait s", "RESUME_COMPLETE"),
    ("stack snapshot create --name one s", "one"),
    ("stack snapshot list s", "one"),
    ("stack export s", "environment"),
    ("stack create -t t.yaml --dry-run other", "OS::Heat::RandomString"),
    ("orchestration template validate -t t.yaml", "Parameters"),
    ("orchestration template validate -t t.yaml --show-nested", "Parameters"),
    ("orchestration template version list", "2018-08-31"),
    ("orchestration template function list heat_template_version.rocky", "get_attr"),
    ("orchestration resource type list --filter name=OS::Heat::R", "OS::Heat::RandomString"),
    ("orchestration resource type show OS::Heat::RandomString", "length"),
    ("orchestration resource type show OS::Heat::RandomString --template-type hot", "Initial"),
    ("orchestration build info", "unknown"),
    ("orchestration service list", "up"),
    ("software config list", ""),
    ("software deployment list", ""),
    ("stack abandon s", "environment"),
    ("stack delete -y --wait s", None),
]


def test_every_command_of_openstackclient_is_answered(client: Client) -> None:
    for text, says in STEPS:
        said = client.openstack(text, code=0 if says is not None else 1)
        assert says is None or says in said, f"{text}: {said}"


def test_the_shell_of_heatclient_is_answered(client: Client) -> None:
    client.heat("stack-create -f t.yaml -P n=5 old")
    client.openstack("stack check --wait old")
    assert "CHECK_COMPLETE" in client.heat("stack-list")
    assert "OS::Heat::RandomString" in client.heat("resource-list old")
    assert "CREATE" in client.heat("event-list old")
    client.heat("stack-delete -y old")
