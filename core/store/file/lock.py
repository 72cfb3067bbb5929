"""Locks beside a database file that end with their process: its engine, its waiting commands."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self
from weakref import WeakSet

from zonda.hooks.errors import StoreError

#: The locks that this process holds: a child that a plug-in forks must not keep them.
_HELD: WeakSet[FileLock] = WeakSet()


class FileLock:
    """A lock on a file of its own, which contains the holder's process id."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    def acquire(self, blocking: bool = False) -> bool:
        """Take the lock; False if another process (or another lock object) holds it."""
        if self._handle is not None:
            return True
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(
                f"The lock file {self.path} cannot be opened: {error.strerror}.",
                hint="Make its folder writable, or choose another ZONDA_HOME.",
            ) from error
        if blocking:
            fcntl.flock(handle, fcntl.LOCK_EX)
        elif not _lock(handle):
            os.close(handle)
            return False
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
        except OSError as error:
            os.close(handle)
            raise StoreError(
                f"The lock file {self.path} cannot be written: {error.strerror}.",
                hint="Make room on its disk, or choose another ZONDA_HOME.",
            ) from error
        self._handle = handle
        _HELD.add(self)
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None

    def forget(self) -> None:
        """Close the file in a child process: the lock is its parent's."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def is_taken(self) -> bool:
        """Whether anybody holds the lock."""
        if self._handle is not None:
            return True
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # it was never taken
            return False
        try:
            return not _flock(handle, fcntl.LOCK_SH)
        finally:
            os.close(handle)

    def read_holder(self) -> int | None:
        """The process id of the holder of the lock, as far as known."""
        try:
            text = self.path.read_text(encoding="ascii").strip()
        except OSError:
            return None
        return int(text) if text.isdigit() else None

    def __enter__(self) -> Self:
        self.acquire(blocking=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class EngineLock(FileLock):
    """The right to run the engine of one database."""

    def __init__(self, database: Path | str) -> None:
        super().__init__(f"{database}.lock")


class ServerLock(FileLock):
    """The right to be the long-running engine of one database, also before it has the other lock.

    Commands leave the engine's lock to whoever holds this one.
    """

    def __init__(self, database: Path | str) -> None:
        super().__init__(f"{database}.server-lock")


class RequestLock(FileLock):
    """Held by the process that waits for the answer to a request; the file goes with the wait."""

    def __init__(self, database: Path | str, request_id: str) -> None:
        super().__init__(f"{database}.request-{request_id}")

    def release(self) -> None:
        """Give the lock back, and remove its file."""
        if self.held:
            self.remove()
        super().release()

    def remove(self) -> None:
        """Remove the file: also of a process that was killed."""
        self.path.unlink(missing_ok=True)


def _lock(handle: int) -> bool:
    """Lock a file unless somebody holds it. Who only looks at it does so for a moment."""
    while not _flock(handle, fcntl.LOCK_EX):
        if not _flock(handle, fcntl.LOCK_SH):
            return False
        fcntl.flock(handle, fcntl.LOCK_UN)
    return True


def _flock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _forget_all() -> None:
    for lock in list(_HELD):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)
