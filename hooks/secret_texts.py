"""The forms in which a secret may stand in a text that people read, and their masking.

The one place that knows them: faults of templates and what plug-ins and workflows say are masked
alike. A failed command shows its arguments shell-quoted, a workflow's reason may quote its JSON
input, an address holds a password URL-quoted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "******"
#: Shorter texts (``1``, ``on``) would mask half of every sentence and are no secrets.
SHORTEST = 4
#: A line of a secret of several lines (a private key) is one by itself from this length.
SHORTEST_LINE = 8


def secret_texts(values: Iterable[Any]) -> list[str]:
    """Every text to be masked for the secrets in ``values``, at any depth; the longest first."""
    found = {form for value in values for text in _scalars(value) for form in _forms(text)}
    return sorted(found, key=lambda item: (-len(item), item))


def masked(text: str, secrets: Iterable[str]) -> str:
    """``text`` without any of ``secrets``, which ``secret_texts`` gave."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _scalars(item)
    elif value is not None and not isinstance(value, bool):
        shown = str(value)
        if len(shown) >= SHORTEST:
            yield shown


def _forms(text: str) -> Iterator[str]:
    yield from _quoted(text)
    if "\n" in text or "\r" in text:
        for line in text.splitlines():
            if len(line.strip()) >= SHORTEST_LINE:
                yield from _quoted(line.strip())


def _quoted(text: str) -> Iterator[str]:
    yield text
    if text.isalnum() and text.isascii():
        return  # no notation changes it
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield shlex.quote(text).removeprefix("'").removesuffix("'")
    plain = text.encode("utf-8", "backslashreplace")
    yield from (quote(plain), quote(plain, safe=""), quote_plus(plain))
