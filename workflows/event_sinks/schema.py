"""The entries of sections of kind ``log`` and ``webhook``. Checking one opens no HTTP client."""

from __future__ import annotations

from zonda.hooks.settings import CONNECTION, ENDPOINT, POSITIVE, Schema, SettingsSchema

from ..http_runner.schema import CREDENTIALS, SIGNING_KEYS, one_way

LOG = SettingsSchema("a log sink", {"file": Schema(Schema.STRING)})
WEBHOOK = SettingsSchema(
    "a webhook sink",
    {
        **CONNECTION,
        "answer_timeout": Schema(Schema.NUMBER, default=10.0, constraints=[POSITIVE]),
        **CREDENTIALS,
        **SIGNING_KEYS,
        "url": Schema(Schema.STRING, "where events are sent", required=True, constraints=ENDPOINT),
    },
    one_way,
)
