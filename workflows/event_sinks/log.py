"""The event sink ``log``: one line of JSON for each event, to stderr or to the end of a file."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from zonda.hooks import EventSink
from zonda.hooks.events import EventRecord, SinkError

from .payload import build_payload
from .schema import LOG


class LogSink(EventSink):
    """Writes events. The file is opened for each batch, so that it may be rotated."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._file = os.path.expanduser(LOG.read(given)["file"])

    def deliver(self, events: Sequence[EventRecord]) -> None:
        """Write one line for each event; a file is on the disk then."""
        text = "".join(
            f"{json.dumps(build_payload(event), ensure_ascii=False)}\n" for event in events
        )
        try:
            if self._file:
                _append(self._file, text.encode())
            else:
                sys.stderr.write(text)
                sys.stderr.flush()
        except (OSError, ValueError) as error:  # ValueError: stderr was closed
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise SinkError(f"{self._file or 'stderr'} cannot be written: {reason}") from None


def _append(file: str, lines: bytes) -> None:
    """Add whole lines; half a line that was left by a full disk stays one by itself."""
    target = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(target).st_size
        if size and _is_regular(target) and os.pread(target, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        while lines:
            lines = lines[os.write(target, lines) :]
        if _is_regular(target):
            os.fsync(target)
    finally:
        os.close(target)


def _is_regular(target: int) -> bool:
    return stat.S_ISREG(os.fstat(target).st_mode)
