"""The record of the last run of one thing: its lock, and what a run that may not be repeated gave.

A run that has a key is begun once, whoever asks: who asks again, after a crash, gets its result, or
is told that it has begun and never ended. Called in a child of the agent's process.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

Question = Mapping[str, Any]


def run_once(question: Question, run: Callable[[Question], dict[str, Any]]) -> dict[str, Any]:
    """The answer to a question with ``lock``: ``result``, or ``begun`` where that is all.

    ``once``: the key of the run; without one it is simply run.
    """
    file = os.open(question["lock"], os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)  # an earlier run of the same thing comes to its end first
    key = question.get("once")
    if key is None:
        return {"result": run(question)}
    known = _read(file)
    if known.get("key") == key:
        return {"result": known["result"]} if "result" in known else {"begun": True}
    _write(file, {"key": key})
    result = run(question)
    _write(file, {"key": key, "result": result})
    return {"result": result}


def _read(file: int) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        return dict(json.loads(os.pread(file, os.fstat(file).st_size, 0)))
    return {}


def _write(file: int, record: Mapping[str, Any]) -> None:
    os.ftruncate(file, 0)
    with os.fdopen(os.dup(file), "wb") as whole:
        whole.seek(0)
        whole.write(json.dumps(record).encode())
    os.fsync(file)
