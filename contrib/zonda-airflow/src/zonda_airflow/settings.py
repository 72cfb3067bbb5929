"""The settings of one runner, from its section of ``zonda.toml``; checked once."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zonda.hooks import redact
from zonda.hooks.http import ClientConfig, origin, read_connection

from .schema import AIRFLOW


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a runner. ``output_task``: the task whose result is the output.

    ``give_up``: for how many seconds a server that never answered is tried.
    """

    wire: ClientConfig
    random: random.Random
    endpoint: str
    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    output_task: str = "zonda_output"
    give_up: float = 120.0
    secrets: Sequence[str] = field(default=(), repr=False)

    def redact(self, text: str) -> str:
        """``text`` without anything secret of the section."""
        return redact(text, self.secrets)


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of a section. Raises UsageError that names the wrong entry."""
    values = AIRFLOW.read(given)
    endpoint = values["endpoint"].rstrip("/")
    return Settings(
        wire=ClientConfig(
            **read_connection(values, given["clock"]), trusted=frozenset({origin(endpoint)})
        ),
        random=given["random"],
        endpoint=endpoint,
        username=values["username"],
        password=values["password"],
        token=values["token"],
        output_task=values["output_task"],
        give_up=values["give_up"],
        secrets=AIRFLOW.list_secrets(values),
    )
