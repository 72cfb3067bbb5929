"""The processes that a killed run leaves: Ansible's workers have sessions of their own.

They are found by a variable of their environment, which all descendants of a run inherit.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from pathlib import Path
from typing import Final

#: Seconds for which the end of a killed process is waited for.
_LONGEST: Final = 5.0


def kill_remains(name: str, value: str) -> None:
    """Kill every process of this user with ``name=value`` in its environment.

    Does nothing on systems without /proc.
    """
    mark = f"{name}={value}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                _kill(int(folder.name), folder, mark)


def _kill(pid: int, folder: Path, mark: bytes) -> None:
    """Kill a process, unless its number has become that of another one."""
    handle = os.pidfd_open(pid)
    try:
        if mark in (folder / "environ").read_bytes().split(b"\0"):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            select.select([handle], [], [], _LONGEST)  # until it has ended
    finally:
        os.close(handle)
