"""Kill zonda at random while it makes, changes and removes ten servers with ports and volumes.

    python kill_storm.py [--kills 50] [--seed 1] [--cloud demo] [--servers 10]

``OS_CLIENT_CONFIG_FILE`` names a file with the cloud. A process that carries out a create, an
update or a delete gets SIGKILL, at any time or when a service has answered a request that makes
something and nobody has read the answer; the next process goes on. In the end the servers, ports
and volumes of the cloud are counted: none twice, none that belongs to nobody, and nothing left
after the deletion.
Prints a line of JSON for each round, and one for all; ends with 0 only if nothing was found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from inventory import list_things, run_zonda

#: Ends a process of zonda when the service has answered the request with that number.
VICTIM = """
import os, signal, sys
import requests
left, send = int(sys.argv.pop(1)), requests.Session.send
def send_and_die(self, request, **given):
    global left
    answer = send(self, request, **given)
    if request.method == "POST" and request.url.split("?")[0].endswith(
        ("/servers", "/ports", "/volumes", "/networks", "/subnets", "_attachments", "/action")
    ):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return answer
requests.Session.send = send_and_die
from zonda.core.cli.main import main
sys.exit(main())
"""
COUNTED = ("servers", "ports", "volumes", "networks", "subnets")


def build_template(servers: int, name: str, flavor: str, size: int) -> str:
    """The template of a round, as JSON, which is YAML."""
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.70.0.0/24"},
        },
    }
    for number in range(servers):
        resources[f"port{number}"] = {
            "type": "OS::Neutron::Port",
            "depends_on": "subnet",
            "properties": {"network": {"get_resource": "net"}},
        }
        resources[f"server{number}"] = {
            "type": "OS::Nova::Server",
            "properties": {
                "name": f"{name}-{number}",
                "image": "tiny",
                "flavor": flavor,
                "networks": [{"port": {"get_resource": f"port{number}"}}],
            },
        }
        resources[f"volume{number}"] = {
            "type": "OS::Cinder::Volume",
            "properties": {"size": size, "name": f"{name}-{number}"},
        }
        resources[f"attached{number}"] = {
            "type": "OS::Cinder::VolumeAttachment",
            "properties": {
                "instance_uuid": {"get_resource": f"server{number}"},
                "volume_id": {"get_resource": f"volume{number}"},
            },
        }
    return json.dumps({"heat_template_version": "2018-08-31", "resources": resources})


class Storm:
    """The kills, and what they have left."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.cloud, self.servers, self.wanted = args.cloud, args.servers, args.kills
        self.random = random.Random(args.seed)
        self.folder, self.home = folder, folder / "home"
        self.kills: Counter[str] = Counter()
        self.faults: list[str] = []

    def act(self, action: str, *words: str) -> None:
        """Carry out an action; kill it as often as chance says; let it end at last."""
        stack = first = ["stack", action, *words]
        environment = {**os.environ, "ZONDA_HOME": str(self.home), "OS_CLOUD": self.cloud}
        with (self.folder / "log.txt").open("ab") as log:
            for _ in range(self.random.randint(4, 8)):
                if sum(self.kills.values()) >= self.wanted:
                    break
                at_answer, number = self.random.random() < 0.6, self.random.randint(1, 3)
                victim = ["-c", VICTIM, str(number)] if at_answer else ["-m", "zonda"]
                process = subprocess.Popen(
                    [sys.executable, *victim, *stack], stdout=log, stderr=log, env=environment
                )
                try:
                    process.wait(60.0 if at_answer else self.random.uniform(3.0, 9.0))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                if process.returncode == 0:
                    break
                if process.returncode != -signal.SIGKILL:  # killed before there was a stack
                    stack = first
                    continue
                self.kills[f"{action}, at an answer" if at_answer else action] += 1
                stack = ["stack", "wait", "s"]
        self.finish(action, words)

    def finish(self, action: str, words: tuple[str, ...]) -> None:
        """Bring the stack to its end, with another attempt as a user would make it."""
        for tries in range(4):
            run_zonda(self.home, self.cloud, "stack", "wait", "s")
            shown = run_zonda(self.home, self.cloud, "stack", "show", "s", "-f", "json")
            if shown.returncode:
                if action == "delete":
                    return
                run_zonda(self.home, self.cloud, "stack", action, *words)
                continue
            status = json.loads(shown.stdout)["stack_status"]
            if status == f"{action.upper()}_COMPLETE" or (tries and status == "UPDATE_COMPLETE"):
                return
            why = run_zonda(self.home, self.cloud, "stack", "why", "s")
            print(f"{status}: {why.stdout}", file=sys.stderr)
            again = "delete" if action == "delete" else "update"
            run_zonda(self.home, self.cloud, "stack", again, *words)
        self.faults.append(f"{action} does not come to an end")

    def count(self, before: set[tuple[str, str]]) -> dict[str, int]:
        """The things that were not there before, by kind."""
        found = Counter(kind for kind, _ in list_things(self.cloud) - before)
        return {kind: found[kind] for kind in COUNTED}

    def expect(self, where: str, found: dict[str, int], each: int) -> None:
        """Note what is more, or less, than it should be."""
        alone = 1 if each else 0
        for kind, number in found.items():
            right = alone if kind in ("networks", "subnets") else each
            if number != right:
                self.faults.append(f"{where}: {number} {kind} and not {right}")

    def play_round(self, number: int) -> dict[str, Any]:
        """Make, change and remove the stack once."""
        before, faults, kills = list_things(self.cloud), len(self.faults), self.kills.copy()
        first, second = self.folder / "first.yaml", self.folder / "second.yaml"
        first.write_text(build_template(self.servers, "storm", "m1.tiny", 1))
        second.write_text(build_template(self.servers, "gale", "m1.small", 2))
        begun = time.monotonic()
        self.act("create", "-t", str(first), "s")
        made = self.count(before)
        self.expect("created", made, self.servers)
        self.act("update", "-t", str(second), "s")
        changed = self.count(before)
        self.expect("updated", changed, self.servers)
        self.act("delete", "--yes", "s")
        left = self.count(before)
        self.expect("deleted", left, 0)
        return {
            "round": number,
            "kills": dict(self.kills - kills),
            "created": made,
            "updated": changed,
            "left": left,
            "faults": self.faults[faults:],
            "seconds": round(time.monotonic() - begun),
        }


def main() -> int:
    """Play rounds until there were kills enough."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--servers", type=int, default=10)
    parser.add_argument("--cloud", default="demo")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kill-storm-"))
    print(f"{folder} keeps the log and the database", file=sys.stderr)
    storm, rounds = Storm(args, folder), 0
    while sum(storm.kills.values()) < args.kills and not storm.faults:
        rounds += 1
        print(json.dumps(storm.play_round(rounds)), flush=True)
    total = {"seed": args.seed, "rounds": rounds, "kills": sum(storm.kills.values())}
    print(json.dumps({**total, "by_action": storm.kills, "faults": storm.faults}))
    return bool(storm.faults)


if __name__ == "__main__":
    sys.exit(main())
