"""The entries of a section of kind ``mistral``. Checking a section opens no HTTP client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.settings import CONNECTION as HTTP_CONNECTION
from zonda.hooks.settings import ENDPOINT, Fault, Schema, SettingsSchema

from ..http_runner.schema import CREDENTIALS, ENDPOINT_URL, LOAD, choose

#: The entries that are read as for ``http``. Answers repeat input and output, each up to 1 MiB
#: and written as JSON within JSON.
CONNECTION: Mapping[str, Schema] = {
    **HTTP_CONNECTION,
    "max_body": Schema(
        Schema.NUMBER,
        default=16 * 1024 * 1024,
        constraints=HTTP_CONNECTION["max_body"].constraints,
    ),
    "endpoint": Schema(
        Schema.STRING,
        "the URL of Mistral's API, such as http://127.0.0.1:8989/v2",
        required=True,
        constraints=ENDPOINT,
    ),
    "headers": CREDENTIALS["headers"],
    **LOAD,
}


def _check_login(section: Mapping[str, Any]) -> Iterator[Fault]:
    way = section.get("auth") or ("keystone" if section.get("auth_url") else "")
    if way == "token" and not section.get("token"):
        yield "auth", "is token, and there is no token"
    if way == "keystone":
        missing = [name for name in ("auth_url", "username", "password") if not section.get(name)]
        if not section.get("project_id") and not section.get("project_name"):
            missing.append("project_name or project_id")
        if missing:
            entry = "auth" if section.get("auth") else "auth_url"
            names = f"{', '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing"
            yield entry, f"has tokens asked for at Keystone, and {names}"


MISTRAL = SettingsSchema(
    "a mistral runner",
    {
        **CONNECTION,
        **CREDENTIALS,
        "auth": choose("none", "token", "keystone"),
        "auth_url": ENDPOINT_URL,
        "forget": Schema(Schema.BOOLEAN),
        **{
            name: Schema(Schema.STRING)
            for name in (
                *("namespace", "project_domain_name", "project_id", "project_name"),
                "user_domain_name",
            )
        },
    },
    _check_login,
)
