"""Runs of modules: each is begun once, looked at until it ends, and begun again after a crash.

Called by the types. A run that this process has begun is found by its id; one that an earlier
process had begun comes to its end alone, and the run that follows it waits for that.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotEnded
from pathlib import Path
from typing import Any, Final

from zonda.hooks.runners import get_waker

from ..agents import Answer, get_agent
from ..index import Index, find_cache_folder

_LOCK: Final = threading.Lock()
#: The future of a run, and what stands in place of its record once the result is taken.
_runs: dict[str, tuple[Future[Answer], Mapping[Path, Mapping[str, Any]]]] = {}

Question = Mapping[str, Any]


class Unknown(Exception):
    """An earlier process has begun the run."""


class Lost(Exception):
    """The process that ran the module is gone, and nobody knows how far it came."""


class Begun(Exception):
    """The run has begun once and never ended, and nobody may begin it again."""


class Late(Exception):
    """The module did not end in its time and was ended."""


def begin(index: Index, question: Question, lock: str) -> str:
    """Begin a run and return its id. Of those with the same ``lock`` one runs at a time.

    A question with ``once``, a key, is asked again after a crash to follow what was begun then. The
    operation that begins the run is woken when it ends: it may have waited long for its turn.
    """
    folder = find_cache_folder() / "locks"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    future = get_agent(index.fingerprint).ask({**question, "lock": str(folder / lock)})
    waker = get_waker()
    if waker is not None:
        future.add_done_callback(lambda _: waker.ring())
    run = secrets.token_hex(8)
    key = question.get("once")
    with _LOCK:
        _runs[run] = future, {} if key is None else {folder / lock: {"key": key}}
    return run


def is_known(run: str) -> bool:
    """Whether this process has begun the run, and its result has not been taken."""
    with _LOCK:
        return run in _runs


def take_result(run: str, seconds: float) -> dict[str, Any] | None:
    """The result of a run; None where it has not ended in so many seconds.

    Raises Unknown, Lost, Begun and Late.
    """
    with _LOCK:
        future, records = _runs.get(run, (None, {}))
    if future is None:
        raise Unknown
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
    if "begun" in answer:
        raise Begun
    for file, record in records.items():  # nobody asks for the result again: it may hold secrets
        file.write_text(json.dumps(record), encoding="utf-8")
    result: dict[str, Any] = answer["result"]
    return result


def forget_lock(lock: str) -> None:
    """Remove the file of a lock, once nothing is left to run."""
    (find_cache_folder() / "locks" / lock).unlink(missing_ok=True)
