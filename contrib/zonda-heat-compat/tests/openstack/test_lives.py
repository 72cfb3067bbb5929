"""Whole lives of stacks on a real OpenStack; what is left in it afterwards is counted there."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inventory import list_things, serve_blob

TEMPLATES = Path(os.environ["ZONDA_CLOUD"]) / "templates_zonda"


@pytest.fixture
def blob(tmp_path: Path) -> Iterator[None]:
    """An image on loopback, for Glance."""
    with serve_blob(tmp_path / "web"):
        yield


LIVES = [
    pytest.param("demo", "hello", None, "", id="hello"),
    pytest.param("demo", "full", "full2", "0 made, 3 changed, 0 replaced", id="in-place"),
    pytest.param("demo", "replace", "replace2", "0 made, 2 changed, 0 replaced", id="names"),
    pytest.param("demo", "barb", None, "", id="secrets"),
    pytest.param("demo", "soft", None, "", id="software"),
    pytest.param("admin", "more", None, "", id="33-types"),
    pytest.param("admin", "admin", None, "", id="administration"),
]


@pytest.mark.parametrize(("cloud", "first", "second", "said"), LIVES)
@pytest.mark.filterwarnings("ignore")
def test_a_stack_lives_and_leaves_nothing(
    run: Any, cloud: str, first: str, second: str | None, said: str, request: Any
) -> None:
    if first == "admin":
        request.getfixturevalue("blob")
    before = list_things(cloud)
    made = run(cloud, "stack", "create", "-t", str(TEMPLATES / f"{first}.yaml"), "s")
    assert "CREATE_COMPLETE" in made
    assert list_things(cloud) > before
    if second:
        update = ("stack", "update", "-t", str(TEMPLATES / f"{second}.yaml"), "s")
        assert said in run(cloud, *update)
    run(cloud, "stack", "check", "s")
    told = run(cloud, "stack", "drift", "check", "s", code=None)
    assert "DRIFTED" not in told
    assert "MISSING" not in told
    run(cloud, "stack", "suspend", "s")
    run(cloud, "stack", "resume", "s")
    if first == "more":  # Nova keeps an aggregate's zone while there is a server on the host
        run(cloud, "stack", "delete", "--yes", "s", code=None)
    run(cloud, "stack", "delete", "--yes", "s")
    # Heat's type removes an order, and leaves the secret that Barbican made for it.
    left = {kind for kind, _ in list_things(cloud) ^ before}
    assert left == ({"secrets"} if first == "barb" else set())


PORT = """
heat_template_version: 2018-08-31
parameters: {{words: {{type: string, default: one}}}}
resources:
  port: {{type: OS::Neutron::Port, properties: {{network: private}}}}
  server:
    type: OS::Nova::Server
    properties:
      image: tiny
      flavor: m1.nano
      user_data: {{get_param: words}}
      networks: [{{port: {{get_resource: port}}}}{network}]
{rest}
outputs:
  addresses: {{value: {{get_attr: [server, addresses, private]}}}}
"""
FAILS = "  last: {type: OS::Heat::TestResource, depends_on: server, properties: {fail: true}}"


@pytest.mark.parametrize("network", ["", ", {network: private}"], ids=["port", "mixed"])
@pytest.mark.filterwarnings("ignore")
def test_a_server_on_a_given_port_is_replaced_and_rolled_back(
    run: Any, tmp_path: Path, network: str
) -> None:
    before = list_things("demo")
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(PORT.format(network=network, rest=""))
    bad.write_text(PORT.format(network=network, rest=FAILS))
    run("demo", "stack", "create", "-t", str(good), "s")

    def find() -> tuple[str, int]:
        shown = run("demo", "stack", "resource", "show", "s", "server", "-f", "json")
        made = run("demo", "stack", "output", "show", "s", "addresses", "-f", "json")
        return json.loads(shown)["physical_resource_id"], made.count("192.168.100.")

    first, addresses = find()
    assert addresses
    update = ("stack", "update", "-t", str(good), "--parameter", "words=two", "s")
    assert "1 replaced" in run("demo", *update)
    second = find()
    assert second[0] != first
    assert second[1] == addresses
    update = ("stack", "update", "-t", str(bad), "--parameter", "words=three", "--enable-rollback")
    assert "ROLLBACK_COMPLETE" in run("demo", *update, "s", code=None)
    assert find() == second
    told = run("demo", "stack", "drift", "check", "s", code=None)
    assert "2 IN_SYNC" in told
    run("demo", "stack", "delete", "--yes", "s")
    assert list_things("demo") == before


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
