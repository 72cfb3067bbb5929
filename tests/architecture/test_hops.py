"""``bench/hops.py`` counts the way of one resource, and gives the same numbers in each run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "hops.py"


def test_hops_are_counted_from_the_command_to_the_handler_alike_in_each_run() -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    lines = [run.communicate()[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert lines[0] == lines[1]
    line = json.loads(lines[0])
    assert {"core/cli", "core/engine/plan", "builtin_resources/basic"} <= set(
        line["create"]["entered"]
    )
    assert {"core/engine/operations", "core/store/write"} <= set(line["poll"]["entered"])
    for way in (line["create"], line["poll"]):
        engine = way["engine"]
        assert sum(way["entered"].values()) == way["folder_hops"] + 1
        assert 0 < engine["folder_hops"] < engine["module_hops"] < engine["calls"] < way["calls"]
