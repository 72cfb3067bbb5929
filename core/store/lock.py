"""One engine per database file: a lock on ``<database>.lock`` that dies with its process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from zonda.hooks.errors import StoreError


class EngineLock:
    """The right to run the engine of one database. The holder's process id stands in the file."""

    def __init__(self, database: Path | str) -> None:
        self.path = Path(f"{database}.lock")
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
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def taken(self) -> bool:
        """Whether anybody holds the lock."""
        if self._handle is not None:
            return True
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # it was never taken
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def holder(self) -> int | None:
        """The process id of who holds the lock, as far as it is known."""
        try:
            text = self.path.read_text(encoding="ascii").strip()
        except OSError:
            return None
        return int(text) if text.isdigit() else None

    def __enter__(self) -> EngineLock:
        self.acquire(blocking=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
