"""What can be wrong with a section ``[runners.NAME]``, told before any runner is made.

Called by ``core/settings.py``. Only kind ``http`` is known here: what a plug-in's kind takes is
checked when a runner of that kind is made. A test compares ``HTTP`` with what the runner reads.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .settings_values import host_of_url, near

Wrong = tuple[str | None, str]
#: Of seconds (a year) and of bytes alike.
_MOST = 31_536_000


def _text(raw: Any) -> str | None:
    return None if isinstance(raw, str) else "must be text"


def _texts(raw: Any) -> str | None:
    values = raw if isinstance(raw, list) else [raw]
    fits = all(isinstance(value, str) for value in values)
    return None if fits else "must be text or a list of texts"


def networks(raw: Any) -> str | None:
    """What is wrong with a list of networks, or None."""
    if wrong := _texts(raw):
        return wrong
    for text in raw if isinstance(raw, list) else [raw]:
        try:
            ipaddress.ip_network(text.strip())
        except ValueError:
            return f"must hold networks such as 10.0.0.0/8 or fd00::/8, and {text!r} is none"
    return None


def _headers(raw: Any) -> str | None:
    fits = isinstance(raw, Mapping) and all(isinstance(value, str) for value in raw.values())
    return None if fits else "must be a table of texts"


def _flag(raw: Any) -> str | None:
    return None if isinstance(raw, bool) else "must be true or false"


def _number(raw: Any) -> str | None:
    fits = isinstance(raw, (int, float)) and not isinstance(raw, bool) and 0 <= raw <= _MOST
    return None if fits else f"must be a number from 0 to {_MOST}"


def _endpoint(raw: Any) -> str | None:
    if not isinstance(raw, str):
        return "must be text"
    if not host_of_url(raw):
        return "must be a URL that begins with http:// or https://"
    secret = "@" in raw.partition("://")[2].partition("/")[0]
    return "must hold no credentials: use username and password" if secret else None


#: What an ``http`` runner takes, and what is wrong with a value (None: nothing).
HTTP: Mapping[str, Callable[[Any], str | None]] = {
    "kind": _text,
    "endpoint": _endpoint,
    "token": _text,
    "username": _text,
    "password": _text,
    "headers": _headers,
    "signing_key": _texts,
    "signing_keys": _texts,
    "poll_origins": _texts,
    "allowed_networks": networks,
    "denied_networks": networks,
    "ca_bundle": _text,
    "client_certificate": _text,
    "proxy": _text,
    "callback": _flag,
    "callback_url": _endpoint,
    "connect_give_up": _number,
    "connect_timeout": _number,
    "answer_timeout": _number,
    "wait": _number,
    "max_body": _number,
}


def faults(section: Mapping[str, Any]) -> Iterator[Wrong]:
    """(entry or None for the section, what is wrong) of one section. Names no value."""
    kind = section.get("kind", "http")
    if not isinstance(kind, str):
        yield "kind", "must be text"
    if kind != "http":
        return
    for name, raw in section.items():
        check = HTTP.get(name)
        if check is None:
            yield name, f"is nothing that an http runner takes{near(name, list(HTTP))}"
        elif wrong := check(raw):
            yield name, wrong
    if "endpoint" not in section:
        yield None, "endpoint is missing: the URL that workflows are started below"
    if section.get("token") and section.get("username"):
        yield "username", "stands beside a token: give one of them"


def line_of(text: str, name: str, entry: str | None, group: str = "runners") -> int:
    """The line of an entry of ``[runners.NAME]``, or of the section; 1 where it cannot be told."""
    words = rf"""["']?{group}["']?\s*\.\s*["']?{re.escape(name)}["']?"""
    head = re.search(rf"(?m)^[ \t]*\[?[ \t]*{words}[ \t]*[\].=]", text)
    if head is None:
        return 1
    end = re.compile(r"(?m)^[ \t]*\[").search(text, head.end())
    found = entry and re.compile(rf"""(?m)^[ \t]*["']?{re.escape(entry)}["']?[ \t]*=""").search(
        text, head.end(), end.start() if end else len(text)
    )
    return text.count("\n", 0, found.end() if found else head.end()) + 1
