"""What the tests and scripts of this folder need of the cloud: a count of its things, and zonda."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def run_zonda(home: Path, cloud: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of zonda to its end."""
    return subprocess.run(
        [sys.executable, "-m", "zonda", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ZONDA_HOME": str(home), "OS_CLOUD": cloud},
        timeout=600,
    )
