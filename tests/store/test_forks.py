"""A child process that a plug-in forks is no engine, and keeps no lock of its parent's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LOCK = """
import os, sys
from zonda.core.store.file.lock import EngineLock

lock = EngineLock(sys.argv[1])
assert lock.acquire()
ready, wait = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    os.write(ready[1], b"x")
    os.close(wait[1])
    os.read(wait[0], 1)
    os._exit(0)
os.read(ready[0], 1)
os.close(lock._handle)  # as the end of the process does
print(EngineLock(sys.argv[1]).acquire())
os.close(wait[1])
os.waitpid(child, 0)
"""

FORKS = """
import os
from zonda.hooks import resource

class Thing(resource.Resource):
    def handle_create(self):
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            self.resource_id_set(f"status-{status}")

def resource_mapping():
    return {"My::Thing": Thing}
"""
TEMPLATE = "heat_template_version: 2018-08-31\nresources: {a: {type: My::Thing}}\n"
PATIENCE = 120.0


def run(*words: str) -> str:
    made = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    return made.stdout


def test_a_forked_child_does_not_keep_the_lock(tmp_path: Path) -> None:
    assert run("-c", LOCK, str(tmp_path / "z.db")) == "True\n"


def test_a_forked_child_that_comes_back_ends(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "thing.py").write_text(FORKS)
    (tmp_path / "t.yaml").write_text(TEMPLATE)
    home = ("--home", str(tmp_path))
    shown = run("-m", "zonda", "stack", "create", "s", "-t", str(tmp_path / "t.yaml"), *home)
    assert shown.count("Stack s CREATE_COMPLETE") <= 1
    words = ("resource", "show", "s", "a", "-c", "physical_resource_id", "-f", "value")
    assert "status-0" in run("-m", "zonda", "stack", *words, *home)
