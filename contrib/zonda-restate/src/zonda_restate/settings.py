"""The settings of one runner, from its section of ``zonda.toml``; checked once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import UsageError
from zonda.hooks.http import AddressPolicy, ClientConfig, Network, base_url, networks, origin
from zonda.hooks.runners import settings

_TEXTS = ("endpoint", "admin", "token", "ca_bundle")
_NETWORKS = ("allowed_networks", "denied_networks")
_NUMBERS = {"connect_timeout": 5.0, "answer_timeout": 60.0, "give_up": 120.0}


@dataclass(frozen=True, slots=True)
class Settings:
    """Where Restate is. ``endpoint``: its ingress, ``admin``: its admin API or empty.

    ``give_up``: for how many seconds a server that never answered is tried.
    """

    wire: ClientConfig
    random: random.Random
    endpoint: str
    admin: str = ""
    token: str = field(default="", repr=False)
    give_up: float = 120.0

    def headers(self) -> dict[str, str]:
        """What authenticates a request."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def redact(self, text: str) -> str:
        """``text`` without the token."""
        return text.replace(self.token, "(hidden)") if self.token else text


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    settings.check_settings(given, "restate", {*_TEXTS, *_NUMBERS, *_NETWORKS})
    endpoint, admin = base_url(given, "endpoint"), base_url(given, "admin")
    if not endpoint:
        raise UsageError(
            "A restate runner has no endpoint.",
            hint='Set it to the ingress, e.g. endpoint = "http://127.0.0.1:8080".',
        )
    token = settings.text(given, "token")
    if not settings.fits_a_header(token):
        raise UsageError("The restate runner's token must be one line of plain ASCII characters.")
    numbers = {
        name: settings.number(given, name, usual, positive=True) for name, usual in _NUMBERS.items()
    }
    return Settings(
        wire=ClientConfig(
            given["clock"],
            connect_timeout=numbers["connect_timeout"],
            answer_timeout=numbers["answer_timeout"],
            ca_bundle=settings.text(given, "ca_bundle"),
            policy=AddressPolicy(
                _networks(given, "allowed_networks"), _networks(given, "denied_networks")
            ),
            trusted=frozenset({origin(endpoint), origin(admin)} - {""}),
        ),
        random=given["random"],
        endpoint=endpoint,
        admin=admin,
        token=token,
        give_up=numbers["give_up"],
    )


def _networks(given: Mapping[str, Any], name: str) -> tuple[Network, ...]:
    try:
        return networks(settings.texts(given, name))
    except ValueError as error:
        raise UsageError(f"The restate runner's {name} is wrong: {error}.") from None
