"""Files of the runner service that a crash leaves whole: the old content or the new, never half.

Used by the journal and by the wrapper, which starts with every run: as few imports as can be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

#: Names in the folder of a run; service_journal tells what they hold.
BODY, PLAN, RESULT, RUN, CANCEL = "body", "plan.json", "result.json", "run.json", "cancel"
OUT, ERR = "stdout", "stderr"
#: The output that is what a command wrote, where that is no JSON object.
TEXT = "stdout"
#: On stderr, what follows this is the reason by itself.
REASON_MARK = "\x1e"
#: What an ended run needs no longer; inputs are in there.
NEEDLESS = (BODY, PLAN, OUT)


def write_whole(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file so that a crash leaves either all of it or what was there before.

    ``durable``: also a crash of the machine, and once this returns the content stays.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())
    os.replace(beside, path)
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_cancel_requested(folder: Path) -> bool:
    """Whether somebody has asked to cancel the run in ``folder``."""
    return (folder / CANCEL).exists()


def write_new(path: Path, content: bytes) -> None:
    """Write a file into a folder that is not in its place yet; its name is not synced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def open_log(path: Path) -> BinaryIO:
    """A file to add lines to, for its owner alone."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def write_json(path: Path, value: Mapping[str, Any], *, durable: bool = True) -> None:
    """``write_whole`` of a JSON object."""
    write_whole(path, json.dumps(value).encode(), durable=durable)


def read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; None where there is no such file."""
    try:
        found = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) else None
