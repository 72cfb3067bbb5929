"""Whole lives of stacks on a real OpenStack; what is left in it afterwards is counted there."""

from __future__ import annotations

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
