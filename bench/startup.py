"""Processes of their own: ``zonda --help``, and a whole create of one resource.

The interpreter's start is measured too and shown as ``python_cpu_s``.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 10
TEMPLATE = """heat_template_version: 2018-08-31
resources:
  r: {type: OS::Heat::TestResource, properties: {value: one}}
"""


def cost(words: list[str], home: str) -> tuple[float, float]:
    """(CPU seconds, wall seconds) of one process."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, check=True, capture_output=True, env={"ZONDA_HOME": home})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.perf_counter() - wall


def best(words: list[str]) -> tuple[float, float]:
    """The cheapest of several runs, each with an empty home."""
    found = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as home:
            found.append(cost(words, home))
    return min(found)


with tempfile.TemporaryDirectory() as folder:
    template = Path(folder) / "one.yaml"
    template.write_text(TEMPLATE)
    python, _ = best([sys.executable, "-c", "pass"])
    zonda = [str(Path(sys.executable).with_name("zonda"))]
    for bench, words, bar in (
        ("help", ["--help"], 0.06),
        ("create-one", ["stack", "create", "s", "-t", str(template)], 0.6),
    ):
        cpu, wall = best([*zonda, *words])
        line = {"bench": bench, "cpu_s": round(cpu, 4), "wall_s": round(wall, 4)}
        line |= {"python_cpu_s": round(python, 4), "bar_cpu_s": bar, "of_bar": round(cpu / bar, 2)}
        print(json.dumps(line))
