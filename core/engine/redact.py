"""Takes hidden values out of texts that people will read: reasons, events, progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from zonda.core.store.views import REDACTED

#: Shorter values would blot out innocent text.
SHORTEST = 4


def texts(value: Any) -> Iterator[str]:
    """Every text and number inside ``value`` that is long enough to matter."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        shown = str(value)
        if len(shown) >= SHORTEST:
            yield shown


def scrub(text: str, secrets: Iterable[Any]) -> str:
    """``text`` without any of the values inside ``secrets``; the longest go first."""
    found = {shown for secret in secrets for shown in texts(secret)}
    for shown in sorted(found, key=lambda item: (-len(item), item)):
        text = text.replace(shown, REDACTED)
    return text
