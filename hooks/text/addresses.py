"""Finds hosts and ports in a text: errors keep both, whatever is hidden.

A hidden value such as ``5432`` or ``localhost`` stands in many an address by chance, and without
them nobody can tell what could not be reached. Longer and odder values are secrets wherever they
stand, and so is everything before an ``@``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Patterns are texts, which ``re`` compiles when they are first used: most commands need none.

#: A hidden value that may be shown as a port, and one that may be shown as a host.
_PORT: Final = r"[1-9][0-9]{3,4}"
_HOST: Final = (
    r"localhost|[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*"
    r"|(?=.{4,64}\Z)([a-z0-9-]+\.)+[a-z]{2,}"
)

_AUTHORITY: Final = r"://([^\s/?#\"'<>\\]+)"
_HOST_AND_PORT: Final = r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]+))?\]?"
#: The characters that may follow an address in a sentence.
_MARKS: Final = ".,;:)}"
_NAMED: Final = (
    r"(?i)\b(?:host(?: ?name)?|connect(?:ed|ing|ion)? to(?: server at)?|server(?: at| on)?)"
    r"[\"']?[ =:]*[\"']?"
    r"([a-z0-9.-]*[a-z0-9]|\[[0-9a-f:.]+\])(?::([0-9]+))?(?![\w@:%-]|\.\w)"
)
_PLAIN: Final = (
    r"(?<![\w.@:%-])(localhost|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-f:.]+\]):([0-9]+)(?![\w@%-])"
)
_PORT_NAMED: Final = r"(?i)\bport(?: number)?[\"']?[ =:]*[\"']?()([0-9]+)(?![\w@%-])"


def is_host_or_port(secret: str) -> bool:
    """Whether a hidden value may be the host or the port of an address."""
    return bool(
        (re.compile(_PORT).fullmatch(secret) and int(secret) < 65536)
        or re.compile(_HOST).fullmatch(secret)
    )


def find_places_in_addresses(text: str, secret: str) -> list[tuple[int, int]]:
    """The spans where ``text`` has ``secret`` as the whole host or port of an address."""
    return sorted(
        {place for place in _find_hosts_and_ports(text) if text[place[0] : place[1]] == secret}
    )


def _find_hosts_and_ports(text: str) -> Iterator[tuple[int, int]]:
    for authority in re.compile(_AUTHORITY).finditer(text):
        begin = authority.start(1) + authority[1].rfind("@") + 1
        end = authority.start(1) + len(authority[1].rstrip(_MARKS))
        found = re.compile(_HOST_AND_PORT).fullmatch(text, begin, end)
        if found:
            yield from _list_spans(found)
    for pattern in (_NAMED, _PLAIN, _PORT_NAMED):
        for found in re.compile(pattern).finditer(text):
            yield from _list_spans(found)


def _list_spans(found: re.Match[str]) -> Iterator[tuple[int, int]]:
    begin, end = found.span(1)
    yield (begin + 1, end - 1) if found[1].startswith("[") else (begin, end)
    if found[2]:
        yield found.span(2)
