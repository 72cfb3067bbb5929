"""The settings of one ``http`` runner, checked once.

Read by the runner's factory from its section of the settings. Credentials go to the origin of
``endpoint`` and nowhere else, whatever URL a template names; they are in no ``repr``.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from zonda.hooks.errors import UsageError

from .addresses import AddressPolicy, Network
from .addresses import networks as read_networks
from .http_signing import read_key
from .http_wire import MEBIBYTE, Wire, is_url, origin, shown

__all__ = ["KNOWN", "MEBIBYTE", "HttpSettings", "is_url", "origin", "read_settings", "shown"]

_NUMBERS = {
    "connect_give_up": 120.0,
    "connect_timeout": 5.0,
    "answer_timeout": 60.0,
    "wait": 30.0,
    "max_body": float(MEBIBYTE),
}
_TEXTS = (
    "endpoint",
    "token",
    "username",
    "password",
    "ca_bundle",
    "client_certificate",
    "proxy",
    "callback_url",
)
#: What is handed in by whoever makes a runner. ``service``: the ``folder`` of the bundled service
#: and the ``url`` that it is expected at.
COLLABORATORS = frozenset({"clock", "random", "service"})
_OTHERS = (
    *COLLABORATORS,
    "headers",
    "signing_key",
    "signing_keys",
    "poll_origins",
    "allowed_networks",
    "denied_networks",
    "kind",
    "callback",
)
KNOWN = frozenset((*_NUMBERS, *_TEXTS, *_OTHERS))


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings(Wire):
    """What an ``http`` runner is told. Times in seconds, ``max_body`` in bytes."""

    random: random.Random
    endpoint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    signing_keys: tuple[bytes, ...] = field(default=(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    poll_origins: frozenset[str] = frozenset()
    connect_give_up: float = 120.0
    wait: float = 30.0
    callback: str = ""
    callback_folder: str = ""

    def url_of(self, workflow: str) -> str:
        """Where ``workflow`` is started: an absolute URL as it is, a name below the endpoint.

        Raises UsageError for a name where no endpoint is configured.
        """
        if is_url(workflow):
            return workflow
        if not self.endpoint:
            raise UsageError(
                f"The workflow {workflow!r} is a name, and its runner has no endpoint.",
                hint="Set endpoint in the runner's section, or name the workflow by its URL.",
            )
        return f"{self.endpoint}/workflows/{quote(workflow, safe='')}"

    def movable(self, url: str) -> str:
        """``url`` without scheme and host where those are the endpoint's, which may move."""
        if not self.endpoint or origin(url) != origin(self.endpoint):
            return url
        parts = urlsplit(url)
        return urlunsplit(("", "", parts.path or "/", parts.query, ""))

    def absolute(self, url: str) -> str:
        """The reverse of ``movable``, by the endpoint of today."""
        return urljoin(f"{self.endpoint}/", url)

    def credentials(self, url: str) -> Mapping[str, str]:
        """The headers that authenticate a request to ``url``."""
        return self.headers if self.endpoint and origin(url) == origin(self.endpoint) else {}

    def redact(self, text: str) -> str:
        """``text`` without anything secret that these settings hold."""
        for secret in self.secrets:
            text = text.replace(secret, "******")
        return text


def read_settings(given: Mapping[str, Any]) -> HttpSettings:
    """The settings from a runner's section. Raises UsageError that names the wrong entry."""
    unknown = sorted(set(given) - KNOWN)
    if unknown:
        raise UsageError(
            f"An http runner has no setting {unknown[0]!r}.",
            hint=f"It takes {', '.join(sorted(KNOWN - COLLABORATORS))}.",
        )
    texts = {name: _text(given, name) for name in _TEXTS}
    numbers: dict[str, Any] = {name: _number(given, name) for name in _NUMBERS}
    keys = _texts(given, "signing_keys") + _texts(given, "signing_key")
    headers = {**_headers(given), **_authorization(texts)}
    callback, folder = _callback(given, texts["callback_url"])
    endpoint = _endpoint(texts["endpoint"], needed=bool(headers))
    poll_origins = frozenset(origin(url) for url in _texts(given, "poll_origins"))
    secrets = {texts["token"], texts["password"], *keys, *headers.values()}
    return HttpSettings(
        clock=_collaborator(given, "clock"),
        random=_collaborator(given, "random"),
        endpoint=endpoint,
        headers=headers,
        signing_keys=tuple(_key(text) for text in keys),
        secrets=tuple(sorted(filter(None, secrets), key=len, reverse=True)),
        poll_origins=poll_origins,
        trusted=frozenset({origin(endpoint), *poll_origins} - {""}),
        max_body=int(numbers.pop("max_body")),
        ca_bundle=texts["ca_bundle"],
        client_certificate=texts["client_certificate"],
        proxy=texts["proxy"],
        policy=AddressPolicy(
            allowed=_networks(given, "allowed_networks"), denied=_networks(given, "denied_networks")
        ),
        callback=callback,
        callback_folder=folder,
        **numbers,
    )


