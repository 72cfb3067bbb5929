"""How a ``mistral`` runner proves who it is: the header that goes with every request.

A password is changed into a token at Keystone (v3), which is kept until it is about to expire or
Mistral no longer takes it; however many threads need one, one of them logs in.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from . import http_answer
from .http_settings import shown
from .http_transport import Reply, Transport, Unreachable
from .mistral_settings import Keystone, MistralSettings

HEADER = "X-Auth-Token"
#: Seconds before its end in which a token is not used any more, and how long one lasts that
#: names no end.
MARGIN = 60.0
LASTS = 3600.0


class NoLogin(Exception):
    """Keystone gave no token, and would not another time. The text is fit for users."""


class Auth(Protocol):
    """Where tokens come from."""

    def token(self) -> str:
        """The token to send; empty for none. Raises Unreachable, Unusable and NoLogin."""

    def refused(self, token: str) -> bool:
        """Mistral did not take ``token``: whether another one may be had."""

    def secrets(self) -> list[str]:
        """What must not be told besides what the settings hold."""

    def close(self) -> None:
        """Let go of connections."""


class FixedToken:
    """One token for ever, or none."""

    def __init__(self, token: str) -> None:
        self._token = token

    def token(self) -> str:
        """The token."""
        return self._token

    def refused(self, token: str) -> bool:
        """There is no other."""
        return False

    def secrets(self) -> list[str]:
        """It stands in the settings."""
        return []

    def close(self) -> None:
        """Nothing to let go of."""


class KeystonePassword:
    """Tokens of Keystone, for a name and a password."""

    def __init__(self, settings: Keystone) -> None:
        self._settings = settings
        self._clock = settings.http.clock
        self._transport = Transport(settings.http)
        self._lock = threading.Lock()
        self._token = ""
        self._until = 0.0

    def token(self) -> str:
        """The token that was given last, or a new one."""
        with self._lock:
            if not self._token or self._clock.now() >= self._until:
                self._log_in()
            return self._token

    def secrets(self) -> list[str]:
        """The token of now."""
        token = self._token
        return [token] if token else []

    def refused(self, token: str) -> bool:
        """Forget ``token``, unless another thread has got a newer one meanwhile."""
        with self._lock:
            if self._token == token:
                self._token = ""
        return True

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def _log_in(self) -> None:
        url = f"{self._settings.http.endpoint}/auth/tokens"
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        content = json.dumps(self._settings.request).encode()
        reply = self._transport.send("POST", url, headers, content)
        token = reply.headers.get("X-Subject-Token", "")
        if reply.status not in (200, 201) or not token:
            self._refuse(url, reply)
        self._token, self._until = token, self._ends(reply) - MARGIN

    def _refuse(self, url: str, reply: Reply) -> None:
        # Never more than the status: what Keystone says may repeat what it was sent.
        why = f"{shown(url)}: HTTP {reply.status}"
        if reply.status >= 500 or reply.status in (408, 425, 429):
            raise Unreachable(why)
        if reply.status in (401, 403):
            raise NoLogin(f"{why}: Keystone does not accept user, password or project")
        raise NoLogin(f"{why}: Keystone gave no token")

    def _ends(self, reply: Reply) -> float:
        body = http_answer.decoded(reply)
        token = body.get("token") if isinstance(body, Mapping) else None
        ends = token.get("expires_at") if isinstance(token, Mapping) else None
        try:
            return datetime.fromisoformat(str(ends)).timestamp()
        except ValueError:
            return self._clock.now() + LASTS


def make(settings: MistralSettings) -> Auth:
    """Where the runner's tokens come from."""
    if settings.keystone is not None:
        return KeystonePassword(settings.keystone)
    return FixedToken(settings.token)
