"""What can be wrong with a section ``[runners.NAME]``, told before any runner is made.

Called by ``core/settings/settings.py``. Only our own kinds are known here: what a plug-in's kind
takes is checked when a runner of that kind is made. Tests compare the tables with what the runners
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .values import host_of_url, near
from .values import networks as known_networks

Wrong = tuple[str | None, str]
#: Of seconds (a year) and of bytes alike.
_MOST = 31_536_000
_NO_KEY = "must not be empty: leave it out, or give a key"


def _text(raw: Any) -> str | None:
    return None if isinstance(raw, str) else "must be text"


def _texts(raw: Any) -> str | None:
    values = raw if isinstance(raw, list) else [raw]
    fits = all(isinstance(value, str) for value in values)
    return None if fits else "must be text or a list of texts"


def is_reference(raw: Any) -> bool:
    """Whether a secret is named instead of given: ``{env = "NAME"}`` or ``{file = "PATH"}``."""
    if not isinstance(raw, Mapping) or len(raw) != 1:
        return False
    [(kind, name)] = raw.items()
    return kind in ("env", "file") and isinstance(name, str) and bool(name)


def secret(raw: Any) -> str | None:
    """What is wrong with a secret, or None."""
    fits = isinstance(raw, str) or is_reference(raw)
    return None if fits else "must be text, {env = ...} or {file = ...}"


def _secrets(raw: Any) -> str | None:
    listed = raw if isinstance(raw, list) else [raw]
    if any(map(secret, listed)):
        return "must be text, {env = ...}, {file = ...} or a list of them"
    return _NO_KEY if not listed or any(map(_is_empty, listed)) else None


def _is_empty(key: Any) -> bool:
    """Whether a key is given that everybody could sign with."""
    return isinstance(key, str) and key.strip() in ("", "whsec_")


def _keys(raw: Any) -> str | None:
    if raw == []:
        return _NO_KEY
    for key in raw if isinstance(raw, list) else [raw]:
        inside = key["key"] if isinstance(key, Mapping) and set(key) == {"id", "key"} else key
        if secret(inside) or (inside is not key and not isinstance(key["id"], str)):
            return "must hold texts, {env = ...}, {file = ...} or {id = ..., key = ...}"
        if _is_empty(inside):
            return _NO_KEY
    return None


def _choice(*known: str) -> Callable[[Any], str | None]:
    return lambda raw: None if raw in known else f"must be one of {', '.join(known)}"


def _table(known: Mapping[str, Callable[[Any], str | None]]) -> Callable[[Any], str | None]:
    """What is wrong with a table that holds entries of these names."""

    def check(raw: Any) -> str | None:
        if not isinstance(raw, Mapping):
            return "must be a table"
        for name, value in raw.items():
            if name not in known:
                return f"holds {name}, which it does not take{near(name, list(known))}"
            if wrong := known[name](value):
                return f"{name} {wrong}"
        return None

    return check


def _path(raw: Any) -> str | None:
    return None if _texts(raw) is None else "must be a path such as data.id"


def _statuses(raw: Any) -> str | None:
    listed = raw if isinstance(raw, list) else [raw]
    fits = all(type(status) is int and 400 <= status < 500 for status in listed)
    return None if fits else "must be a list of statuses from 400 to 499"


def networks(raw: Any) -> str | None:
    """What is wrong with a list of networks, or None."""
    if wrong := _texts(raw):
        return wrong
    try:
        known_networks(",".join(raw if isinstance(raw, list) else [raw]))
    except ValueError as error:
        return str(error)
    return None


def _headers(raw: Any) -> str | None:
    fits = isinstance(raw, Mapping) and not any(map(secret, raw.values()))
    return None if fits else "must be a table of texts"


def _flag(raw: Any) -> str | None:
    return None if isinstance(raw, bool) else "must be true or false"


def _number(raw: Any) -> str | None:
    fits = isinstance(raw, (int, float)) and not isinstance(raw, bool) and 0 <= raw <= _MOST
    return None if fits else f"must be a number from 0 to {_MOST}"


def _positive(raw: Any) -> str | None:
    return _number(raw) or (None if raw > 0 else "must be above 0")


def _proxy(raw: Any) -> str | None:
    fits = isinstance(raw, str) and (not raw or host_of_url(raw))
    return None if fits else "must be a URL that begins with http:// or https://"


def _endpoint(raw: Any) -> str | None:
    if not isinstance(raw, str):
        return "must be text"
    if not host_of_url(raw):
        return "must be a URL that begins with http:// or https://"
    secret = "@" in raw.partition("://")[2].partition("/")[0]
    return "must hold no credentials: use username and password" if secret else None


_OAUTH2: Mapping[str, Callable[[Any], str | None]] = {
    "token_url": _endpoint,
    "client_id": _text,
    "client_secret": secret,
    "scope": _text,
    "audience": _text,
    "resource": _text,
    "send": _choice("basic", "body"),
}
_ACTIONS = ("CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME", "CHECK")
_ACTION: Mapping[str, Callable[[Any], str | None]] = {
    "url": _text,
    "method": _choice("POST", "PUT", "PATCH", "DELETE", "GET"),
    "body": _choice("request", "inputs", "none"),
    "answer": _choice("contract", "plain"),
    "id_path": _path,
    "output_path": _path,
    "gone": _statuses,
    "repeat": _flag,
}
#: What an ``http`` runner takes, and what is wrong with a value (None: nothing).
HTTP: Mapping[str, Callable[[Any], str | None]] = {
    "kind": _text,
    "endpoint": _endpoint,
    "token": secret,
    "username": _text,
    "password": secret,
    "oauth2": _table(_OAUTH2),
    "headers": _headers,
    "signature": _choice("webhooks", "rfc9421"),
    "signing_key": _keys,
    "signing_keys": _keys,
    "actions": _table(dict.fromkeys(_ACTIONS, _table(_ACTION))),
    "poll_origins": _texts,
    "allowed_networks": networks,
    "denied_networks": networks,
    "ca_bundle": _text,
    "client_certificate": _text,
    "client_key": _text,
    "client_key_passphrase": secret,
    "proxy": _proxy,
    "max_in_flight": _number,
    "breaker_failures": _number,
    "breaker_pause": _number,
    "callback": _flag,
    "callback_url": _endpoint,
    "callback_key": _secrets,
    "connect_give_up": _number,
    "connect_timeout": _positive,
    "answer_timeout": _positive,
    "wait": _number,
    "max_body": _number,
}

#: What a ``mistral`` runner takes of that, and what it takes besides.
MISTRAL: Mapping[str, Callable[[Any], str | None]] = {
    **{
        name: HTTP[name]
        for name in (
            *("kind", "endpoint", "token", "username", "password", "headers"),
            *("allowed_networks", "denied_networks", "proxy", "ca_bundle"),
            *("client_certificate", "client_key", "client_key_passphrase"),
            *("max_in_flight", "breaker_failures", "breaker_pause", "max_body"),
            *("connect_give_up", "connect_timeout", "answer_timeout"),
        )
    },
    "auth": _choice("none", "token", "keystone"),
    "auth_url": _endpoint,
    "forget": _flag,
    "namespace": _text,
    "project_domain_name": _text,
    "project_id": _text,
    "project_name": _text,
    "user_domain_name": _text,
}


def faults(section: Mapping[str, Any]) -> Iterator[Wrong]:
    """(entry or None for the section, what is wrong) of one section. Names no value."""
    kind = section.get("kind", "http")
    if not isinstance(kind, str):
        yield "kind", "must be text"
    if kind == "http":
        yield from _entries(section, HTTP, "an http")
        yield from _of_http(section)
    elif kind == "mistral":
        yield from _entries(section, MISTRAL, "a mistral")
        yield from _of_mistral(section)


def _entries(
    section: Mapping[str, Any], known: Mapping[str, Callable[[Any], str | None]], whose: str
) -> Iterator[Wrong]:
    for name, raw in section.items():
        check = known.get(name)
        if check is None:
            yield name, f"is nothing that {whose} runner takes{near(name, list(known))}"
        elif wrong := check(raw):
            yield name, wrong


def _of_http(section: Mapping[str, Any]) -> Iterator[Wrong]:
    if "endpoint" not in section:
        yield None, "endpoint is missing: the URL that workflows are started below"
    ways = [name for name in ("token", "username", "oauth2") if section.get(name)]
    if len(ways) > 1:
        yield ways[1], f"stands beside a {ways[0]}: give one of them"


def _of_mistral(section: Mapping[str, Any]) -> Iterator[Wrong]:
    if not section.get("endpoint"):
        yield (
            None,
            "endpoint is missing: the URL of Mistral's API, such as http://127.0.0.1:8989/v2",
        )
    way = section.get("auth") or ("keystone" if section.get("auth_url") else "")
    if way == "token" and not section.get("token"):
        yield "auth", "is token, and there is no token"
    if way == "keystone":
        absent = [name for name in ("auth_url", "username", "password") if not section.get(name)]
        if not section.get("project_id") and not section.get("project_name"):
            absent.append("project_name or project_id")
        if absent:
            at = "auth" if section.get("auth") else "auth_url"
            named = f"{', '.join(absent)} {'are' if len(absent) > 1 else 'is'} missing"
            yield at, f"has tokens asked for at Keystone, and {named}"


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
