"""The forms in which a secret may stand in a text that people read, and their masking.

The one place that knows them: faults of templates and what plug-ins and workflows say are masked
alike. A failed command shows its arguments shell-quoted, a workflow's reason may quote its JSON
input, an address holds a password URL-quoted.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

from .addresses import find_places_in_addresses, is_host_or_port
from .sanitize import safe_str

MASK = "(hidden)"
#: Shorter texts (``1``, ``on``) would mask half of every sentence and are no secrets.
SHORTEST = 4
#: A line of a secret of several lines (a private key) is one by itself from this length.
SHORTEST_LINE = 8


def secret_texts(values: Iterable[Any]) -> list[str]:
    """The texts to redact for the secrets in ``values``, at any depth; the longest first."""
    found = {
        form for value in values for text in _list_scalars(value) for form in _list_forms(text)
    }
    return sorted(found, key=lambda item: (-len(item), item))


def redact(text: str, secrets: Iterable[str]) -> str:
    """``text`` without any of ``secrets``, which ``secret_texts`` gave."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    return text


def redact_message(text: str, secrets: Iterable[str]) -> str:
    """``redact`` for a message: host and port of an address stay."""
    for secret in secrets:
        if secret in text:
            kept = find_places_in_addresses(text, secret) if is_host_or_port(secret) else []
            text = _redact_except(text, secret, kept)
    return text


def _redact_except(text: str, secret: str, kept: Sequence[tuple[int, int]]) -> str:
    parts, begin = list[str](), 0
    for start, end in kept:
        parts += text[begin:start].replace(secret, MASK), secret
        begin = end
    return "".join((*parts, text[begin:].replace(secret, MASK)))


def redact_deep(value: Any, secrets: Iterable[str]) -> Any:
    """``value`` with no secret in any of its texts; keys stay, and what is plain stays plain.

    Of many secrets few stand anywhere: all texts are searched at once for which of them do.
    """
    whole = "\0".join(_list_texts(value))
    return _redact_nested(value, [secret for secret in secrets if secret in whole])


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _list_texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_texts(item)


def _redact_nested(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {key: _redact_nested(item, secrets) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_redact_nested(item, secrets) for item in value]
    return value


def _list_scalars(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _list_scalars(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _list_scalars(item)
    elif value is not None and not isinstance(value, bool):
        shown = safe_str(value)
        if len(shown) >= SHORTEST:
            yield shown


def _list_forms(text: str) -> Iterator[str]:
    yield from _list_quoted(text)
    if "\n" in text or "\r" in text:
        for line in text.splitlines():
            if len(line.strip()) >= SHORTEST_LINE:
                yield from _list_quoted(line.strip())


def _list_quoted(text: str) -> Iterator[str]:
    yield text
    if text.isalnum() and text.isascii():
        return  # no notation changes it
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield shlex.quote(text).removeprefix("'").removesuffix("'")
    plain = text.encode("utf-8", "backslashreplace")
    yield repr(plain)[2:-1]  # bytes, as an HTTP client shows them
    yield from (quote(plain), quote(plain, safe=""), quote_plus(plain))
