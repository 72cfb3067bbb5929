"""What a ``Transport`` must know of the way to an endpoint, and how URLs are read.

URLs are read by the parser that the connection is made with, and by no other: two parsers that
disagree about the host of a URL are how credentials get to a stranger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from requests.utils import requote_uri
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from ..context import Clock
from ..errors import UsageError
from ..runners import settings
from .address_policy import AddressPolicy

MEBIBYTE = 1024 * 1024
_PORTS = {"http": 80, "https": 443}
#: What stands in no URL that was meant well: control characters, backslashes.
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """How requests travel. Times in seconds, ``max_body`` in bytes of an answer.

    ``trusted``: origins that the operator has configured, which may be on a private network;
    ``proxy`` is always one of them.
    """

    clock: Clock
    connect_timeout: float = 5.0
    answer_timeout: float = 60.0
    max_body: int = MEBIBYTE
    ca_bundle: str = ""
    client_certificate: str = ""
    client_key: str = ""
    client_key_passphrase: str = field(default="", repr=False)
    proxy: str = field(default="", repr=False)
    policy: AddressPolicy = field(default_factory=AddressPolicy)
    trusted: frozenset[str] = frozenset()

    def trusts(self, host: str, port: int) -> bool:
        """Whether the operator has configured what is at ``host`` and ``port``."""
        return (host, port) in {host_and_port(url) for url in (*self.trusted, self.proxy)}

    def knows(self, url: str) -> bool:
        """Whether the operator has configured the origin of ``url``."""
        return origin(url) in self.trusted


def base_url(given: Mapping[str, Any], name: str) -> str:
    """The http(s) URL in a runner's section that paths are added to; empty where there is none.

    Raises UsageError for what is no such URL, and for one with credentials, which would be shown
    wherever it is.
    """
    url = settings.text(given, name)
    if not url:
        return ""
    if not origin(url) or "@" in urlsplit(url).netloc:
        raise UsageError(
            f"The runner's setting {name} must be an http(s) URL without credentials.",
            hint="What proves who asks has settings of its own.",
        )
    return url.rstrip("/")


def is_url(text: str) -> bool:
    """Whether a workflow is named by an absolute http(s) URL."""
    return text.lower().startswith(("http://", "https://"))


def host_and_port(url: str) -> tuple[str, int] | None:
    """The host and the port that a URL leads to; None for one that is none."""
    found = _read(url)
    return None if found is None else found[1:]


def origin(url: str) -> str:
    """Scheme, host and port of a URL, e.g. ``https://flows.example:443``; empty for a bad one."""
    found = _read(url)
    if found is None:
        return ""
    scheme, host, port = found
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _read(url: str) -> tuple[str, str, int] | None:
    if _ODD.search(url):
        return None
    try:
        parts = parse_url(url)
    except LocationParseError:
        return None
    port = parts.port or _PORTS.get(parts.scheme or "")
    if port is None or not parts.host or parts.scheme not in _PORTS:
        return None
    return parts.scheme, parts.host.strip("[]"), port


def redacted_url(url: str) -> str:
    """``url`` as it may appear in messages: no credentials, no query, one line."""
    try:
        parts = urlsplit(_ODD.sub("?", url))
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return "(not a URL)"


def canonical_url(url: str) -> str:
    """The URL as the other side sees it: without credentials and fragment, the host in lower case.

    A port that the scheme has anyway is left out; empty for a URL that cannot be used.
    """
    found = _read(url)
    if found is None:
        return ""
    scheme, host, port = found
    parts = parse_url(requote_uri(url))
    shown_host = f"[{host.partition('%')[0]}]" if ":" in host else host  # a zone is ours alone
    place_of = shown_host if _PORTS[scheme] == port else f"{shown_host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{place_of}{parts.path or '/'}{query}"
