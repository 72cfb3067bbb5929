"""Kills zonda, the agent or a module with SIGKILL at a random moment, again and again::

    python contrib/zonda-ansible/tests/kill_storm.py [ROUNDS [SEED]]

Each round makes, changes or deletes a stack of files, lines, copies and a command that appends to
a journal. Afterwards the action is followed to its end; the state must be right, nothing may have
been done twice, and nothing may be left: no process, no temporary file here or on the host. A
command that was killed itself may have failed, and say so. Prints a JSON line.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

FILES = 3
TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  folder: {type: string}
  text: {type: string}
resources:
"""
COPY = """
  copy%(n)d:
    type: Ansible::ansible.builtin.copy
    properties:
      dest: {list_join: [/, [{get_param: folder}, copy%(n)d]]}
      content: {get_param: text}
  line%(n)d:
    type: Ansible::ansible.builtin.lineinfile
    depends_on: copy%(n)d
    properties:
      path: {list_join: [/, [{get_param: folder}, lines%(n)d]]}
      regexp: "^text="
      line: {list_join: ["=", [text, {get_param: text}]]}
      create: true
"""
COMMAND = """
  once:
    type: Ansible::ansible.builtin.shell
    properties:
      cmd:
        str_replace:
          template: echo begun >> FOLDER/journal; sleep 0.3; echo TEXT >> FOLDER/journal
          params: {FOLDER: {get_param: folder}, TEXT: {get_param: text}}
"""


class Round:
    """One stack, and the victim that is killed while something is done with it."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self.home = home
        self.chance = chance
        self.work = home / "work"
        self.work.mkdir()
        resources = "".join(COPY % {"n": n} for n in range(FILES)) + COMMAND
        (home / "template.yaml").write_text(TEMPLATE + resources)
        self.environment = {
            **os.environ,
            "ZONDA_HOME": str(home / "zonda"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "ANSIBLE_REMOTE_TMP": str(home / "remote"),
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command of zonda."""
        command = [sys.executable, "-m", "zonda", "stack", *words]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def ask(self, *words: str) -> tuple[int, str]:
        """Run a command of zonda."""
        zonda = self.start(*words)
        said, complained = zonda.communicate()
        return zonda.returncode, said + complained

    def make(self, verb: str, text: str) -> list[str]:
        """The words of a command."""
        if verb == "delete":
            return ["delete", "s", "-y"]
        given = ["-t", str(self.home / "template.yaml")]
        for name, value in (("folder", str(self.work)), ("text", text)):
            given += ["--parameter", f"{name}={value}"]
        return [verb, "s", *given]

    def list_processes(self, *roles: str) -> list[int]:
        """The processes of this round: agents, or modules with what they have started."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environment = (folder / "environ").read_bytes()
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if f"XDG_CACHE_HOME={self.home}/".encode() not in environment or b"zonda" in words:
                    continue
                own = self.home / "cache/zonda/ansible/tmp" / folder.name / "ansiballz_cache"
                is_agent = b"zonda_ansible.agent" in words and not own.is_symlink()
                if ("agent" if is_agent else "module") in roles:
                    found.append(int(folder.name))
        return found

    def kill(self, victim: str, zonda: subprocess.Popen[str]) -> bool:
        """Kill the victim; whether it was there."""
        if victim == "zonda":
            was_there = zonda.poll() is None
            zonda.kill()
            return was_there
        pids = self.list_processes(victim)
        if not pids:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.chance.choice(pids), signal.SIGKILL)
        return True

    def find_fault(self, verb: str, victim: str, text: str) -> str:
        """The fault at the end, or ''."""
        state = self.ask("show", "s")[1]
        journal = self._read_journal()
        self.wait_for_processes()
        left = self.list_processes("agent", "module")
        if left:
            return f"processes are left: {left}"
        for folder in ("remote", "cache/zonda/ansible/tmp"):
            files = [str(each) for each in (self.home / folder).rglob("*") if each.is_file()]
            # The code of modules as an agent sends it: what a dead one had is removed by the next.
            files = [each for each in files if "/ansiballz_cache/" not in each]
            if files:
                return f"files are left: {files}"
        if verb == "create" and "could not be found" in state and not any(self.work.iterdir()):
            return ""  # killed before the stack was there
        if verb == "delete" and "CREATE_COMPLETE" in state:
            verb = "create"  # killed before the deletion was accepted
        if verb == "delete":
            there = sorted(each.name for each in self.work.glob("copy*"))
            return f"not deleted: {there} {state}" if there or "DELETE_COMPLETE" in state else ""
        begun = journal.count("begun") - (1 if verb == "update" else 0)
        if max(journal.count("one"), journal.count("two"), begun) > 1:
            return f"done twice: {journal}"
        if verb == "update" and "CREATE_COMPLETE" in state:
            text = "one"  # killed before the update was accepted
        if "COMPLETE" not in state:
            has_reason = "may not be run again" in state or victim == "module"
            return "" if has_reason and victim != "zonda" else f"{state} {journal}"
        if journal.count(text) != 1:
            return f"complete, and not done: {journal}"
        wrong = [n for n in range(FILES) if (self.work / f"copy{n}").read_text() != text]
        lines = [(self.work / f"lines{n}").read_text() for n in range(FILES)]
        return (
            f"wrong content: {wrong} {lines}" if wrong or set(lines) != {f"text={text}\n"} else ""
        )

    def wait_for_processes(self) -> None:
        """Wait for the ends of what runs on after zonda."""
        for _ in range(600):
            if not self.list_processes("agent", "module"):
                return
            time.sleep(0.1)

    def _read_journal(self) -> list[str]:
        path = self.work / "journal"
        return path.read_text().split() if path.exists() else []


def play_round(number: int, chance: random.Random) -> dict[str, Any]:
    """One round, as it went."""
    home = Path(tempfile.mkdtemp(prefix="zk"))
    try:
        played = Round(home, chance)
        verb = chance.choice(("create", "create", "update", "delete"))
        victim = chance.choice(("zonda", "zonda", "agent", "module"))
        text = "one"
        if verb != "create":
            played.ask(*played.make("create", "one"))
            text = "two" if verb == "update" else "one"
        zonda = played.start(*played.make(verb, text))
        # Most kills come while a module runs, some while zonda only prepares.
        role = chance.choice(("module", "module", "module", "agent"))
        deadline = time.monotonic() + 60
        while zonda.poll() is None and time.monotonic() < deadline:
            if played.list_processes(role):
                break
            time.sleep(0.01)
        time.sleep(chance.choice((0, 0.05, 0.2, 1, 3)) * chance.random())
        was_there = played.kill(victim, zonda)
        zonda.communicate()
        played.ask("wait", "s")
        fault = played.find_fault(verb, victim, text)
        return {"round": number, "verb": verb, "victim": victim, "hit": was_there, "fault": fault}
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main(rounds: int = 50, seed: int = 1) -> int:
    """Play the rounds; 1 if one of them shows a fault."""
    chance = random.Random(seed)
    played = []
    for number in range(rounds):
        played.append(play_round(number, chance))
        print(json.dumps(played[-1]), file=sys.stderr, flush=True)
    hits = Counter(f"{each['verb']} {each['victim']}" for each in played if each["hit"])
    faults = [each for each in played if each["fault"]]
    print(json.dumps({"seed": seed, "rounds": rounds, "hits": dict(hits), "faults": faults}))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
