"""Paths: valid ones, the objects there, and errors that name them. Used by every type here."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from zonda.hooks import ResourceFailure

LONGEST_PATH = 4000
LONGEST_NAME = 200  # the file systems' 255 bytes, less what a temporary name adds


def absolute(text: str) -> Path:
    """``text`` as a path; raises ResourceFailure for one that could mean several places."""
    fault = _fault(text)
    if fault:
        raise ResourceFailure(fault)
    return Path(os.path.normpath(text))


def directory_of_commands(text: str) -> Path:
    """A path that may be the root, too."""
    return Path(text) if text == "/" else absolute(text)


def _fault(text: str) -> str:
    if not text.startswith("/"):
        return f'"{text[:100]}" is not an absolute path: begin it with /'
    parts = text.split("/")
    if ".." in parts:
        return f'"{text[:100]}" contains "..": write where it leads to'
    if any(ord(character) < 32 for character in text):
        return "a path cannot hold control characters"
    if os.path.normpath(text).strip("/") == "":
        return "the root directory is not managed"
    longest = max(len(os.fsencode(part)) for part in parts)
    if longest > LONGEST_NAME or len(os.fsencode(text)) > LONGEST_PATH:
        return f"a name has {longest} bytes; {LONGEST_NAME} are possible, {LONGEST_PATH} in all"
    return ""


def status(path: Path) -> os.stat_result | None:
    """The status of ``path`` itself, links not followed; None where nothing does."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def kind_of(found: os.stat_result) -> str:
    """``a file``, ``a directory``, ``a symbolic link`` or ``a special file``."""
    kinds = (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
    )
    return next((word for test, word in kinds if test(found.st_mode)), "a special file")


@contextlib.contextmanager
def told(path: Path, doing: str) -> Iterator[None]:
    """Operating system errors as failures that say what was done, where, and what may help."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ResourceFailure(f"{path} could not be {doing}: {reason}{_advice(error)}") from error


def _advice(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return " (zonda runs as a user who may not do this)"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return " (make the directory with a Zonda::Files::Directory that this resource depends on)"
    return ""


def sync_directory(path: Path) -> None:
    """Make durable which names a directory holds."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
