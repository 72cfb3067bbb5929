"""The masks of logs, traces and metrics: tokens, signal URLs, addresses of callbacks, credentials.

Whatever is written for operators goes through here; hidden values of stacks are masked where they
are known.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "******"
_PATTERNS = (
    # what proves a right by itself, behind the path of its interface
    re.compile(r"(?i)(/(?:signal|callback)/v1/|/v1/callbacks/)[^\s\"'?#]+"),
    re.compile(
        r"(?i)(\b(?:authorization|proxy-authorization|cookie|set-cookie|x-(?:auth|subject|service)-"
        r"token|idempotency-key|zonda-callback-signature)\b[\"']?\s*[:=]\s*[\"']?)"
        r"(?:(?:bearer|basic|digest)\s+)?[^\s\"',;]+"
    ),
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}"),
    # a signed token (``PAYLOAD.CODE``), wherever a mistyped URL has it
    re.compile(r"((?<![\w-]))[\w-]{35,}\.[\w-]{43,}", re.ASCII),
)


def mask_text(text: str) -> str:
    """The text with masks for what lets its reader act for others."""
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


def mask_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record with masked texts."""
    return {
        key: mask_text(value) if isinstance(value, str) else value for key, value in fields.items()
    }
