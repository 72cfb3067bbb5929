"""Requests in the name of somebody: logs in where it must, and once more when a login has expired.

Airflow's login gives a token (a JWT) that is good for a while. One with an invalid or expired token
is answered 401 or 403.
"""

from __future__ import annotations

import json
import threading
from typing import Any

from zonda.hooks.http import Reply, TokenAuth, Transport

from .settings import Settings

NOT_LOGGED_IN = (401, 403)


class LoginRefused(Exception):
    """Airflow does not accept username and password. The text is fit for users."""


class Session:
    """Airflow's REST API, version 2, for many threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._transport = Transport(settings.wire)
        self._lock = threading.Lock()
        self._token = settings.token

    def send(self, method: str, path: str, body: bytes | None = None) -> Reply:
        """The answer. Raises TransportError, RequestRejected and LoginRefused."""
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        url = f"{self._settings.endpoint}/api/v2/{path}"
        auth = TokenAuth(self._fetch_token, self._forget_token, refusals=NOT_LOGGED_IN)
        return self._transport.send(method, url, headers, body, auth=auth)

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def _fetch_token(self) -> str:
        with self._lock:
            if self._settings.username and not self._token:
                self._token = self._new_token()
            return f"Bearer {self._token}" if self._token else ""

    def _forget_token(self, header: str) -> bool:
        with self._lock:
            if self._settings.username and header == f"Bearer {self._token}":
                self._token = ""
            return bool(self._settings.username)

    def _new_token(self) -> str:
        known = {"username": self._settings.username, "password": self._settings.password}
        reply = self._transport.send(
            "POST",
            f"{self._settings.endpoint}/auth/token",
            {"Content-Type": "application/json", "Accept": "application/json"},
            json.dumps(known).encode(),
        )
        found = decoded(reply)
        token = found.get("access_token") if isinstance(found, dict) else None
        if not isinstance(token, str) or not token:
            raise LoginRefused(f"the login is answered {reply.status}: {said(reply)}")
        return token


def decoded(reply: Reply) -> Any:
    """The JSON of an answer; None where it is none."""
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        return None


def said(reply: Reply) -> str:
    """The text of an answer: its ``detail``, which may be a text, a map or a list."""
    found = decoded(reply)
    detail = found.get("detail") if isinstance(found, dict) else None
    if isinstance(detail, str):
        return detail
    if isinstance(detail, dict):
        return str(detail.get("reason") or detail.get("message") or "")
    if isinstance(detail, list):
        return "; ".join(filter(None, map(_fault, detail)))
    return ""


def _fault(item: Any) -> str:
    """One fault of a request. What was sent stands beside it, and is left out."""
    if not isinstance(item, dict):
        return ""
    where = ".".join(str(part) for part in item.get("loc") or ())
    return f"{where}: {item.get('msg')}"
