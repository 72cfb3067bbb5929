"""``python -m tests.acceptance.endurance --cycles 2000``: what a long-running engine keeps.

A real ``zonda engine run`` carries out one life after the other: create, update, drift check,
delete, each asked for by this process through the database. Printed as a JSON line after every
fortieth part of the cycles: memory, open files and threads of the engine, and the size of the files
in its home.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zonda.core.app.app import App, build_app
from zonda.core.engine.actions import CheckDrift, CreateStack, DeleteStack, UpdateStack
from zonda.core.settings.settings import load_settings
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.errors import NotFound

#: Seconds that one action may take, on any machine.
LONGEST = 600.0
#: A nested group, an output, a value, and a type that acts outside and is polled.
TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  text: {type: string}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 2
      resource_def: {type: OS::Heat::RandomString, properties: {length: 8}}
  value: {type: OS::Heat::Value, properties: {value: {get_param: text}}}
  polled:
    type: OS::Heat::TestResource
    properties: {value: {get_attr: [value, value]}, wait_secs: 0}
outputs:
  all: {value: {get_attr: [group, refs]}}
"""


def read_process(pid: int, home: Path) -> dict[str, int]:
    """Memory, open files and threads of a process (Linux), and the size of what is in ``home``."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in status)
    return {
        "memory_kb": int(fields["VmRSS"].split()[0]),
        "files": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": int(fields["Threads"]),
        "home_kb": sum(each.stat().st_size for each in home.iterdir()) // 1024,
    }


def finish(app: App, action: Any, state: str) -> None:
    """Ask for an action and wait for its end; raises AssertionError at another ``state``."""
    running = app.engine.act(action, drive=False)
    try:
        stack = running.client.look(running.stack_id, LONGEST)
    except NotFound:
        stack = None
    shown = "DELETED" if stack is None or stack.deleted_at else f"{stack.action}_{stack.status}"
    assert shown == state, f"{action} ended as {shown}"


def run_cycle(app: App, number: int) -> None:
    """One life of one stack."""
    name = f"life{number}"
    bundle = Bundle(template=TEMPLATE, parameters={"text": "one"})
    finish(app, CreateStack(name, bundle), "CREATE_COMPLETE")
    bundle = Bundle(template=TEMPLATE, parameters={"text": "two"})
    finish(app, UpdateStack(name, bundle), "UPDATE_COMPLETE")
    check = app.engine.act(CheckDrift(name), drive=False)
    assert app.engine.wait_for_check(check.check_id, LONGEST).is_complete
    finish(app, DeleteStack(name), "DELETED")


def measure(cycles: int, home: Path) -> Iterator[dict[str, int]]:
    """The engine's process after each fortieth part of the cycles."""
    environment = {"ZONDA_HOME": str(home), "HOME": str(home), "PATH": ""}
    engine = subprocess.Popen([sys.executable, "-m", "zonda", "engine", "run"], env=environment)
    never = threading.Event()
    every = max(1, cycles // 40)
    try:
        lock = home / "zonda.db.lock"
        made = home / "zonda.db"  # until it is there, who makes it has the lock as well
        while not (made.exists() and lock.read_text().strip()):
            assert engine.poll() is None, "the engine has ended"
            never.wait(0.05)
        app = build_app(load_settings(environ=environment))
        for number in range(1, cycles + 1):
            run_cycle(app, number)
            if number % every == 0 or number == cycles:
                yield {"cycles": number} | read_process(engine.pid, home)
        app.close()
    finally:
        engine.terminate()
        engine.wait(LONGEST)


def main() -> None:
    """Read the arguments and print the lines."""
    parser = argparse.ArgumentParser(description="many lives of stacks in one engine")
    parser.add_argument("--cycles", type=int, default=2000)
    cycles = parser.parse_args().cycles
    with tempfile.TemporaryDirectory() as folder:
        for line in measure(cycles, Path(folder)):
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
