"""The same resources by zonda and by ansible-playbook: a first run, and one that changes nothing::

    python contrib/zonda-ansible/bench/playbook.py [RESOURCES [HOSTS [ROUNDS]]]

The hosts are SSH servers of the loopback. Prints a JSON line for each run: seconds of wall and CPU;
CPU is that of all processes, those of the hosts as well. Both use pipelining, gather no facts and
are given the Python of the hosts. Both have 10 forks, and the playbook the strategy ``free``. Each
round begins with hosts on which nothing was made.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from servers import SshServer

_SUBREAPER: Final = 36
_FORKS: Final = "10"


def build_options(folder: Path, host: int, number: int) -> tuple[str, dict[str, Any]]:
    """The module and the options of one resource."""
    path = f"{folder}/host{host}/{number}"
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("ansible.builtin.file", {"path": path, "state": "directory", "mode": "0755"}),
        ("ansible.builtin.copy", {"dest": path, "content": f"{number}\n", "mode": "0644"}),
        ("ansible.builtin.lineinfile", {"path": path, "line": f"n={number}", "create": True}),
        ("ansible.builtin.blockinfile", {"path": path, "block": f"n={number}", "create": True}),
    ]
    return kinds[number % len(kinds)]


def write_template(home: Path, servers: list[SshServer], number: int) -> None:
    """The template of zonda."""
    resources: dict[str, Any] = {}
    for host, server in enumerate(servers):
        resources[f"h{host}"] = {"type": "Zonda::Ansible::Host", "properties": server.settings}
        for each in range(number):
            module, options = build_options(home / "zonda", host, each)
            on = {"ansible_on": {"get_attr": [f"h{host}", "connection"]}}
            resources[f"h{host}r{each}"] = {
                "type": f"Ansible::{module}",
                "properties": {**on, **options},
            }
    template = {"heat_template_version": "2018-08-31", "resources": resources}
    (home / "template.yaml").write_text(yaml.safe_dump(template, sort_keys=False))


def write_playbook(home: Path, servers: list[SshServer], number: int) -> None:
    """The playbook and the inventory, with the settings that make Ansible fastest."""
    hosts = {}
    for host, server in enumerate(servers):
        known = server.settings
        hosts[f"h{host}"] = {
            "number": host,
            "ansible_host": known["address"],
            "ansible_port": known["port"],
            "ansible_user": known["user"],
            "ansible_private_key_file": known["private_key_file"],
            "ansible_python_interpreter": known["python"],
            **known["variables"],
        }
    (home / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
    tasks = [{}] * number
    for each in range(number):
        module, options = build_options(home / "ansible", 0, each)
        text = json.dumps(options).replace("host0", "host{{ number }}")
        tasks[each] = {module: json.loads(text)}
    play = {"hosts": "all", "gather_facts": False, "strategy": "free", "tasks": tasks}
    (home / "site.yml").write_text(yaml.safe_dump([play]))


def measure(name: str, words: list[str], home: Path, servers: list[SshServer]) -> None:
    """Run a command on fresh servers and print what it took, to the end of all its processes."""
    for server in servers:
        server.start()
    environment = {
        **os.environ,
        "ZONDA_HOME": str(home / "home"),
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_FORKS": _FORKS,
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(home / "cp"),
    }
    before, began = _get_cpu(), time.monotonic()
    found = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True)
    wall = time.monotonic() - began
    for server in servers:
        server.stop()
    _end_left()
    if found.returncode:
        raise SystemExit(f"{name}: {found.stdout[-2000:]}{found.stderr[-2000:]}")
    cpu = _get_cpu() - before
    print(json.dumps({"run": name, "wall_s": round(wall, 2), "cpu_s": round(cpu, 2)}), flush=True)


def _get_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _end_left() -> None:
    """End what the run has left: connections that are kept, with their other ends."""
    while True:
        for file in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = file.read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == os.getpid():
                os.kill(int(file.parent.name), signal.SIGTERM)
        try:
            os.wait()
        except ChildProcessError:
            return


def measure_round(resources: int, hosts: int) -> None:
    """Measure all five runs."""
    with tempfile.TemporaryDirectory(prefix="zb") as name:
        home = Path(name)
        servers = [SshServer(home / f"s{host}") for host in range(hosts)]
        for server in servers:
            server.stop()
        for kind in ("zonda", "ansible"):
            for host in range(hosts):
                (home / kind / f"host{host}").mkdir(parents=True)
        write_template(home, servers, resources // hosts)
        write_playbook(home, servers, resources // hosts)
        bin_folder = Path(sys.executable).parent
        play = [str(bin_folder / "ansible-playbook"), "-i", "hosts.yml", "site.yml"]
        stack = [sys.executable, "-m", "zonda", "stack"]
        given = ["bench", "-t", "template.yaml"]
        measure("ansible-playbook, first", play, home, servers)
        measure("zonda, first", [*stack, "create", *given], home, servers)
        measure("ansible-playbook, no-op", play, home, servers)
        measure("zonda, no-op update", [*stack, "update", *given], home, servers)
        measure("zonda, drift check", [*stack, "drift", "check", "bench"], home, servers)


def main(resources: int = 200, hosts: int = 10, rounds: int = 1) -> None:
    """Measure some rounds."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # so that every process is waited for
    print(json.dumps({"resources": resources, "hosts": hosts, "forks": int(_FORKS)}), flush=True)
    for _ in range(rounds):
        measure_round(resources, hosts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
