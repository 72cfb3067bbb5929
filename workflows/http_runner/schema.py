"""The entries of a section of kind ``http``; ``mistral`` and ``webhook`` share many of them.

Apart from ``settings``, so that checking a section opens no HTTP client.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks import constraints
from zonda.hooks.settings import (
    CONNECTION,
    ENDPOINT,
    NOT_NEGATIVE,
    ONE_LINE,
    Fault,
    Rule,
    Schema,
    SettingsSchema,
    is_header_value,
    is_reference,
)

ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME", "CHECK")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Headers that say how a message is cut out of the stream, or whom it is for.
_RESERVED = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
)


def choose(*values: str, default: str = "", description: str = "") -> Schema:
    """An entry that is one of ``values``."""
    one_of = constraints.AllowedValues(values, f"must be one of {', '.join(values)}")
    return Schema(Schema.STRING, description, default or None, constraints=[one_of])


def _are_headers(value: Mapping[Any, Any]) -> bool:
    return all(
        isinstance(name, str)
        and bool(_HEADER.fullmatch(name))
        and name.lower() not in _RESERVED
        and (is_reference(text) or (isinstance(text, str) and is_header_value(text)))
        for name, text in value.items()
    )


def _is_key(value: Any) -> bool:
    """Whether a value can be a signing key: a text, a reference, or one of these with an id."""
    if isinstance(value, Mapping) and set(value) == {"id", "key"}:
        return isinstance(value["id"], str) and _is_key(value["key"])
    return isinstance(value, str) or is_reference(value)


def _are_keys(value: Any) -> bool:
    return all(map(_is_key, value if isinstance(value, list | tuple) else [value]))


def _hold_keys(value: Any) -> bool:
    """Whether there is a key, and none that everybody could sign with."""
    listed = value if isinstance(value, list | tuple) else [value]
    keys = [each.get("key") if isinstance(each, Mapping) else each for each in listed]
    return bool(keys) and not any(
        isinstance(key, str) and key.strip() in ("", "whsec_") for key in keys
    )


def _is_path(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and all(isinstance(step, str) for step in value)
    )


_KEYS_SHAPE = Rule(_are_keys, "must hold texts, {env = ...}, {file = ...} or {id = ..., key = ...}")
_NOT_EMPTY = Rule(_hold_keys, "must not be empty: leave it out, or give a key")
_KEYS = Schema(
    Schema.ANY, "Keys that sign requests", constraints=[_KEYS_SHAPE, _NOT_EMPTY], hidden=True
)
_CALLBACK_KEY = Schema(Schema.STRING, hidden=True, constraints=[_NOT_EMPTY])
_PATH = Schema(
    Schema.ANY, constraints=[Rule(_is_path, "must be a path such as data.id, or a list of texts")]
)
_STATUS = constraints.Range(400, 499, "must be a list of statuses from 400 to 499")

ENDPOINT_URL = Schema(Schema.STRING, "A URL", constraints=ENDPOINT)
#: The entries that prove who sends a request.
CREDENTIALS: Mapping[str, Schema] = {
    "token": Schema(Schema.STRING, "A bearer token", hidden=True, constraints=[ONE_LINE]),
    "username": Schema(Schema.STRING, "A user's name"),
    "password": Schema(Schema.STRING, "That user's password", hidden=True),
    "headers": Schema(
        Schema.MAP,
        "Headers of every request",
        constraints=[Rule(_are_headers, "must be a table of texts of one line, by header names")],
    ),
}
SIGNING_KEYS: Mapping[str, Schema] = {"signing_key": _KEYS, "signing_keys": _KEYS}
#: The entries about how much an endpoint is asked, and for how long one that never answers.
LOAD: Mapping[str, Schema] = {
    name: Schema(Schema.NUMBER, description, default, constraints=[NOT_NEGATIVE])
    for name, default, description in (
        ("max_in_flight", 64, "Requests at the same time"),
        ("breaker_failures", 10, "Failures in a row that pause an endpoint"),
        ("breaker_pause", 5.0, "Seconds of that pause"),
        ("connect_give_up", 120.0, "Seconds for which one that never answered is tried"),
    )
}
_OAUTH2 = Schema(
    Schema.MAP,
    "Tokens by client credentials",
    schema={
        "token_url": Schema(
            Schema.STRING, "the URL that gives tokens", required=True, constraints=ENDPOINT
        ),
        "client_id": Schema(Schema.STRING, "who asks for tokens", required=True),
        "client_secret": Schema(Schema.STRING, "its secret", required=True, hidden=True),
        **{name: Schema(Schema.STRING) for name in ("scope", "audience", "resource")},
        "send": choose("basic", "body", default="basic"),
    },
)
_ACTION = {
    "url": Schema(Schema.STRING),
    "method": choose("POST", "PUT", "PATCH", "DELETE", "GET", default="POST"),
    "body": choose("request", "inputs", "none"),
    "answer": choose("contract", "plain"),
    "id_path": _PATH,
    "output_path": _PATH,
    "gone": Schema(Schema.LIST, schema=Schema(Schema.INTEGER, constraints=[_STATUS])),
    "repeat": Schema(
        Schema.ANY, constraints=[Rule(lambda v: isinstance(v, bool), "must be true or false")]
    ),
}


def one_way(section: Mapping[str, Any]) -> Iterator[Fault]:
    """The fault of a section that says in two ways who sends the requests."""
    ways = [name for name in ("token", "username", "oauth2") if section.get(name)]
    if len(ways) > 1:
        yield ways[1], f"stands beside a {ways[0]}: give one of them"


HTTP = SettingsSchema(
    "an http runner",
    {
        "endpoint": Schema(
            Schema.STRING,
            "the URL that workflows are started below",
            required=True,
            constraints=ENDPOINT,
        ),
        **CREDENTIALS,
        "oauth2": _OAUTH2,
        "signature": choose("webhooks", "rfc9421", default="webhooks"),
        **SIGNING_KEYS,
        "actions": Schema(
            Schema.MAP, schema={name: Schema(Schema.MAP, schema=_ACTION) for name in ACTIONS}
        ),
        "poll_origins": Schema(Schema.LIST, schema=Schema(Schema.STRING, constraints=ENDPOINT)),
        **CONNECTION,
        **LOAD,
        "wait": Schema(Schema.NUMBER, "", 30.0, constraints=[NOT_NEGATIVE]),
        "callback": Schema(Schema.BOOLEAN),
        "callback_url": ENDPOINT_URL,
        "callback_key": Schema(Schema.LIST, schema=_CALLBACK_KEY, constraints=[_NOT_EMPTY]),
    },
    one_way,
)
