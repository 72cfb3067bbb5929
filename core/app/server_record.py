"""The record of a running server in the home, by which local commands say where it is."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from zonda.core.settings.table import Settings
from zonda.core.store.file.lock import FileLock


class ServerRecord(FileLock):
    """``serve.json`` in the home: the URL of the server, locked for as long as it runs."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.home / "serve.json")

    def publish(self, url: str) -> None:
        """Record that this process serves at a URL, unless another one of this home does."""
        if self.acquire() and self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, json.dumps({"url": url, "pid": os.getpid()}).encode(), 0)

    def find_url(self) -> str:
        """The URL of the server of this home; '' if none runs."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            if self.is_taken():
                return str(json.loads(self.path.read_text(encoding="utf-8"))["url"])
        return ""
