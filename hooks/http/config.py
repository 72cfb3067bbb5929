"""The configuration of a ``Transport``, and the parsing of URLs.

URLs are read by the parser that the connection is made with, and by no other: two parsers that
disagree about the host of a URL are how credentials get to a stranger.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from requests.utils import requote_uri
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from ..context import Clock
from ..errors import UsageError
from .address_policy import AddressPolicy, networks

MEBIBYTE = 1024 * 1024
_PORTS = {"http": 80, "https": 443}
_CERTIFICATE = ("client_certificate", "client_key", "client_key_passphrase")
#: Characters of no honest URL: control characters, backslashes.
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The settings of requests. Times in seconds, ``max_body`` in bytes of an answer.

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


def read_connection(values: Mapping[str, Any], clock: Clock) -> dict[str, Any]:
    """The arguments of a ``ClientConfig`` from the entries ``CONNECTION`` of a section.

    Raises UsageError for files that cannot be used, and never quotes a value.
    """
    proxy = values["proxy"]
    if proxy and not origin(proxy):
        raise UsageError(
            "The proxy is no http(s) URL.",
            hint="Write it as http://HOST:PORT or https://HOST:PORT.",
        )
    return {
        "clock": clock,
        "connect_timeout": values["connect_timeout"],
        "answer_timeout": values["answer_timeout"],
        "max_body": int(values["max_body"]),
        "ca_bundle": check_bundle(values["ca_bundle"]),
        **_check_certificate({name: values[name] for name in _CERTIFICATE}),
        "proxy": proxy,
        "policy": AddressPolicy(
            networks(values["allowed_networks"]), networks(values["denied_networks"])
        ),
    }


def check_bundle(path: str) -> str:
    """The file, or the folder, of certificates to trust."""
    if not path:
        return ""
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        folder = os.path.isdir(path)
        context.load_verify_locations(None if folder else path, path if folder else None)
    except (OSError, ValueError) as error:
        why = "" if isinstance(error, ssl.SSLError) else getattr(error, "strerror", "")
        raise UsageError(
            f"The ca_bundle cannot be used: {why or 'it holds no certificate'}.",
            hint="ca_bundle is a file of certificates in PEM.",
        ) from None
    return path


def _check_certificate(files: dict[str, str]) -> dict[str, str]:
    """The files that prove who calls."""
    certificate, key, passphrase = files.values()
    if not certificate:
        if key or passphrase:
            raise UsageError("There is a client_key and no client_certificate.")
        return {}
    try:
        # Without a passphrase OpenSSL would ask the terminal for one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(
            certificate, key or None, lambda: passphrase
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, FileNotFoundError | PermissionError) else ""
        raise UsageError(
            "The client_certificate cannot be used"
            f"{f' ({why})' if why else ': certificate, key and passphrase do not fit'}.",
            hint="client_certificate and client_key are files in PEM; the key may have a "
            "client_key_passphrase.",
        ) from None
    return files


def host_and_port(url: str) -> tuple[str, int] | None:
    """The host and the port that a URL leads to; None for one that is none."""
    found = _split_url(url)
    return None if found is None else found[1:]


@lru_cache(maxsize=1024)
def origin(url: str) -> str:
    """Scheme, host and port of a URL, e.g. ``https://flows.example:443``; empty for a bad one."""
    found = _split_url(url)
    if found is None:
        return ""
    scheme, host, port = found
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _split_url(url: str) -> tuple[str, str, int] | None:
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
    found = _split_url(url)
    if found is None:
        return ""
    scheme, host, port = found
    parts = parse_url(requote_uri(url))
    shown_host = f"[{host.partition('%')[0]}]" if ":" in host else host  # a zone is ours alone
    place_of = shown_host if _PORTS[scheme] == port else f"{shown_host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{place_of}{parts.path or '/'}{query}"
