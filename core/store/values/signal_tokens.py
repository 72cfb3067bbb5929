"""Tokens of signal URLs: whoever has one may signal one resource. No row is kept for them.

A token is ``PAYLOAD.CODE``, both in URL-safe base64: version, purpose, id of the resource and
expiry, and the HMAC-SHA256 of that text. The key is derived from the sealing key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
from collections.abc import Sequence

from zonda.hooks.records import dataclass

_VERSION = 1
#: Version, purpose, id, and the second of the expiry; 0 for none.
_LAYOUT = struct.Struct(">BB16sQ")
_PAYLOAD_LENGTH, _CODE_LENGTH = 35, 43
LENGTH = _PAYLOAD_LENGTH + 1 + _CODE_LENGTH

#: The path of signal URLs, which the token ends.
SIGNAL_PATH = "/signal/v1/"
#: The purposes: a signal with a meaning; one whose body does not matter; to read what a server has
#: to apply.
SIGNAL, SCALE, METADATA = "signal", "scale", "metadata"
_NUMBERS = {SIGNAL: 1, SCALE: 2, METADATA: 3}
_PURPOSES = {number: purpose for purpose, number in _NUMBERS.items()}


@dataclass(frozen=True, slots=True)
class SignalToken:
    """The content of a token. ``expires``: seconds since the epoch, None: never."""

    purpose: str
    resource_id: str
    expires: int | None = None


def sign_token(key: bytes, token: SignalToken) -> str:
    """The text of a token; raises ValueError for an id that is no UUID, KeyError for a purpose."""
    from uuid import UUID  # commands that make no token do without it

    payload = _LAYOUT.pack(
        _VERSION, _NUMBERS[token.purpose], UUID(token.resource_id).bytes, token.expires or 0
    )
    text = encode_base64(payload)
    return f"{text}.{compute_code(key, text)}"


def read_token(keys: Sequence[bytes], text: str) -> SignalToken | None:
    """The content of a token that one of ``keys`` has signed, else None.

    All keys are tried and whole codes compared, so that the time tells nothing of a forged code.
    """
    from uuid import UUID  # commands that make no token do without it

    payload, _, code = text.partition(".")
    given = code.encode("utf-8", "replace")
    matches = [hmac.compare_digest(compute_code(key, payload).encode(), given) for key in keys]
    if not any(matches) or len(text) != LENGTH:
        return None
    try:
        version, number, key, expires = _LAYOUT.unpack(base64.urlsafe_b64decode(f"{payload}="))
    except (binascii.Error, struct.error, ValueError):
        return None
    if version != _VERSION or number not in _PURPOSES:
        return None
    return SignalToken(_PURPOSES[number], str(UUID(bytes=key)), expires or None)


def looks_like_token(text: str) -> bool:
    """Whether a text has the form of a token; says nothing of its code."""
    return len(text) == LENGTH and text[_PAYLOAD_LENGTH] == "."


def compute_code(key: bytes, payload: str) -> str:
    """The HMAC-SHA256 of a text, in URL-safe base64."""
    content = payload.encode("utf-8", "replace")
    return encode_base64(hmac.new(key, content, hashlib.sha256).digest())


def encode_base64(content: bytes) -> str:
    """Bytes in URL-safe base64, without what fills it up."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
