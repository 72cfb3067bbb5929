"""Kills zonda or Ansible with SIGKILL at a random moment, again and again::

    python contrib/zonda-ansible/tests/playbooks/kill_storm.py [ROUNDS [SEED]]

No task may run twice and no process may be left. Where zonda was killed, the playbook comes to its
end; where Ansible was, the stack says that it has failed.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from zonda.hooks.processes import DetachedRun, read_json

TASKS = 5
TEMPLATE = """
heat_template_version: 2018-08-31
resources:
  site:
    type: Zonda::Workflow::ExternalResource
    properties: {runner: ansible, actions: {CREATE: {workflow: site.yml}}}
"""


def prepare(home: Path) -> None:
    """Write the settings, the template and a playbook, each task of which leaves a line."""
    (home / "zonda.toml").write_text(f'[runners.ansible]\nkind = "ansible"\nfolder = "{home}"\n')
    (home / "template.yaml").write_text(TEMPLATE)
    tasks = "".join(f"    - shell: echo {n} >> {home}/lines\n" for n in range(TASKS))
    (home / "site.yml").write_text(f"- hosts: localhost\n  gather_facts: false\n  tasks:\n{tasks}")


def start_zonda(home: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command of zonda."""
    environment = {**os.environ, "ZONDA_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "zonda", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, cwd=home)


def ask_zonda(home: Path, *words: str) -> tuple[int, str]:
    """Run a command of zonda: exit code and what it says."""
    zonda = start_zonda(home, *words)
    said, complained = zonda.communicate()
    return zonda.returncode, said + complained


def kill_ansible(home: Path) -> bool:
    """Kill the process of the run, if there is one."""
    for folder in (home / "state" / "zonda-ansible" / "runs").glob("*"):
        found = (read_json(folder / "run.json") or {}).get("command")
        if found and DetachedRun(folder).is_running():
            with contextlib.suppress(ProcessLookupError):
                os.kill(found["pid"], signal.SIGKILL)
                return True
    return False


def list_left(home: Path) -> list[str]:
    """The processes that still belong to a run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"ZONDA_ANSIBLE_REPORT={home}".encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def play_round(number: int, chance: random.Random) -> str:
    """One round; the fault, or '' where there is none."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        prepare(home)
        zonda = start_zonda(home, "stack", "create", "site", "-t", "template.yaml")
        victim = chance.choice(("zonda", "ansible"))
        time.sleep(chance.uniform(0.0, 8.0))
        was_there = zonda.poll() is None
        if victim == "zonda":
            zonda.kill()
        else:
            was_there = kill_ansible(home)
        zonda.communicate()
        ask_zonda(home, "stack", "wait", "site")
        _, state = ask_zonda(home, "stack", "show", "site")
        lines = (home / "lines").read_text().split() if (home / "lines").exists() else []
        wanted = [str(n) for n in range(TASKS)]
        print(number, victim, "killed" if was_there else "had ended", len(lines), flush=True)
        if lines != wanted[: len(lines)]:
            return f"round {number}: {victim} killed, lines {lines}"
        if "CREATE_COMPLETE" in state and lines != wanted:
            return f"round {number}: complete after {len(lines)} tasks"
        if "CREATE_COMPLETE" not in state and victim == "zonda" and "site" in state and lines:
            return f"round {number}: {victim} killed: {state}"
        if left := list_left(home):
            return f"round {number}: {victim} killed, left: {left}"
    return ""


def main(rounds: int = 20, seed: int = 1) -> int:
    """Play the rounds; 1 if one of them shows a fault."""
    chance = random.Random(seed)
    faults = [fault for n in range(rounds) if (fault := play_round(n, chance))]
    print("\n".join(faults) or f"{rounds} rounds without a fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
