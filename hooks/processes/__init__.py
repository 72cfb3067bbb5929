"""Commands that outlive the process which starts them, and files that a crash leaves whole.

Standard library only: the wrapper of a command is a process of its own that has to start quickly.
"""

from __future__ import annotations

from .detached_run import DetachedRun, Plan, own_environment, try_lock
from .files import read_json, sync_folder, write_json, write_new, write_whole

__all__ = [
    "DetachedRun",
    "Plan",
    "own_environment",
    "read_json",
    "sync_folder",
    "try_lock",
    "write_json",
    "write_new",
    "write_whole",
]
