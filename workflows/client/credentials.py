"""The keys of a section that sign requests and callbacks. No text of an error holds a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import UsageError

from . import message_signature
from .webhook_signature import read_key


def read_signing_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that sign requests, by the setting of the scheme that they are for."""
    keys = list_keys(values)
    if values["signature"] == message_signature.MESSAGES:
        return {"message_keys": message_signature.read_keys(keys)}
    return {"signing_keys": tuple(_read(key) for _, key in keys)}


def list_keys(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The keys of a section, each with its id or ''."""
    given = [values.get(name) for name in ("signing_keys", "signing_key")]
    keys = [key for each in given for key in (each if isinstance(each, list | tuple) else [each])]
    return [
        (key.get("id", ""), key.get("key", "")) if isinstance(key, Mapping) else ("", key)
        for key in keys
        if key is not None
    ]


def _read(text: str, name: str = "signing key") -> bytes:
    try:
        return read_key(text)
    except ValueError as error:
        raise UsageError(f"A {name} of the runner cannot be read: {error}.") from None


def read_callback_keys(values: Mapping[str, Any]) -> tuple[bytes, ...]:
    """The keys that sign callbacks."""
    return tuple(_read(text, "callback_key") for text in values["callback_key"])
