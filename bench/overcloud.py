"""The overcloud of TripleO: create, update of one parameter of one leaf, update of nothing, delete.

Needs the folder of public templates that the tests use, too: ``ZONDA_CORPUS``, else beside the
project. Takes no argument. Each command is a process of its own, as on the command line, so CPU
seconds and sizes are those of whole processes: the interpreter's start and imports are in it.
Statements of SQL are counted afterwards, while this process does the same once more.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zonda.core.app.app import build_app
from zonda.core.engine.actions import Action, CreateStack, DeleteStack, UpdateStack
from zonda.core.settings.settings import load_settings
from zonda.core.template.files.reader import load_bundle
from zonda.core.template.source.bundle import Bundle

ROOT = Path(__file__).resolve().parents[1]
CORPUS = Path(os.environ.get("ZONDA_CORPUS", ROOT.parent / "shared" / "corpus"))
TEMPLATE = CORPUS / "tripleo" / "overcloud.yaml"
ENVIRONMENTS = [
    CORPUS / "tripleo" / "overcloud-resource-registry-puppet.yaml",
    CORPUS / "tripleo" / "environments" / "deployed-network-environment.yaml",
    CORPUS / "overcloud" / "extra-env.yaml",
]
SETTINGS = {"yaql_iterators": "9000", "yaql_memory": "900000", "max_nested_depth": "10"}
LEAF = "parameter_defaults: {MemcachedMaxConnections: 4096}\n"
RESOURCES = 838

#: CPU seconds and MB at most; those to aim for; and what Heat 27 took.
BARS = {"create": (12.0, 250.0), "update-leaf": (3.0, 250.0)}
GOALS = {"create": (3.0, 150.0), "update-leaf": (0.5, 150.0)}
HEAT = {"create": (33.6, 258.0), "update-leaf": (61.2, 405.0), "delete": (13.5, 0.0)}


@dataclass
class Spent:
    """What a process took."""

    cpu_s: float
    wall_s: float
    rss_mb: float


def command(home: Path, *words: str | Path) -> Spent:
    """Run ``zonda WORDS``; ends with what it said where it fails."""
    settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    line = [sys.executable, "-m", "zonda", *map(str, words), *settings, "--home", str(home)]
    wall = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(said.read())
    return _spent(used, time.perf_counter() - wall)


def _spent(used: resource.struct_rusage, wall: float) -> Spent:
    return Spent(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def options(*more: Path) -> list[str | Path]:
    """The template and its environments, for the command line."""
    return ["-t", TEMPLATE, *(word for file in (*ENVIRONMENTS, *more) for word in ("-e", file))]


def bundle(*more: Path) -> Bundle:
    """The same for an engine."""
    return load_bundle(TEMPLATE, [*ENVIRONMENTS, *more])


def statements(home: Path, leaf: Path) -> dict[str, int]:
    """The number of statements of each action."""
    counted: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **given: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **given)
        connection.set_trace_callback(counted.append)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment]
    app = build_app(load_settings({"home": str(home), **SETTINGS}, {}))
    actions: dict[str, Action] = {
        "create": CreateStack("oc", bundle()),
        "update-leaf": UpdateStack("oc", bundle(leaf)),
        "update-nothing": UpdateStack("oc", bundle(leaf)),
        "delete": DeleteStack("oc"),
    }
    found = {}
    try:
        for name, action in actions.items():
            counted.clear()
            running = app.engine.act(action, drive=True)
            while not (stack := running.client.look(running.stack_id, 60.0)).idle:
                pass
            assert stack.status == "COMPLETE", stack.status_reason
            found[name] = len(counted)
    finally:
        app.close()
        sqlite3.connect = connect
    return found


def report(bench: str, spent: Spent, counts: dict[str, int]) -> None:
    """Print the line of one action."""
    line: dict[str, Any] = {
        "bench": f"overcloud-{bench}",
        "resources": RESOURCES,
        "cpu_s": round(spent.cpu_s, 3),
        "wall_s": round(spent.wall_s, 3),
        "rss_mb": round(spent.rss_mb, 1),
        "statements": counts.get(bench),
    }
    for name, known in (("bar", BARS), ("goal", GOALS), ("heat", HEAT)):
        if bench in known:
            seconds, size = known[bench]
            line[f"{name}_cpu_s"] = seconds
            line[f"of_{name}"] = round(spent.cpu_s / seconds, 2)
            if size:
                line[f"of_{name}_rss"] = round(spent.rss_mb / size, 2)
    print(json.dumps(line))


def main() -> None:
    """Measure every action."""
    if not TEMPLATE.is_file():
        raise SystemExit(f"There is no overcloud at {CORPUS}: set ZONDA_CORPUS.")
    with tempfile.TemporaryDirectory() as folder:
        leaf = Path(folder) / "leaf.yaml"
        leaf.write_text(LEAF)
        home = Path(folder) / "home"
        spent = {
            "validate": command(home, "template", "validate", *options()),
            "create": command(home, "stack", "create", "oc", *options()),
            "plan-leaf": command(home, "stack", "plan", "oc", *options(leaf)),
            "update-leaf": command(home, "stack", "update", "oc", *options(leaf)),
            "update-nothing": command(home, "stack", "update", "oc", *options(leaf)),
            "delete": command(home, "stack", "delete", "oc", "-y"),
        }
        counts = statements(Path(folder) / "counted", leaf)
    for bench, each in spent.items():
        report(bench, each, counts)


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
