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
_TEXTS = ("endpoint", "username", "password", "token", "output_task", "ca_bundle")
OUTPUT_TASK = "zonda_output"
_NUMBERS = {"connect_timeout": 5.0, "answer_timeout": 60.0, "give_up": 120.0}
_GIVEN_BY_ZONDA = ("kind", "clock", "random")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where Airflow is, and who asks. ``output_task``: the task whose result is the output.

    Times in seconds: ``give_up`` is for how long a server that never answered is tried.
    """

    clock: Clock
    random: random.Random
    endpoint: str
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    output_task: str = OUTPUT_TASK
    ca_bundle: str = ""
    connect_timeout: float = 5.0
    answer_timeout: float = 60.0
    give_up: float = 120.0

    def redact(self, text: str) -> str:
        """``text`` without password and token."""
        for secret in filter(None, (self.password, self.token)):
            text = text.replace(secret, "******")
        return text


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    known = {*_TEXTS, *_NUMBERS}
    unknown = sorted(set(given) - known - set(_GIVEN_BY_ZONDA))
    if unknown:
        raise UsageError(
            f"An airflow runner has no setting {unknown[0]!r}.",
            hint=f"It takes {', '.join(sorted(known))}.",
        )
    texts = {name: _text(given, name) for name in _TEXTS}
    if not texts["endpoint"]:
        raise UsageError(
            "An airflow runner has no endpoint.",
            hint='Set it to the API server, e.g. endpoint = "http://127.0.0.1:8080".',
        )
    if texts["token"] and texts["username"]:
        raise UsageError("The airflow runner has both a token and a username.", hint="Give one.")
    numbers = {name: _number(given, name) for name in _NUMBERS}
    return Settings(
        clock=given["clock"],
        random=given["random"],
        endpoint=_url("endpoint", texts["endpoint"]),
        username=texts["username"],
        password=texts["password"],
        token=_token(texts["token"]),
        output_task=texts["output_task"] or OUTPUT_TASK,
        ca_bundle=texts["ca_bundle"],
        **numbers,
    )


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name) or ""
    if not isinstance(value, str):
        raise UsageError(f"The airflow runner's setting {name} must be a text.")
    return value


def _number(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name, _NUMBERS[name])
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise UsageError(f"The airflow runner's setting {name} must be a number above 0.")
    return float(value)


def _url(name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good or "@" in parts.netloc:
        raise UsageError(
            f"The airflow runner's setting {name} must be an http(s) URL without credentials.",
            hint="They have settings of their own: token, or username and password.",
        )
    return url.rstrip("/")


def _token(text: str) -> str:
    if not text.isascii() or not (text.isprintable() and text == text.strip()):
        raise UsageError("The airflow runner's token must be one line of plain ASCII characters.")
    return text
