"""An application credential is enough for a stack; one that is revoked is a clear error."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from inventory import list_things

TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  volume: {type: OS::Cinder::Volume, properties: {size: 1}}
"""


def write_clouds(path: Path, auth: dict[str, str]) -> str:
    """Write a clouds.yaml (JSON is YAML) with the cloud ``engine``; gives its path."""
    cloud = {"auth_type": "v3applicationcredential", "auth": auth, "region_name": "RegionOne"}
    path.write_text(json.dumps({"clouds": {"engine": cloud}}))
    return str(path)


@pytest.mark.filterwarnings("ignore")
def test_a_stack_lives_by_an_application_credential(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openstack

    cloud, before = openstack.connect(cloud="demo"), list_things("demo")
    user, clouds = cloud.current_user_id, os.environ["OS_CLIENT_CONFIG_FILE"]
    made = cloud.identity.create_application_credential(user, name="zonda-engine")
    auth = {
        "auth_url": cloud.config.get_auth_args()["auth_url"],
        "application_credential_id": made.id,
        "application_credential_secret": made.secret,
    }
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", write_clouds(tmp_path / "clouds.yaml", auth))
    try:
        assert "v3applicationcredential: user demo" in run("engine", "cloud", "check")
        run("engine", "stack", "create", "-t", str(tmp_path / "t.yaml"), "s")
        assert "2 IN_SYNC" in run("engine", "stack", "drift", "check", "s")
        run("engine", "stack", "delete", "--yes", "s")
    finally:
        cloud.identity.delete_application_credential(user, made)
    told = run("engine", "cloud", "check", code=None)
    assert "credentials" in told
    assert "Could not find Application Credential" in told
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", clouds)
    assert list_things("demo") == before
    stored = b"".join(
        each.read_bytes() for each in (tmp_path / "home").rglob("*") if each.is_file()
    )
    assert made.secret.encode() not in stored
