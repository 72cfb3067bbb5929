"""Local files that documents name: which of them may be read, and a safe way to open them.

Called by ``attachments`` and ``reader``. Documents come from anybody: what belongs to zonda, to
the machine or to nobody (devices, pipes) is refused by where a path really leads, and judged again
once it is open, since a path may lead elsewhere a moment later.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

#: The folders of processes, of the kernel and of devices.
_OF_THE_MACHINE = (Path("/proc"), Path("/sys"), Path("/dev"))
_OPENING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class Refused(Exception):
    """Raised for a file that is not read, with the reason."""


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file; raises Refused for anything else, and OSError. Never waits."""
    _check_kind(os.stat(path))  # a device may do something when it is opened
    with os.fdopen(os.open(path, _OPENING), "rb") as stream:
        _check_kind(os.fstat(stream.fileno()))
        yield stream


def read_file(path: Path, most: int, roots: Collection[Path], own: Collection[Path]) -> bytes:
    """Read the first ``most`` bytes of a file that a document names; raises Refused and OSError.

    ``roots``: folders to stay in, none means anywhere. ``own``: zonda's files and folders. Both by
    where they really are (``Path.resolve``).
    """
    real = path.resolve()
    if roots and not any(map(real.is_relative_to, roots)):
        raise Refused(f"{real} lies outside of {', '.join(map(str, roots))} (setting file_roots)")
    if any(map(real.is_relative_to, _OF_THE_MACHINE)):
        folders = ", ".join(map(str, _OF_THE_MACHINE))
        raise Refused(f"nothing below {folders} is read for a document")
    if any(map(real.is_relative_to, own)):
        raise Refused(f"{real} belongs to zonda, and is read for no document")
    with open_file(real) as stream:
        status = os.fstat(stream.fileno())
        if path.resolve() != real or not os.path.samestat(status, os.lstat(real)):
            raise Refused(f"{path} leads elsewhere while it is read")
        if status.st_dev in _list_system_devices() or _has_link_below(own, status):
            raise Refused(f"{path} is another name of what is read for no document")
        return stream.read(most)


def _check_kind(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe"}
        raise Refused(f"it is {kinds.get(stat.S_IFMT(status.st_mode), 'no plain file')}")


@cache
def _list_system_devices() -> set[int]:
    """List the devices of /proc and /sys, which may be mounted elsewhere, too."""
    return {os.stat(each).st_dev for each in _OF_THE_MACHINE[:2] if os.path.ismount(each)}


def _has_link_below(own: Collection[Path], status: os.stat_result) -> bool:
    """Whether a file has another name (a hard link) among zonda's files."""
    return status.st_nlink > 1 and any(
        os.path.samestat(status, os.lstat(each)) for each in _list_files_below(own)
    )


def _list_files_below(own: Collection[Path]) -> Iterator[str]:
    for each in own:
        if each.is_file():
            yield str(each)
        for folder, _, names in os.walk(each):
            yield from (os.path.join(folder, name) for name in names)
