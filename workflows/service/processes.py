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
    found = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or None


def is_alive(known: Mapping[str, Any] | None) -> bool:
    """Whether the process that ``identity`` described is still that process."""
    return known is not None and read_identity(int(known["pid"])) == dict(known)


def end_group(known: Mapping[str, Any] | None, number: signal.Signals) -> bool:
    """Send a signal to the process group of ``known``; return whether it was there."""
    if known is None or not is_alive(known):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(int(known["pid"]), number)
    return True


def end(known: Mapping[str, Any] | None, number: signal.Signals) -> bool:
    """Send a signal to the process ``known``; return whether it was there."""
    if known is None or not is_alive(known):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(known["pid"]), number)
    return True
