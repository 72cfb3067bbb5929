"""Changes by hand in a real OpenStack: a drift check names just them, and a repair mends them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

TEMPLATE = Path(os.environ["ZONDA_CLOUD"]) / "templates_zonda" / "full.yaml"


def wait_for(ask: Any, wanted: Any) -> None:
    """Wait for an answer of the cloud; ten minutes say that it does not come."""
    for _ in range(1200):
        if ask() == wanted:
            return
        time.sleep(0.5)
    raise AssertionError(f"{ask()!r} and not {wanted!r}")


def list_drifted(run: Any) -> dict[str, Any]:
    """The verdict and the drifted properties of each resource that is not in sync."""
    told = run("demo", "stack", "drift", "check", "s", "-f", "json", code=None)
    findings = json.loads(told.partition("Still looking")[0])["findings"]
    return {
        each["resource"]: (each["verdict"], [one["property"] for one in each["differences"]])
        for each in findings
    }


@pytest.mark.filterwarnings("ignore")
def test_changes_by_hand_are_named_and_mended(run: Any) -> None:
    import openstack

    cloud = openstack.connect(cloud="demo")
    run("demo", "stack", "create", "-t", str(TEMPLATE), "s")
    assert list_drifted(run) == {}
    server = cloud.compute.find_server("full-server")
    port = next(iter(cloud.network.ports(device_id=server.id)))
    address = next(iter(cloud.network.ips(port_id=port.id)))
    volume = cloud.block_storage.find_volume("full-volume")

    cloud.compute.resize_server(server, cloud.compute.find_flavor("m1.small").id)
    wait_for(lambda: cloud.compute.get_server(server).status, "VERIFY_RESIZE")
    cloud.compute.confirm_server_resize(server)
    wait_for(lambda: cloud.compute.get_server(server).status, "ACTIVE")
    cloud.network.update_port(port, security_groups=[])
    cloud.compute.delete_volume_attachment(server, volume)
    wait_for(lambda: cloud.block_storage.get_volume(volume).status, "available")
    other = cloud.network.create_port(network_id=port.network_id)
    cloud.network.update_ip(address, port_id=other.id)
    assert list_drifted(run) == {
        "server": ("DRIFTED", ["flavor"]),
        "port": ("DRIFTED", ["security_groups[0]"]),
        "attached": ("MISSING", []),
        "association": ("DRIFTED", ["port_id"]),
    }

    run("demo", "stack", "drift", "repair", "s")
    assert list_drifted(run) == {}
    assert cloud.compute.find_server("full-server").id == server.id, "mended, and not replaced"
    assert cloud.network.get_ip(address).port_id == port.id
    assert cloud.block_storage.get_volume(volume).attachments[0]["server_id"] == server.id
    cloud.network.delete_port(other)
    run("demo", "stack", "delete", "--yes", "s")
