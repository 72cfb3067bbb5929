"""The settings of one runner, from its section of ``zonda.toml``; checked once."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import redact
from zonda.hooks.http import ClientConfig, origin, read_connection

from .schema import RESTATE


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a runner. ``endpoint``: its ingress, ``admin``: its admin API or empty.

    ``give_up``: for how many seconds a server that never answered is tried.
    """

    wire: ClientConfig
    random: random.Random
    endpoint: str
    admin: str = ""
    token: str = field(default="", repr=False)
    give_up: float = 120.0
    secrets: Sequence[str] = field(default=(), repr=False)

    def headers(self) -> dict[str, str]:
        """The headers that authenticate a request."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def redact(self, text: str) -> str:
        """``text`` without anything secret of the section."""
        return redact(text, self.secrets)


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    values = RESTATE.read(given)
    endpoint, admin = (values[name].rstrip("/") for name in ("endpoint", "admin"))
    return Settings(
        wire=ClientConfig(
            **read_connection(values, given["clock"]),
            trusted=frozenset({origin(endpoint), origin(admin)} - {""}),
        ),
        random=given["random"],
        endpoint=endpoint,
        admin=admin,
        token=values["token"],
        give_up=values["give_up"],
        secrets=RESTATE.list_secrets(values),
    )
