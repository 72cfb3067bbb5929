"""Tokens of the service's own login: signed, for an hour, without a row anywhere.

A token is ``PAYLOAD.CODE``, both in URL-safe base64: version, method of the login, hash of the
entry in ``tokens.toml``, seconds of its issue and its end, an id; and the HMAC-SHA256 of that
text and of what the entry says. The key is derived from the sealing key.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import struct
from collections.abc import Callable, Sequence
from uuid import UUID

from zonda.core.store.values.signal_tokens import compute_code, encode_base64
from zonda.hooks.records import dataclass

from .tokens import Entry

PASSWORD, TOKEN = "password", "token"
_VERSION = 1
_METHODS = (PASSWORD, TOKEN)
_LAYOUT = struct.Struct(">BB32sQQ16s")
_PAYLOAD_LENGTH, _CODE_LENGTH = 88, 43
_LENGTH = _PAYLOAD_LENGTH + 1 + _CODE_LENGTH


@dataclass(frozen=True, slots=True)
class LocalToken:
    """The content of a token. ``issued``, ``expires``: seconds since the epoch; ``id``: a UUID."""

    method: str
    entry: Entry
    issued: int
    expires: int
    id: str


def sign_local_token(key: bytes, token: LocalToken) -> str:
    """The text of a token."""
    digest = bytes.fromhex(token.entry.hash.removeprefix("sha256:"))
    number = _METHODS.index(token.method)
    content = _LAYOUT.pack(
        _VERSION, number, digest, token.issued, token.expires, UUID(token.id).bytes
    )
    payload = encode_base64(content)
    return f"{payload}.{_compute_code(key, payload, token.entry)}"


def read_local_token(
    keys: Sequence[bytes], text: str, find_entry: Callable[[str], Entry | None]
) -> LocalToken | None:
    """The content of a token that one of ``keys`` has signed for an entry as it is now, else None.

    ``find_entry``: gives the entry of a hash.
    """
    payload, _, code = text.partition(".")
    if len(text) != _LENGTH or len(payload) != _PAYLOAD_LENGTH:
        return None
    try:
        content = _LAYOUT.unpack(base64.urlsafe_b64decode(payload))
    except (binascii.Error, struct.error, ValueError):
        return None
    version, number, digest, issued, expires, key = content
    entry = find_entry(f"sha256:{digest.hex()}")
    if entry is None:
        return None
    sent = code.encode("utf-8", "replace")
    matches = [hmac.compare_digest(_compute_code(k, payload, entry).encode(), sent) for k in keys]
    if not any(matches) or version != _VERSION:
        return None
    return LocalToken(_METHODS[number], entry, issued, expires, str(UUID(bytes=key)))


def _compute_code(key: bytes, payload: str, entry: Entry) -> str:
    caller = entry.caller
    says = [caller.user, caller.project_id, sorted(caller.roles), caller.expires]
    return compute_code(key, f"{payload}.{json.dumps(says)}")
