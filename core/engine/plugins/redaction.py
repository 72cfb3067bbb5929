"""Removes hidden values from texts for people: reasons, events, progress."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zonda.hooks.text.redaction import redact_message, secret_texts


def scrub(text: str, secrets: Iterable[Any]) -> str:
    """``text`` without any of the values inside ``secrets``, in whatever notation they stand.

    Hosts and ports of addresses stay: see ``hooks/text/addresses``.
    """
    return redact_message(text, secret_texts(secrets))
