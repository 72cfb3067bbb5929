"""The entries of a section of kind ``restate``."""

from __future__ import annotations

from zonda.hooks.settings import CONNECTION, ENDPOINT, ONE_LINE, POSITIVE, Schema, SettingsSchema

RESTATE = SettingsSchema(
    "a restate runner",
    {
        "endpoint": Schema(
            Schema.STRING,
            'the ingress, e.g. "http://127.0.0.1:8080"',
            required=True,
            constraints=ENDPOINT,
        ),
        "admin": Schema(Schema.STRING, "The admin API", constraints=ENDPOINT),
        "token": Schema(Schema.STRING, "A bearer token", hidden=True, constraints=[ONE_LINE]),
        "give_up": Schema(
            Schema.NUMBER,
            "Seconds for which a server that never answered is tried",
            120.0,
            constraints=[POSITIVE],
        ),
        **CONNECTION,
    },
)
