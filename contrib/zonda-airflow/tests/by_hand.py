"""The same against a real Airflow, by hand: it needs a minute to start and a gigabyte of memory.

1. Put ``DAG`` (below: ``python tests/by_hand.py dag > DAGS_FOLDER/disks.py``) where Airflow reads.
2. ``python tests/by_hand.py URL USERNAME PASSWORD`` prints what came of each action, and fails
   where it is not what it should be.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

DAG = """
from airflow.sdk import dag, task

@dag(dag_id="make_disk", schedule=None)
def make():
    @task
    def zonda_output(**context):
        asked = context["dag_run"].conf
        if asked["inputs"].get("fail"):
            raise RuntimeError("no capacity")
        return {"resource_id": f"disk-{asked['inputs']['size']}", "did": asked["action"]}
    zonda_output()

make()
"""
TEMPLATE = """
heat_template_version: 2018-08-31
parameters:
  size: {type: number, default: 3}
  fail: {type: boolean, default: false}
resources:
  disk:
    type: OS::Mistral::ExternalResource
    properties:
      actions:
        CREATE: {workflow: "airflow:make_disk"}
        UPDATE: {workflow: "airflow:make_disk"}
        DELETE: {workflow: "airflow:make_disk"}
      input: {size: {get_param: size}, fail: {get_param: fail}}
outputs:
  id: {value: {get_resource: disk}}
  did: {value: {get_attr: [disk, output, did]}}
"""


def main(url: str, username: str, password: str) -> None:
    home = Path(tempfile.mkdtemp())
    (home / "zonda.toml").write_text(
        f'[runners.airflow]\nkind = "airflow"\nendpoint = "{url}"\n'
        f'username = "{username}"\npassword = "{password}"\n'
    )
    (home / "disk.yaml").write_text(TEMPLATE)
    name = f"app-{random.randrange(10**6)}"

    def zonda(*words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "zonda", "--home", str(home), *words]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=600)
        print(f"$ zonda {' '.join(words)}\n{done.stdout}{done.stderr}")
        assert done.returncode == code, done.returncode
        return done.stdout + done.stderr

    zonda("stack", "create", "-t", "disk.yaml", name)
    assert "disk-3" in zonda("stack", "output", "show", name, "id")
    zonda("stack", "update", "-t", "disk.yaml", "--parameter", "size=4", name)
    assert "UPDATE" in zonda("stack", "output", "show", name, "did")
    failed = ["--parameter", "size=5", "--parameter", "fail=true"]
    told = zonda("stack", "update", "-t", "disk.yaml", *failed, name, code=1)
    assert "task zonda_output (try" in told
    zonda("stack", "update", "-t", "disk.yaml", name)
    zonda("stack", "delete", "--yes", name)


if __name__ == "__main__":
    if sys.argv[1:] == ["dag"]:
        print(DAG)
    else:
        main(*sys.argv[1:])
