"""Identities of processes: a pid alone may belong to another process by now."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_identity(pid: int) -> dict[str, Any] | None:
    """The pid and when that process was born; None where there is none (or only a zombie)."""
    born = _read_birth(pid)
    return None if born is None else {"pid": pid, "born": born}


def _read_birth(pid: int) -> str | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _read_birth_from_ps(pid)
    return None if fields[0] == "Z" else fields[19]


def _read_birth_from_ps(pid: int) -> str | None:
    """For systems without /proc."""
    answer = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or None


def send_signal(
    identity: Mapping[str, Any] | None, number: signal.Signals, *, group: bool = False
) -> None:
    """Send a signal to the process of ``identity``, or to its group, if it still is that one."""
    if identity is not None and read_identity(int(identity["pid"])) == dict(identity):
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(int(identity["pid"]), number)
