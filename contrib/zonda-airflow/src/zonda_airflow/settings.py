"""The settings of one runner, from its section of ``zonda.toml``; checked once."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import UsageError
from zonda.hooks.http import AddressPolicy, ClientConfig, Network, base_url, networks, origin
from zonda.hooks.runners import settings

OUTPUT_TASK = "zonda_output"
_TEXTS = ("endpoint", "username", "password", "token", "output_task", "ca_bundle")
_NETWORKS = ("allowed_networks", "denied_networks")
_NUMBERS = {"connect_timeout": 5.0, "answer_timeout": 60.0, "give_up": 120.0}


@dataclass(frozen=True, slots=True)
class Settings:
    """Where Airflow is, and who asks. ``output_task``: the task whose result is the output.

    ``give_up``: for how many seconds a server that never answered is tried.
    """

    wire: ClientConfig
    random: random.Random
    endpoint: str
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    output_task: str = OUTPUT_TASK
    give_up: float = 120.0

    def redact(self, text: str) -> str:
        """``text`` without password and token."""
        for secret in filter(None, (self.password, self.token)):
            text = text.replace(secret, "(hidden)")
        return text


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    settings.check_settings(given, "airflow", {*_TEXTS, *_NUMBERS, *_NETWORKS})
    texts = {name: settings.text(given, name) for name in _TEXTS}
    endpoint = base_url(given, "endpoint")
    if not endpoint:
        raise UsageError(
            "An airflow runner has no endpoint.",
            hint='Set it to the API server, e.g. endpoint = "http://127.0.0.1:8080".',
        )
    if texts["token"] and texts["username"]:
        raise UsageError("The airflow runner has both a token and a username.", hint="Give one.")
    if not settings.fits_a_header(texts["token"]):
        raise UsageError("The airflow runner's token must be one line of plain ASCII characters.")
    numbers = {
        name: settings.number(given, name, usual, positive=True) for name, usual in _NUMBERS.items()
    }
    return Settings(
        wire=ClientConfig(
            given["clock"],
            connect_timeout=numbers["connect_timeout"],
            answer_timeout=numbers["answer_timeout"],
            ca_bundle=texts["ca_bundle"],
            policy=AddressPolicy(
                _networks(given, "allowed_networks"), _networks(given, "denied_networks")
            ),
            trusted=frozenset({origin(endpoint)}),
        ),
        random=given["random"],
        endpoint=endpoint,
        username=texts["username"],
        password=texts["password"],
        token=texts["token"],
        output_task=texts["output_task"] or OUTPUT_TASK,
        give_up=numbers["give_up"],
    )


def _networks(given: Mapping[str, Any], name: str) -> tuple[Network, ...]:
    try:
        return networks(settings.texts(given, name))
    except ValueError as error:
        raise UsageError(f"The airflow runner's {name} is wrong: {error}.") from None
