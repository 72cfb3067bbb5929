"""The settings of one ``http`` runner, checked once.

Read by the runner's factory from its section of the settings. Credentials go to the origin of
``endpoint`` and nowhere else, whatever URL a template names; they are in no ``repr``.
"""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from zonda.hooks import UsageError, redact, secret_texts
from zonda.hooks.http import (
    MEBIBYTE,
    AddressPolicy,
    ClientConfig,
    Network,
    is_url,
    origin,
    redacted_url,
)
from zonda.hooks.http import networks as read_networks
from zonda.hooks.runners import settings

from ..client import credentials as http_proofs
from ..client import oauth2 as http_oauth
from ..client.message_signature import Key
from ..client.oauth2 import OAuth2
from . import actions as http_actions
from .actions import USUAL, Action

__all__ = ["KNOWN", "MEBIBYTE", "HttpSettings", "is_url", "origin", "read_settings", "redacted_url"]

_NUMBERS = {
    "connect_give_up": 120.0,
    "connect_timeout": 5.0,
    "answer_timeout": 60.0,
    "wait": 30.0,
    "max_body": float(MEBIBYTE),
    "max_in_flight": 16.0,
    "breaker_failures": 10.0,
    "breaker_pause": 5.0,
}
#: With no time at all nothing can be asked.
_POSITIVE = ("connect_timeout", "answer_timeout")
_WHOLE = ("max_body", "max_in_flight", "breaker_failures")
_TEXTS = (
    "endpoint",
    "token",
    "username",
    "password",
    "ca_bundle",
    "client_certificate",
    "client_key",
    "client_key_passphrase",
    "proxy",
    "callback_url",
)
#: What is handed in by whoever makes a runner. ``service``: the ``folder`` of the bundled service,
#: the ``url`` that it is expected at, and the name of this ``section``.
COLLABORATORS = frozenset({"clock", "random", "service"})
_OTHERS = (
    *COLLABORATORS,
    "headers",
    "oauth2",
    "signature",
    "signing_key",
    "signing_keys",
    "callback_key",
    "actions",
    "poll_origins",
    "allowed_networks",
    "denied_networks",
    "kind",
    "callback",
)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Headers that say how a message is cut out of the stream, or whom it is for.
_NOT_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
)
KNOWN = frozenset((*_NUMBERS, *_TEXTS, *_OTHERS))


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings(ClientConfig):
    """What an ``http`` runner is told. Times in seconds, ``max_body`` in bytes."""

    random: random.Random
    endpoint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    oauth2: OAuth2 | None = None
    signing_keys: tuple[bytes, ...] = field(default=(), repr=False)
    message_keys: Mapping[str, Key] = field(default_factory=dict, repr=False)
    actions: Mapping[str, Action] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    poll_origins: frozenset[str] = frozenset()
    connect_give_up: float = 120.0
    wait: float = 30.0
    max_in_flight: int = 16
    breaker_failures: int = 10
    breaker_pause: float = 5.0
    callback: str = ""
    callback_folder: str = ""
    callback_signer: str = ""
    callback_keys: tuple[bytes, ...] = field(default=(), repr=False)

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
        if parts.path.startswith("//"):
            return url  # without its host, what follows would be taken for one
        return urlunsplit(("", "", parts.path or "/", parts.query, ""))

    def absolute(self, url: str) -> str:
        """The reverse of ``movable``, by the endpoint of today."""
        return urljoin(f"{self.endpoint}/", url)

    def credentials(self, url: str) -> Mapping[str, str]:
        """The headers that authenticate a request to ``url``."""
        return self.headers if self.is_own(url) else {}

    def is_own(self, url: str) -> bool:
        """Whether ``url`` has the endpoint's origin, which is where credentials go."""
        return bool(self.endpoint) and origin(url) == origin(self.endpoint)

    def action(self, name: str) -> Action:
        """How the action ``name`` is carried out."""
        return self.actions.get(name, USUAL)

    def redact(self, text: str) -> str:
        """``text`` without anything secret that these settings hold."""
        return redact(text, self.secrets)


def read_settings(given: Mapping[str, Any]) -> HttpSettings:
    """The settings from a runner's section. Raises UsageError that names the wrong entry."""
    unknown = sorted(set(given) - KNOWN)
    if unknown:
        raise UsageError(
            f"An http runner has no setting {unknown[0]!r}.",
            hint=f"It takes {', '.join(sorted(KNOWN - COLLABORATORS))}.",
        )
    texts = {name: settings.text(given, name) for name in _TEXTS}
    numbers: dict[str, Any] = {
        name: settings.number(given, name, usual, positive=name in _POSITIVE)
        for name, usual in _NUMBERS.items()
    }
    numbers |= {name: int(numbers[name]) for name in _WHOLE}
    headers = {**_headers(given), **_authorization(texts)}
    callback = _callback(given, texts["callback_url"])
    tokens = http_oauth.read(given)
    _check_one_way(texts, tokens)
    keys, certificate = http_proofs.signing(given), http_proofs.certificate(texts)
    proofs = (headers, tokens, certificate, *keys.values())
    endpoint = _endpoint(texts["endpoint"], needed=any(proofs))
    actions = http_actions.read(given, endpoint)
    poll_origins = frozenset(map(_origin, settings.texts(given, "poll_origins")))
    urls = {endpoint, tokens.token_url if tokens else "", *(one.url for one in actions.values())}
    return HttpSettings(
        clock=_collaborator(given, "clock"),
        random=_collaborator(given, "random"),
        endpoint=endpoint,
        headers=headers,
        oauth2=tokens,
        **keys,
        secrets=_secrets(given, texts, headers, tokens),
        actions=actions,
        poll_origins=poll_origins,
        trusted=frozenset({*map(origin, urls), *poll_origins} - {""}),
        ca_bundle=http_proofs.bundle(texts["ca_bundle"]),
        **certificate,
        proxy=_proxy(texts["proxy"]),
        policy=AddressPolicy(
            allowed=_networks(given, "allowed_networks"), denied=_networks(given, "denied_networks")
        ),
        **callback,
        **numbers,
    )


