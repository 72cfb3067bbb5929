"""Processes of their own: ``zonda --help``, a whole create of one resource, and short commands.

The argument, if given, is the interpreter of another installation, such as that of an earlier
commit: then each command is run by both in turn, and ``of_other`` is the median of the ratios. The
interpreter's start is in all figures, and shown as ``python_cpu_s``. Bytecode is there: each
command is run once before it counts.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
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


@contextmanager
def engine(python: str, home: str) -> Iterator[None]:
    """An engine that runs in this home; it is there when it holds the lock."""
    words = [python, "-m", "zonda", "engine", "run"]
    process = subprocess.Popen(words, env={"ZONDA_HOME": home}, stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def measure(
    python: str, words: list[str], template: str, *, stack: bool, beside: bool
) -> tuple[float, float]:
    """One run in a home of its own; ``stack``: with a stack in it, ``beside`` a running engine."""
    with tempfile.TemporaryDirectory() as home:
        zonda = [python, "-m", "zonda"]
        if stack:
            cost([*zonda, "stack", "create", "s", "-t", template], home)
        with engine(python, home) if beside else nullcontext():
            return cost([*zonda, *words], home)


def main() -> None:
    """Print a line for each command."""
    pythons = [sys.executable, *sys.argv[1:2]]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one.yaml"
        file.write_text(TEMPLATE)
        template = str(file)
        python = min(cost([sys.executable, "-c", "pass"], folder) for _ in range(RUNS))[0]
        create = ["stack", "create", "n", "-t", template]
        for bench, words, bar, stack, beside in (
            ("help", ["--help"], 0.06, False, False),
            ("create-one", create, 0.6, False, False),
            ("list", ["stack", "list"], None, True, False),
            ("create-beside", create, None, True, True),
        ):
            runs = [
                [measure(each, words, template, stack=stack, beside=beside) for each in pythons]
                for _ in range(RUNS + 1)
            ][1:]
            cpu, wall = min(ours for ours, *_ in runs)
            line = {"bench": bench, "cpu_s": round(cpu, 4), "wall_s": round(wall, 4)}
            line["python_cpu_s"] = round(python, 4)
            if bar:
                line |= {"bar_cpu_s": bar, "of_bar": round(cpu / bar, 2)}
            if pythons[1:]:
                ratio = statistics.median(ours[0] / other[0] for ours, other in runs)
                line |= {"other_cpu_s": round(min(run[1] for run in runs)[0], 4)}
                line["of_other"] = round(ratio, 3)
            print(json.dumps(line), flush=True)


os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
main()
