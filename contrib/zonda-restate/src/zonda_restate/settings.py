"""The settings of one runner, from its section of ``zonda.toml``; checked once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from zonda.hooks.context import Clock
from zonda.hooks.errors import UsageError

MEBIBYTE = 1024 * 1024
_TEXTS = ("endpoint", "admin", "token", "ca_bundle")
_NUMBERS = {"connect_timeout": 5.0, "answer_timeout": 60.0, "give_up": 120.0}
_GIVEN_BY_ZONDA = ("kind", "clock", "random")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where Restate is. ``endpoint``: its ingress, ``admin``: its admin API or empty.

    Times in seconds: ``give_up`` is for how long a server that never answered is tried.
    """

    clock: Clock
    random: random.Random
    endpoint: str
    admin: str = ""
    token: str = field(default="", repr=False)
    ca_bundle: str = ""
    connect_timeout: float = 5.0
    answer_timeout: float = 60.0
    give_up: float = 120.0

    def headers(self) -> dict[str, str]:
        """What authenticates a request."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def redact(self, text: str) -> str:
        """``text`` without the token."""
        return text.replace(self.token, "******") if self.token else text


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    known = {*_TEXTS, *_NUMBERS}
    unknown = sorted(set(given) - known - set(_GIVEN_BY_ZONDA))
    if unknown:
        raise UsageError(
            f"A restate runner has no setting {unknown[0]!r}.",
            hint=f"It takes {', '.join(sorted(known))}.",
        )
    texts = {name: _text(given, name) for name in _TEXTS}
    if not texts["endpoint"]:
        raise UsageError(
            "A restate runner has no endpoint.",
            hint='Set it to the ingress, e.g. endpoint = "http://127.0.0.1:8080".',
        )
    numbers = {name: _number(given, name) for name in _NUMBERS}
    return Settings(
        clock=given["clock"],
        random=given["random"],
        endpoint=_url("endpoint", texts["endpoint"]),
        admin=_url("admin", texts["admin"]) if texts["admin"] else "",
        token=_token(texts["token"]),
        ca_bundle=texts["ca_bundle"],
        **numbers,
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name) or ""
    if not isinstance(value, str):
        raise UsageError(f"The restate runner's setting {name} must be a text.")
    return value


def _number(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name, _NUMBERS[name])
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise UsageError(f"The restate runner's setting {name} must be a number above 0.")
    return float(value)


def _url(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good or "@" in parts.netloc:
        raise UsageError(
            f"The restate runner's setting {name} must be an http(s) URL without credentials.",
            hint="A token has a setting of its own: token.",
        )
    return url.rstrip("/")


def _token(text: str) -> str:
    if not text.isascii() or not (text.isprintable() and text == text.strip()):
        raise UsageError("The restate runner's token must be one line of plain ASCII characters.")
    return text