def _callback(given: Mapping[str, Any], base: str) -> dict[str, Any]:
    """The base URL of callbacks, the folder they are kept in, and who signs them."""
    keys = http_proofs.callback_keys(given)
    if not settings.flag(given, "callback"):
        return {"callback_keys": keys}
    service: Mapping[str, str] = _collaborator(given, "service")
    base = base or service["url"]
    if not origin(base) or "@" in urlsplit(base).netloc:
        raise UsageError(
            "The runner has no usable address for callbacks.",
            hint="Set callback_url to the URL at which the endpoint reaches the bundled service.",
        )
    return {
        "callback": base.rstrip("/"),
        "callback_folder": service["folder"],
        "callback_signer": service["section"] if keys else "",
        "callback_keys": keys,
    }


def _collaborator(given: Mapping[str, Any], name: str) -> Any:
    if name not in given:
        raise UsageError(f"An http runner is made with a {name}, and got none.")
    return given[name]


def _networks(given: Mapping[str, Any], name: str) -> tuple[Network, ...]:
    try:
        return read_networks(settings.texts(given, name))
    except ValueError as error:
        raise UsageError(f"The runner's setting {name} is wrong: {error}.") from None


def _origin(url: str) -> str:
    found = origin(url)
    if not found:
        raise UsageError(
            f"The runner's setting poll_origins: {redacted_url(url)!r} is no http(s) URL."
        )
    return found


def _secrets(
    given: Mapping[str, Any],
    texts: Mapping[str, str],
    headers: Mapping[str, str],
    tokens: OAuth2 | None,
) -> tuple[str, ...]:
    """All that is to be masked."""
    found = {texts[name] for name in ("token", "password", "client_key_passphrase")}
    found |= {
        *settings.texts(given, "callback_key"),
        *http_proofs.key_texts(given),
        *headers.values(),
        *(tokens.secrets if tokens else ()),
    }
    found |= {value.removeprefix("Basic ") for value in headers.values()}
    return tuple(secret_texts([*found, urlsplit(texts["proxy"]).password]))


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    value = given.get("headers") or {}
    if not isinstance(value, Mapping):
        raise UsageError("The runner's setting headers must be a map of texts.")
    for name, text in value.items():
        if not _HEADER.fullmatch(str(name)) or str(name).lower() in _NOT_OURS:
            raise UsageError(f"The runner's header {str(name)[:60]!r} cannot be set.")
        if (
            not isinstance(name, str)
            or not isinstance(text, str)
            or not settings.fits_a_header(text)
        ):
            raise UsageError(f"The runner's header {name!r} must be one line of text.")
    return dict(value)


def _check_one_way(texts: Mapping[str, str], tokens: OAuth2 | None) -> None:
    given = [name for name in ("token", "username") if texts[name]]
    given += ["oauth2"] if tokens else []
    if len(given) > 1:
        raise UsageError(f"The runner has both {given[0]} and {given[1]}.", hint="Give one.")


def _authorization(texts: Mapping[str, str]) -> dict[str, str]:
    if texts["token"]:
        if not settings.fits_a_header(texts["token"]):
            raise UsageError("The runner's token must be one line of plain ASCII characters.")
        return {"Authorization": f"Bearer {texts['token']}"}
    if texts["username"]:
        pair = f"{texts['username']}:{texts['password']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _proxy(url: str) -> str:
    """The proxy; its URL may hold credentials, and is not shown. Raises UsageError."""
    if url and not origin(url):
        raise UsageError(
            "The runner's setting proxy is no http(s) URL.",
            hint="Write it as http://HOST:PORT or https://HOST:PORT.",
        )
    return url


def _endpoint(url: str, *, needed: bool) -> str:
    if not url and needed:
        raise UsageError(
            "The runner has credentials and no endpoint.",
            hint="Set endpoint: credentials are sent to its origin and nowhere else.",
        )
    if url and not origin(url):
        raise UsageError(f"The runner's endpoint {redacted_url(url)!r} is not an http(s) URL.")
    if "@" in urlsplit(url).netloc:
        raise UsageError(
            "The runner's endpoint holds credentials.", hint="Use username and password instead."
        )
    return url.rstrip("/")
