"""Whole lives of stacks on a real OpenStack; what is left in it afterwards is counted there.

``bash .ci/openstack`` starts a small one and runs this file. By hand: set ``OS_CLIENT_CONFIG_FILE``
to a file with the clouds ``demo`` and ``admin``, and ``ZONDA_CLOUD`` to the folder that has
``templates_zonda``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

pytest.importorskip("zonda_heat_compat", reason="pip install contrib/zonda-heat-compat")
if not (os.environ.get("ZONDA_CLOUD") and os.environ.get("OS_CLIENT_CONFIG_FILE")):
    pytest.skip("bash .ci/openstack starts an OpenStack for it", allow_module_level=True)

TEMPLATES = Path(os.environ["ZONDA_CLOUD"]) / "templates_zonda"
#: What WebImage of admin.yaml loads.
BLOB_PORT = 8990
KINDS = {
    "compute": ("servers", "keypairs", "server_groups", "aggregates", "flavors"),
    "network": (
        *("networks", "subnets", "routers", "ports", "ips", "security_groups", "trunks"),
        *("qos_policies", "rbac_policies", "address_scopes", "subnet_pools", "segments"),
    ),
    "block_storage": ("volumes", "types"),
    "identity": ("projects", "users", "roles", "groups", "services", "endpoints", "domains"),
    "image": ("images",),
    "key_manager": ("secrets", "containers", "orders"),
}


def list_things(cloud: str) -> set[tuple[str, str]]:
    """List the resources in the cloud by kind and id."""
    import openstack

    connection = openstack.connect(cloud=cloud)
    found = set()
    for service, kinds in KINDS.items():
        for kind in kinds:
            try:
                things = list(getattr(getattr(connection, service), kind)())
            except openstack.exceptions.ForbiddenException:
                continue
            # A project's default security group comes with its first port, and stays.
            found |= {(kind, each.id) for each in things if each.name != "default"}
    return found


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def command(cloud: str, *words: str, code: int | None = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "zonda", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "ZONDA_HOME": str(tmp_path / "home"), "OS_CLOUD": cloud},
            timeout=600,
        )
        said = done.stdout + done.stderr
        assert code in (None, done.returncode), f"zonda {' '.join(words)}\n{said}"
        return said

    return command


@pytest.fixture
def blob(tmp_path: Path) -> Iterator[None]:
    """An image on loopback, for Glance."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "blob").write_bytes(bytes(65536))
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "web"))
    with ThreadingHTTPServer(("127.0.0.1", BLOB_PORT), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


LIVES = [
    pytest.param("demo", "hello", None, "", id="hello"),
    pytest.param("demo", "full", "full2", "0 made, 3 changed, 0 replaced", id="in-place"),
    pytest.param("demo", "replace", "replace2", "0 made, 2 changed, 0 replaced", id="names"),
    pytest.param("demo", "barb", None, "", id="secrets"),
    pytest.param("demo", "soft", None, "", id="software"),
    pytest.param("admin", "more", None, "", id="33-types"),
    pytest.param("admin", "admin", None, "", id="administration"),
]


@pytest.mark.usefixtures("blob")
@pytest.mark.parametrize(("cloud", "first", "second", "said"), LIVES)
@pytest.mark.filterwarnings("ignore")
def test_a_stack_lives_and_leaves_nothing(
    run: Any, cloud: str, first: str, second: str | None, said: str
) -> None:
    before = list_things(cloud)
    made = run(cloud, "stack", "create", "-t", str(TEMPLATES / f"{first}.yaml"), "s")
    assert "CREATE_COMPLETE" in made
    assert list_things(cloud) > before
    if second:
        update = ("stack", "update", "-t", str(TEMPLATES / f"{second}.yaml"), "s")
        assert said in run(cloud, *update)
    run(cloud, "stack", "check", "s")
    if first == "full":  # 4: some of its types cannot tell their state, and none has drifted
        assert "6 IN_SYNC" in run(cloud, "stack", "drift", "check", "s", code=4)
    run(cloud, "stack", "suspend", "s")
    run(cloud, "stack", "resume", "s")
    if first == "more":  # Nova keeps an aggregate's zone while there is a server on the host
        run(cloud, "stack", "delete", "--yes", "s", code=None)
    run(cloud, "stack", "delete", "--yes", "s")
    # Heat's type removes an order, and leaves the secret that Barbican made for it.
    left = {kind for kind, _ in list_things(cloud) ^ before}
    assert left == ({"secrets"} if first == "barb" else set())


def test_what_the_cloud_has_not_is_a_fault_with_its_line(run: Any) -> None:
    with pytest.raises(AssertionError) as caught:
        run("demo", "template", "validate", str(TEMPLATES / "bad.yaml"))
    assert "m1.nothing" in str(caught.value)
    assert "bad.yaml:3:" in str(caught.value)
    assert "Traceback" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_no_secret_of_the_cloud_is_stored(run: Any, tmp_path: Path) -> None:
    template = tmp_path / "net.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\nresources: {n: {type: OS::Neutron::Net}}\n"
    )
    run("demo", "stack", "create", "-t", str(template), "s")
    run("demo", "stack", "delete", "--yes", "s")
    import openstack

    token = openstack.connect(cloud="demo").auth_token.encode()
    for path in (tmp_path / "home").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not re.search(rb"(?<!sealed:)gAAAA", content), "Keystone's tokens begin so"
        assert token not in content
