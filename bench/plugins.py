"""What 50 installed plug-in packages cost a command, in processes of their own.

Wall seconds without and with the packages, which bring one type each, and what they cost in wall
and CPU seconds. ``allowed_s``: nothing for ``--help``, 0.05 s for ``stack list``.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 50
RUNS = 15
SOURCE = '''"""A plug-in."""
from zonda.hooks import attributes, constraints, hookimpl, properties, resource


class Thing(resource.Resource):
    """A thing."""

    properties_schema = {"name": properties.Schema(properties.Schema.STRING, "Its name.")}


@hookimpl
def zonda_resource_types():
    return {"Bench::TypeNUMBER": Thing}
'''
TEMPLATE = """heat_template_version: 2018-08-31
resources:
  r: {type: OS::Heat::TestResource, properties: {value: one}}
"""


def install(folder: Path) -> None:
    """Packages as pip leaves them."""
    for number in range(PACKAGES):
        name = f"bench_plugin_{number}"
        (folder / f"{name}.py").write_text(SOURCE.replace("NUMBER", str(number)))
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[zonda]\n{name} = {name}\n")


def once(words: list[str], packages: str) -> tuple[float, float]:
    """(wall, CPU) seconds of one process with an empty home."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"ZONDA_HOME": home, "PYTHONPATH": packages}
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(words, check=True, capture_output=True, env=environment)
        wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def best(words: list[str], folders: list[str]) -> list[tuple[float, float]]:
    """For each folder of packages the cheapest of several runs, taken in turns."""
    found: list[list[tuple[float, float]]] = [[] for _ in folders]
    for _ in range(RUNS):
        for results, folder in zip(found, folders, strict=True):
            results.append(once(words, folder))
    return [(min(w for w, _ in each), min(c for _, c in each)) for each in found]


with tempfile.TemporaryDirectory() as none, tempfile.TemporaryDirectory() as some:
    install(Path(some))
    template = Path(none) / "one.yaml"
    template.write_text(TEMPLATE)
    zonda = str(Path(sys.executable).with_name("zonda"))
    if not os.access(zonda, os.X_OK):
        raise SystemExit(f"There is no command {zonda}: install zonda first")
    for bench, words, allowed in (
        ("help", ["--help"], 0.0),
        ("stack-list", ["stack", "list"], 0.05),
        ("type-list", ["resource", "type", "list"], None),
        ("create-one", ["stack", "create", "s", "-t", str(template)], None),
    ):
        (wall_0, cpu_0), (wall_n, cpu_n) = best([zonda, *words], [none, some])
        line = {
            "bench": f"plugins-{bench}",
            "packages": PACKAGES,
            "without_wall_s": round(wall_0, 4),
            "with_wall_s": round(wall_n, 4),
            "cost_wall_s": round(wall_n - wall_0, 4),
            "cost_cpu_s": round(cpu_n - cpu_0, 4),
        }
        print(json.dumps(line if allowed is None else {**line, "allowed_s": allowed}))
