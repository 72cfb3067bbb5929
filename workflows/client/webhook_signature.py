"""Signatures of requests by the Standard Webhooks scheme: HMAC-SHA256 of ``id.timestamp.body``.

The ``http`` runner signs with every key it has, so that keys can be rotated; the bundled service
verifies. Knows neither requests nor answers, and never shows a key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence

TOLERANCE = 300.0
_PREFIX = "whsec_"


def read_key(text: str) -> bytes:
    """The secret of ``whsec_BASE64``, else the text itself.

    Raises ValueError for bad base64, and for an empty key: everybody could sign with that.
    """
    if not text.strip().removeprefix(_PREFIX):
        raise ValueError("it is empty")
    if not text.startswith(_PREFIX):
        return text.encode()
    try:
        return base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"what follows {_PREFIX} is not base64") from None


def sign(keys: Iterable[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """The value of ``webhook-signature``: one ``v1,BASE64`` per key, separated by blanks."""
    return " ".join(f"v1,{_compute_digest(key, message_id, str(timestamp), body)}" for key in keys)


def build_headers(
    keys: Sequence[bytes], message_id: str, now: float, body: bytes
) -> dict[str, str]:
    """The three headers of a signed request; none where there is no key."""
    if not keys:
        return {}
    timestamp = int(now)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(keys, message_id, timestamp, body),
    }


def verify(keys: Sequence[bytes], given: Mapping[str, str], now: float, body: bytes) -> str | None:
    """The fault of a request's signature, or None. ``given``: its headers."""
    message_id = given.get("webhook-id")
    timestamp = given.get("webhook-timestamp", "")
    signatures = given.get("webhook-signature", "").split()
    if not message_id or not timestamp or not signatures:
        return "the request is not signed"
    if not timestamp.isascii() or not timestamp.isdigit():
        return "webhook-timestamp is not a number"
    if abs(now - int(timestamp)) > TOLERANCE:
        return "the signature is too old or too new (5 minutes are allowed)"
    wanted = [f"v1,{_compute_digest(key, message_id, timestamp, body)}".encode() for key in keys]
    if any(hmac.compare_digest(one.encode(), want) for one in signatures for want in wanted):
        return None
    return "the signature fits none of the keys"


def _compute_digest(key: bytes, message_id: str, timestamp: str, body: bytes) -> str:
    content = f"{message_id}.{timestamp}.".encode() + body
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
