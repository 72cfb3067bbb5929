"""Whole commands beside those of another installation, each run by both in turn.

    python bench/commands.py OTHER_PYTHON       # three runs of each
    python bench/commands.py OTHER_PYTHON 7

``OTHER_PYTHON`` is the interpreter of the other installation, such as that of an earlier commit.
Commands on 1,000 resources, then on the overcloud of TripleO if its templates are there (see
``overcloud.py``). ``of_other`` is the median of the ratios of their CPU seconds, interpreter and
imports included; ``bar`` is the goal where the other one is e4a3367.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import overcloud
from measure import chain, independent

#: The commands in their order, each with its bar; a stack that one has made is the next one's.
THOUSAND = (
    ("create", 0.85, ["stack", "create", "s", "-t", "one.yaml"]),
    ("plan-all", None, ["stack", "plan", "s", "-t", "two.yaml"]),
    ("update-all", 0.85, ["stack", "update", "s", "-t", "two.yaml"]),
    ("update-nothing", None, ["stack", "update", "s", "-t", "two.yaml"]),
    ("delete", 0.85, ["stack", "delete", "s", "-y"]),
    ("chain", 0.85, ["stack", "create", "c", "-t", "chain.yaml"]),
)


def list_overcloud() -> tuple[tuple[str, float | None, list[str]], ...]:
    """The commands on the overcloud."""
    plain = [*map(str, overcloud.options())]
    changed = [*map(str, overcloud.options(Path("leaf.yaml")))]
    return (
        ("overcloud-create", 0.75, ["stack", "create", "oc", *plain]),
        ("overcloud-plan-leaf", 0.55, ["stack", "plan", "oc", *changed]),
        ("overcloud-update-leaf", 0.55, ["stack", "update", "oc", *changed]),
        ("overcloud-update-nothing", None, ["stack", "update", "oc", *changed]),
        ("overcloud-delete", None, ["stack", "delete", "oc", "-y"]),
    )


def run(python: str, words: list[str], folder: str) -> float:
    """CPU seconds of ``zonda WORDS``; ends with what it said where it fails."""
    settings = {f"ZONDA_{name.upper()}": value for name, value in overcloud.SETTINGS.items()}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [python, "-P", "-m", "zonda", *words, "--home", f"{folder}/home"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **settings},
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_all(python: str, commands: list[list[str]]) -> list[float]:
    """CPU seconds of each command, one after the other on one home."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("one", independent(1000)),
            ("two", independent(1000, "two")),
            ("chain", chain(1000)),
            ("leaf", overcloud.LEAF),
        ):
            Path(folder, f"{name}.yaml").write_text(text)
        return [run(python, words, folder) for words in commands]


def main(other: str, runs: int) -> None:
    """Print a line for each command."""
    rows = [*THOUSAND, *(list_overcloud() if overcloud.TEMPLATE.is_file() else ())]
    commands = [words for _, _, words in rows]
    found = [[run_all(python, commands) for python in (sys.executable, other)] for _ in range(runs)]
    for at, (name, bar, _) in enumerate(rows):
        pairs = [(ours[at], others[at]) for ours, others in found]
        ratio = statistics.median(mine / its for mine, its in pairs)
        line = {
            "bench": f"command-{name}",
            "cpu_s": round(min(mine for mine, _ in pairs), 3),
            "other_cpu_s": round(min(its for _, its in pairs), 3),
            "of_other": round(ratio, 3),
            "bar": bar,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
