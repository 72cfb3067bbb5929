"""Measure Heat's own types in zonda and in real Heat, on the same cloud, one after the other.

    python beside_heat.py [--cloud demo] [--servers 10] [--networks 100]

``OS_CLIENT_CONFIG_FILE`` names a file with the cloud and ``admin``; ``ZONDA_CLOUD`` the folder of
the cloud's programs, which ``real_heat.py`` needs; ``zonda serve`` needs ``zonda[serve]``. Each
makes and removes a stack of servers with a port each, and one of networks: zonda by commands, then
``zonda serve`` and real Heat, both with API and engine in one process that runs already and has
made a server, asked by the same client. Prints a line of JSON for each: the wall time, the CPU
seconds (of the process, or of the whole commands with their start-up), and the most memory (MB).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inventory import Heat, Service, Zonda, run_zonda

_TICKS = os.sysconf("SC_CLK_TCK")


def build_servers(count: int) -> dict[str, Any]:
    """Servers with a port each, on one network."""
    net = {"get_resource": "net"}
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": net, "cidr": "10.80.0.0/24"},
        },
    }
    for number in range(count):
        resources[f"port{number}"] = {
            "type": "OS::Neutron::Port",
            "depends_on": "subnet",
            "properties": {"network": net},
        }
        networks = [{"port": {"get_resource": f"port{number}"}}]
        resources[f"server{number}"] = {
            "type": "OS::Nova::Server",
            "properties": {"image": "tiny", "flavor": "m1.tiny", "networks": networks},
        }
    return {"heat_template_version": "2018-08-31", "resources": resources}


def build_networks(count: int) -> dict[str, Any]:
    """Networks, each alone."""
    resources = {f"net{number}": {"type": "OS::Neutron::Net"} for number in range(count)}
    return {"heat_template_version": "2018-08-31", "resources": resources}


def read_usage(pid: int) -> tuple[float, float]:
    """The CPU seconds of a process, and the most memory it had (MB)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    most = next(
        line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in line
    )
    return (int(fields[11]) + int(fields[12])) / _TICKS, int(most.split()[1]) / 1024


def tell(who: str, what: str, wall: float, cpu: float, memory: float) -> None:
    """Print a line."""
    told = {"who": who, "what": what, "wall": wall, "cpu": cpu, "memory": memory}
    print(json.dumps({key: round(v, 1) if isinstance(v, float) else v for key, v in told.items()}))
    sys.stdout.flush()


def measure(who: str, what: str, act: Callable[[], Any], usage: Callable[[], Any]) -> None:
    """Print what an action has taken."""
    (before, _), begun = usage(), time.monotonic()
    act()
    wall, (after, memory) = time.monotonic() - begun, usage()
    tell(who, what, wall, after - before, memory)


def read_children() -> tuple[float, float]:
    """The CPU seconds of the commands so far, and the most memory that one of them had (MB)."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure_commands(folder: Path, cloud: str, name: str, template: Path) -> None:
    """Make and remove a stack with commands of zonda."""

    def run(*words: str) -> None:
        done = run_zonda(folder / "home", cloud, "stack", *words)
        if done.returncode:
            raise SystemExit(done.stderr[-2000:])

    who = "zonda's commands"
    measure(who, f"create {name}", lambda: run("create", "-t", str(template), "s"), read_children)
    measure(who, f"delete {name}", lambda: run("delete", "--yes", "s"), read_children)


def measure_service(service: Service, first: Path, paths: dict[str, Path]) -> None:
    """Make and remove the stacks with a service that has made and removed the first one."""
    who = type(service).__name__
    with service:
        usage = lambda: read_usage(service.process.pid)  # noqa: E731
        service.create("s", first)
        service.delete("s")
        for name, path in paths.items():
            measure(who, f"create {name}", lambda path=path: service.create("s", path), usage)
            measure(who, f"delete {name}", lambda: service.delete("s"), usage)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cloud", default="demo")
    parser.add_argument("--servers", type=int, default=10)
    parser.add_argument("--networks", type=int, default=100)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="beside-heat-"))
    templates = {
        f"{args.servers} servers": build_servers(args.servers),
        f"{args.networks} networks": build_networks(args.networks),
    }
    paths = {name: folder / f"{name.replace(' ', '-')}.json" for name in templates}
    for name, template in templates.items():
        paths[name].write_text(json.dumps(template))
        measure_commands(folder, args.cloud, name, paths[name])
    first = folder / "first.json"
    first.write_text(json.dumps(build_servers(1)))
    for service in (Zonda(folder / "served", args.cloud), Heat(folder / "heat", args.cloud)):
        measure_service(service, first, paths)


if __name__ == "__main__":
    main()
