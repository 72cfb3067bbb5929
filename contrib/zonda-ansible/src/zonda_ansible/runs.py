"""Runs of modules: each is begun once, looked at until it ends, and begun again after a crash.

Called by the types. A run that this process has begun is found by its id; one that an earlier
process had begun comes to its end alone, and the run that follows it waits for that.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotEnded
from typing import Any, Final

from .agents import Answer, get_agent
from .index import Index, find_cache_folder

_LOCK: Final = threading.Lock()
_runs: dict[str, Future[Answer]] = {}
_count = itertools.count(1)

Question = Mapping[str, Any]


class Lost(Exception):
    """The process that ran the module is gone, and nobody knows how far it came."""


class Late(Exception):
    """The module did not end in its time and was ended."""


def begin(index: Index, question: Question, lock: str) -> str:
    """Begin a run and return its id. Of those with the same ``lock`` one runs at a time."""
    folder = find_cache_folder() / "locks"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    future = get_agent(index.fingerprint).ask({**question, "lock": str(folder / lock)})
    run = f"{os.getpid()}-{next(_count)}"
    with _LOCK:
        _runs[run] = future
    return run


def is_known(run: str) -> bool:
    """Whether this process has begun the run, and its result has not been taken."""
    with _LOCK:
        return run in _runs


def take_result(run: str, seconds: float) -> dict[str, Any] | None:
    """The result of a run; None where it has not ended in so many seconds. Raises Lost, Late."""
    with _LOCK:
        future = _runs.get(run)
    if future is None:
        raise Lost
    try:
        answer = future.result(seconds)
    except NotEnded:
        return None
    with _LOCK:
        _runs.pop(run, None)
    if "late" in answer:
        raise Late
    if "lost" in answer:
        raise Lost
    result: dict[str, Any] = answer["result"]
    return result


def forget_lock(lock: str) -> None:
    """Remove the file of a lock, once nothing is left to run."""
    (find_cache_folder() / "locks" / lock).unlink(missing_ok=True)
