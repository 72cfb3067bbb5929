"""The largest size of a process, by command, on a stack of 10,000 resources.

Takes the number of resources. Each command is a process of its own, as on the command line.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from measure import count, independent

BAR = 150.0  # MB for 10,000 resources
SETTINGS = ("--set", "max_template_bytes=16777216")


def run(home: Path, words: list[str]) -> tuple[float, float]:
    """(CPU seconds, MB) of one command; ends where it fails."""
    line = [sys.executable, "-m", "zonda", *words, *SETTINGS, "--home", str(home)]
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    process = os.posix_spawn(sys.executable, line, os.environ, file_actions=silent)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"zonda {' '.join(words)}: {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


number = count(10_000)
with tempfile.TemporaryDirectory() as folder:
    home, one, two = Path(folder) / "home", Path(folder) / "one.yaml", Path(folder) / "two.yaml"
    one.write_text(independent(number))
    two.write_text(independent(number, "two"))
    for name, words in {
        "validate": ["template", "validate", "-t", str(one)],
        "create": ["stack", "create", "s", "-t", str(one)],
        "plan-nothing": ["stack", "plan", "s", "-t", str(one)],
        "plan-all": ["stack", "plan", "s", "-t", str(two)],
        "update-all": ["stack", "update", "s", "-t", str(two)],
        "resources": ["stack", "resource", "list", "s"],
        "events": ["stack", "event", "list", "s"],
        "why": ["stack", "why", "s"],
        "drift-check": ["stack", "drift", "check", "s"],
        "check": ["stack", "check", "s"],
        "export": ["stack", "export", "s"],
        "delete": ["stack", "delete", "s", "-y"],
    }.items():
        cpu, size = run(home, words)
        line = {"bench": f"memory-{name}", "resources": number, "cpu_s": round(cpu, 2)}
        line |= {"rss_mb": round(size, 1), "of_bar_rss": round(size / BAR, 2)}
        print(json.dumps(line), flush=True)
