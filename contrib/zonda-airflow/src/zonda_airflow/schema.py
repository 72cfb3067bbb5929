"""The entries of a section of kind ``airflow``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.settings import (
    CONNECTION,
    ENDPOINT,
    ONE_LINE,
    POSITIVE,
    Fault,
    Schema,
    SettingsSchema,
)


def _check_login(section: Mapping[str, Any]) -> Iterator[Fault]:
    if section.get("token") and section.get("username"):
        yield "username", "stands beside a token: give one of them"


AIRFLOW = SettingsSchema(
    "an airflow runner",
    {
        "endpoint": Schema(
            Schema.STRING,
            'the API server, e.g. "http://127.0.0.1:8080"',
            required=True,
            constraints=ENDPOINT,
        ),
        "username": Schema(Schema.STRING, "A user's name"),
        "password": Schema(Schema.STRING, "That user's password", hidden=True),
        "token": Schema(Schema.STRING, "A bearer token", hidden=True, constraints=[ONE_LINE]),
        "output_task": Schema(Schema.STRING, "The task whose result is the output", "zonda_output"),
        "give_up": Schema(
            Schema.NUMBER,
            "Seconds for which a server that never answered is tried",
            120.0,
            constraints=[POSITIVE],
        ),
        **CONNECTION,
    },
    _check_login,
)