def _callback(given: Mapping[str, Any], base: str) -> tuple[str, str]:
    """The base URL of callbacks and the folder they are kept in; empty where they are off."""
    wanted = given.get("callback", False)
    if not isinstance(wanted, bool):
        raise UsageError("The runner's setting callback must be true or false.")
    if not wanted:
        return "", ""
    service: Mapping[str, str] = _collaborator(given, "service")
    base = base or service["url"]
    if not origin(base) or "@" in urlsplit(base).netloc:
        raise UsageError(
            "The runner has no usable address for callbacks.",
            hint="Set callback_url to the URL at which the endpoint reaches the bundled service.",
        )
    return base.rstrip("/"), service["folder"]


def _collaborator(given: Mapping[str, Any], name: str) -> Any:
    if name not in given:
        raise UsageError(f"An http runner is made with a {name}, and got none.")
    return given[name]


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name) or ""
    if not isinstance(value, str):
        raise UsageError(f"The runner's setting {name} must be a text.")
    return value


def _texts(given: Mapping[str, Any], name: str) -> list[str]:
    value = given.get(name) or []
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, str) for v in values):
        raise UsageError(f"The runner's setting {name} must be a text or a list of texts.")
    return list(values)


def _networks(given: Mapping[str, Any], name: str) -> tuple[Network, ...]:
    try:
        return read_networks(_texts(given, name))
    except ValueError as error:
        raise UsageError(f"The runner's setting {name} is wrong: {error}.") from None


def _number(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name, _NUMBERS[name])
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise UsageError(f"The runner's setting {name} must be a number that is not negative.")
    return float(value)


def _key(text: str) -> bytes:
    try:
        return read_key(text)
    except ValueError as error:
        raise UsageError(f"A signing key of the runner cannot be read: {error}.") from None


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    value = given.get("headers") or {}
    if not isinstance(value, Mapping):
        raise UsageError("The runner's setting headers must be a map of texts.")
    for name, text in value.items():
        if not isinstance(name, str) or not isinstance(text, str) or not _fits_a_header(text):
            raise UsageError(f"The runner's header {name!r} must be one line of text.")
    return dict(value)


def _fits_a_header(text: str) -> bool:
    return text.isprintable() and text == text.strip() and text.isascii()


def _authorization(texts: Mapping[str, str]) -> dict[str, str]:
    if texts["token"] and texts["username"]:
        raise UsageError("The runner has both a token and a username.", hint="Give one of them.")
    if texts["token"]:
        if not _fits_a_header(texts["token"]):
            raise UsageError("The runner's token must be one line of plain ASCII characters.")
        return {"Authorization": f"Bearer {texts['token']}"}
    if texts["username"]:
        pair = f"{texts['username']}:{texts['password']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _endpoint(url: str, *, needed: bool) -> str:
    if not url and needed:
        raise UsageError(
            "The runner has credentials and no endpoint.",
            hint="Set endpoint: credentials are sent to its origin and nowhere else.",
        )
    if url and not origin(url):
        raise UsageError(f"The runner's endpoint {shown(url)!r} is not an http(s) URL.")
    if "@" in urlsplit(url).netloc:
        raise UsageError(
            "The runner's endpoint holds credentials.", hint="Use username and password instead."
        )
    return url.rstrip("/")
