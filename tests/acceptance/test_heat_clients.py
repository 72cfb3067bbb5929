"""Heat's own clients against ``zonda serve``: openstackclient, python-heatclient, openstacksdk.

They live in an environment of their own (``ZONDA_CLIENTS``, by default the one of Heat's suites),
since their dependencies are not zonda's:
``pip install python-openstackclient python-heatclient openstacksdk``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.acceptance.conftest import absent

PATIENCE = 120.0
SCRIPTS = Path(__file__).parent / "clients"
TEMPLATE = """\
heat_template_version: 2018-08-31
parameters: {n: {type: number, default: 8}}
resources:
  r: {type: OS::Heat::RandomString, properties: {length: {get_param: n}}}
  t: {type: OS::Heat::TestResource, properties: {value: {get_attr: [r, value]}}}
  h: {type: OS::Heat::WaitConditionHandle}
outputs: {o: {description: words, value: {get_attr: [r, value]}}}
"""
#: A resource that takes a while, and one with a breakpoint before it.
SLOW = """\
heat_template_version: 2018-08-31
resources:
  w: {type: OS::Heat::TestResource, properties: {value: x, wait_secs: 3}}
"""
HOOKS = "resource_registry: {resources: {r: {hooks: pre-create}}}\n"
#: A cluster as Magnum and Tacker have them: nested stacks, an environment, a handle.
CLUSTER = {
    "main.yaml": """\
heat_template_version: 2018-08-31
parameters: {count: {type: number, default: 1}, flavor: {type: string}}
resources:
  handle: {type: OS::Heat::WaitConditionHandle}
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: {get_param: count}
      resource_def:
        type: member.yaml
        properties: {name: 'member-%index%', flavor: {get_param: flavor}}
outputs: {members: {value: {get_attr: [group, address]}}}
""",
    "member.yaml": """\
heat_template_version: 2018-08-31
parameters: {name: {type: string}, flavor: {type: string}}
resources:
  server: {type: Some::Server, properties: {value: {get_param: name}}}
outputs: {address: {value: {get_attr: [server, output]}}}
""",
    "environment.yaml": """\
