"""Text of 2013."""

from __future__ import annotations

from typing import Any

from zonda.hooks import to_boolean


def bool_from_string(subject: Any, strict: bool = False, default: bool = False) -> bool:
    if isinstance(subject, bool):
        return subject
    try:
        return to_boolean(subject)
    except ValueError:
        if strict:
            raise
        return default


def safe_decode(text: Any, incoming: str = "utf-8", errors: str = "strict") -> str:
    return text.decode(incoming, errors) if isinstance(text, bytes) else str(text)


def safe_encode(
    text: Any, incoming: str = "utf-8", encoding: str = "utf-8", errors: str = "strict"
) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode(encoding, errors)


def to_slug(value: str) -> str:
    return "-".join(value.lower().split())
