"""One HTTP request and its answer: of limited size, and each part of it within a time.

The server is one that the operator has named; one that drips its answer can hold a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests

from .settings import MEBIBYTE, Settings

_CHUNK = 65536


class Unreachable(Exception):
    """No whole answer came."""


class Unusable(Exception):
    """An answer that cannot be taken, however often it is asked for."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode("utf-8", "replace")


class Transport:
    """Sends requests for many threads; each has a session of its own."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._local = threading.local()
        self._lock = threading.Lock()
        self._sessions: list[requests.Session] = []

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        """The answer; redirects are not followed. Raises Unreachable and Unusable."""
        settings = self._settings
        end = settings.clock.monotonic() + settings.answer_timeout
        try:
            with self._session().request(
                method,
                url,
                headers={**settings.headers(), **headers},
                data=body,
                timeout=(settings.connect_timeout, settings.answer_timeout),
                allow_redirects=False,
                stream=True,
            ) as response:
                content = self._read(response, end)
                return Reply(response.status_code, dict(response.headers), content)
        except requests.RequestException as error:
            raise Unreachable(_reason(error)) from None

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            sessions, self._sessions = self._sessions, []
        for session in sessions:
            session.close()
        self._local = threading.local()

    def _read(self, response: requests.Response, end: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in response.iter_content(_CHUNK):
            size += len(part)
            if size > MEBIBYTE:
                raise Unusable(f"the answer is larger than {MEBIBYTE} bytes")
            if self._settings.clock.monotonic() > end:
                raise Unreachable(f"no whole answer within {self._settings.answer_timeout:g} s")
            parts.append(part)
        return b"".join(parts)

    def _session(self) -> requests.Session:
        if not hasattr(self._local, "session"):
            session: Any = requests.Session()
            session.trust_env = False  # what is sent where is said by the settings alone
            session.verify = self._settings.ca_bundle or True
            self._local.session = session
            with self._lock:
                self._sessions.append(session)
        known: requests.Session = self._local.session
        return known


def _reason(error: requests.RequestException) -> str:
    if isinstance(error, requests.exceptions.SSLError):
        return "TLS failed: the certificate is not accepted"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return "no connection"