parameters: {flavor: small}
resource_registry: {'Some::Server': 'OS::Heat::TestResource'}
""",
}
ZONDA = [sys.executable, "-P", "-m", "zonda"]
CLIENTS = Path(os.environ.get("ZONDA_CLIENTS", Path.home() / ".cache" / "zonda-blackbox" / "venv"))


@dataclass
class Client:
    """A client in a folder with a template, and the address of the server.

    ``names``: what later commands need of the output of earlier ones. ``shell``: a process that
    runs commands of openstackclient.
    """

    folder: Path
    url: str
    shell: subprocess.Popen[str]
    names: dict[str, str] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        """The endpoint of the project."""
        return f"{self.url}/v1/default"

    def openstack(self, text: str, *, code: int = 0) -> str:
        """The output of a command of openstackclient."""
        words = self.fill(text).split()
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(json.dumps(words) + "\n")
        self.shell.stdin.flush()
        found, said = json.loads(self.shell.stdout.readline())
        assert found == code, f"{text}: {said}"
        return str(said)

    def fill(self, text: str) -> str:
        """The text with what earlier commands have named."""
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def heat(self, text: str) -> str:
        """The output of a command of python-heatclient's own shell."""
        where = ["--os-no-client-auth", "--heat-url", self.endpoint, "--os-auth-token", "any"]
        return self.run(str(CLIENTS / "bin" / "heat"), *where, *text.split())

    def python(self, script: str, *words: str) -> str:
        """The output of a script, run by the Python of the clients."""
        return self.run(str(CLIENTS / "bin" / "python"), str(SCRIPTS / script), *words)

    def run(self, *words: str) -> str:
        """The output of a program that has to succeed."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env=make_environment(self.folder),
        )
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr


def make_environment(folder: Path) -> dict[str, str]:
    """The variables of a client: none of OpenStack's."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONWARNINGS": "ignore"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    if not (CLIENTS / "bin" / "openstack").is_file():
        how = "pip install python-openstackclient python-heatclient openstacksdk"
        absent(f"no openstackclient in {CLIENTS} (ZONDA_CLIENTS): {how}", "ZONDA_CLIENTS_TESTS")
    folder = tmp_path_factory.mktemp("client")
    for name, text in {"t.yaml": TEMPLATE, "w.yaml": SLOW, "h.yaml": HOOKS, **CLUSTER}.items():
        (folder / name).write_text(text)
    options = {"ZONDA_ENABLE_STACK_ABANDON": "yes", "ZONDA_ENABLE_STACK_ADOPT": "yes"}
    with serve(folder / "home", **options) as url:
        shell = subprocess.Popen(
            [str(CLIENTS / "bin" / "python"), str(SCRIPTS / "commands.py"), f"{url}/v1/default"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env=make_environment(folder),
        )
        yield Client(folder, url, shell)
        shell.communicate(timeout=PATIENCE)


@contextmanager
def serve(home: Path, **options: str) -> Iterator[str]:
    """A server of a home; gives its URL."""
    environ = {**os.environ, "ZONDA_HOME": str(home), "ZONDA_LOG": "off", **options}
    words = [*ZONDA, "serve", "--address", "127.0.0.1:0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environ)
    assert process.stderr is not None
    try:
        said = next(line for line in process.stderr if "zonda at " in line)
        yield said.partition("zonda at ")[2].partition(";")[0]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


#: Commands in their order, and what each has to say; None where it has to fail. A name before a
#: ``=`` keeps the output for later commands.
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
    ("event=stack event list s --resource r --limit 1 -f value -c id", ""),
    ("stack event show s r {event}", "OS::Heat::RandomString"),
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
    ("snapshot=stack snapshot list s -f value -c id", ""),
    ("stack check --wait s", "CHECK_COMPLETE"),
    ("stack snapshot show s {snapshot}", "COMPLETE"),
    ("stack snapshot restore s {snapshot}", ""),
    ("stack snapshot delete -y s {snapshot}", ""),
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
    ("config=software config create --config-file t.yaml -f value -c id c", ""),
    ("software config show {config}", "RandomString"),
    ("software config list", "c"),
    (
        "software deployment create --config {config} --server v --signal-transport NO_SIGNAL d",
        "config_id",
    ),
    ("deployment=software deployment list --server v -f value -c id", ""),
    ("software deployment show {deployment}", "{deployment}"),
    ("software deployment list --server v", "{deployment}"),
    ("software deployment metadata show v", "RandomString"),
    ("software deployment output show --all {deployment}", ""),
    ("software deployment delete {deployment}", ""),
    ("software deployment show {deployment}", None),
    ("software config delete {config}", ""),
    ("stack abandon --output-file s.json s", ""),
    ("stack show s", "DELETE_COMPLETE"),  # its name leads to it for a while
    ("stack adopt --adopt-file s.json --wait adopted", "ADOPT_COMPLETE"),
    ("stack delete -y --wait adopted", ""),
    ("stack create -t t.yaml -e h.yaml held", "CREATE_IN_PROGRESS"),
    ("stack hook poll held", "pre-create"),
    ("stack hook clear held --pre-create r", ""),
    ("stack delete -y --wait held", ""),
    ("stack create -t w.yaml slow", "CREATE_IN_PROGRESS"),
    ("stack cancel slow --no-rollback", "slow"),
    ("stack delete -y --wait slow", ""),
    ("stack show nothing", None),
]


def split(text: str) -> tuple[str, str]:
    """The name under which the output is kept, and the command."""
    name, found, rest = text.partition("=")
    return (name, rest) if found and " " not in name else ("", text)


def test_every_command_of_openstackclient_is_answered(client: Client) -> None:
    for text, says in STEPS:
        name, command = split(text)
        said = client.openstack(command, code=0 if says is not None else 1)
        assert says is None or client.fill(says) in said, f"{text}: {said}"
        if name:
            client.names[name] = said.split()[0]


@pytest.mark.parametrize("way", ["none --os-endpoint", "admin_token --os-token any --os-endpoint"])
def test_clients_without_keystone_are_answered(client: Client, way: str) -> None:
    said = client.openstack(f"--os-auth-type {way} {client.endpoint} orchestration build info")
    assert "unknown" in said


def test_keystones_login_is_answered_by_the_service_itself(client: Client, tmp_path: Path) -> None:
    words = [*ZONDA, "token", "create", "ann", "--project", "p1", "--role", "member"]
    environ = {**os.environ, "ZONDA_HOME": str(tmp_path)}
    password = subprocess.check_output(words, text=True, env=environ).strip()
    with serve(tmp_path, ZONDA_IDENTITY="tokens", ZONDA_LOCAL_IDENTITY="yes") as url:
        place = f"--os-auth-url {url}/v3 --os-region-name RegionOne"
        user = "--os-username ann --os-user-domain-name Default"
        project = "--os-project-name p1 --os-project-domain-id default"
        start = f"--os-auth-type password {place} {user} {project} --os-password"
        sign_in = f"{start} {password}"
        created = client.openstack(f"{sign_in} stack create -t t.yaml --wait s")
        assert "CREATE_COMPLETE" in created
        assert "CREATE_COMPLETE" in client.openstack(f"{sign_in} stack list")
        assert url in client.openstack(f"{sign_in} catalog list")
        token = client.openstack(f"{sign_in} token issue -f value -c id").split()[-1]
        again = f"--os-auth-type token {place} {project} --os-token {token}"
        assert "CREATE_COMPLETE" in client.openstack(f"{again} stack list")
        assert "401" in client.openstack(f"{start} wrong stack list", code=1)


def test_no_command_of_openstackclient_is_left_out(client: Client) -> None:
    code = "from importlib.metadata import entry_points as e; print(*[x.name for x in e(group=G)])"
    group = "G = 'openstack.orchestration.v1'; "
    known = client.run(str(CLIENTS / "bin" / "python"), "-c", group + code).split()
    assert len(known) > 40
    sent = [split(text)[1].replace(" ", "_") + "_" for text, _ in STEPS]
    assert [name for name in known if not any(text.startswith(f"{name}_") for text in sent)] == []


def test_the_shell_of_heatclient_is_answered(client: Client) -> None:
    client.heat("stack-create -f t.yaml -P n=5 old")
    client.openstack("stack check --wait old")
    assert "CHECK_COMPLETE" in client.heat("stack-list")
    assert "OS::Heat::RandomString" in client.heat("resource-list old")
    assert "CREATE" in client.heat("event-list old")
    client.heat("stack-delete -y old")


def test_the_proxy_of_openstacksdk_is_answered(client: Client) -> None:
    client.python("sdk.py", client.endpoint)


def test_services_that_use_heatclient_as_a_library_are_answered(client: Client) -> None:
    client.python("library.py", client.endpoint, str(client.folder))
