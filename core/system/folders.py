"""Folders of zonda's state: only their owner may read them, since names and logs are in them."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from zonda.hooks.errors import StoreError


def make_folder(folder: Path) -> None:
    """Make ``folder`` and its parents with mode 0700 where missing; raises StoreError.

    What is there keeps its mode: it may be shared, or be the user's own home.
    """
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)  # raises where a file is in its place
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            hint="Choose another with --home or ZONDA_HOME.",
        ) from error


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """The one process that makes files in ``folder``; waits for another one that does.

    Raises StoreError for a folder that cannot be opened.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be opened: {error.strerror}.",
            hint="Make it readable, or choose another with --home or ZONDA_HOME.",
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def find_exposed(paths: Iterable[Path]) -> list[Path]:
    """Return those of ``paths`` that every user of this machine may read, write or enter."""
    return [path for path in paths if _read_mode(path) & stat.S_IRWXO]


def _read_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0
