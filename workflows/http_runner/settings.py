"""The settings of one ``http`` runner, checked once.

Read by the runner's factory from its section of the settings. Credentials go to the origin of
``endpoint`` and nowhere else, whatever URL a template names; they are in no ``repr``.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from zonda.hooks import UsageError, redact, secret_texts
from zonda.hooks.http import ClientConfig, is_url, origin, read_connection, redacted_url

from ..client import message_signature, oauth2, webhook_signature
from ..client.message_signature import Key
from ..client.oauth2 import OAuth2
from ..http_contract.callback_store import PATH
from . import actions as http_actions
from .actions import DEFAULT_ACTION, Action
from .schema import ENDPOINT_URL, HTTP

__all__ = ["HttpSettings", "is_url", "origin", "read_settings", "redacted_url"]

#: A runner of workflows that are URLs has no endpoint.
_WITHOUT_ENDPOINT = replace(HTTP, entries={**HTTP.entries, "endpoint": ENDPOINT_URL})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSettings(ClientConfig):
    """The settings of an ``http`` runner. Times in seconds, ``max_body`` in bytes."""

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
    max_in_flight: int = 64
    breaker_failures: int = 10
    breaker_pause: float = 5.0
    callback: str = ""
    callback_folder: str = ""
    callback_signer: str = ""
    callback_keys: tuple[bytes, ...] = field(default=(), repr=False)

    def find_url(self, workflow: str) -> str:
        """The URL that starts ``workflow``: an absolute URL, or a name below the endpoint.

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

    def make_relative(self, url: str) -> str:
        """``url`` without scheme and host where those are the endpoint's, which may change."""
        if not self.endpoint or origin(url) != origin(self.endpoint):
            return url
        parts = urlsplit(url)
        if parts.path.startswith("//"):
            return url  # without its host, what follows would be taken for one
        return urlunsplit(("", "", parts.path or "/", parts.query, ""))

    def absolute(self, url: str) -> str:
        """``url`` with scheme and host of the present endpoint, where it has none."""
        return urljoin(f"{self.endpoint}/", url)

    def credentials(self, url: str) -> Mapping[str, str]:
        """The headers that authenticate a request to ``url``."""
        return self.headers if self.is_own(url) else {}

    def is_own(self, url: str) -> bool:
        """Whether ``url`` has the endpoint's origin, which is where credentials go."""
        return bool(self.endpoint) and origin(url) == origin(self.endpoint)

    def action(self, name: str) -> Action:
        """The request of the action ``name``."""
        return self.actions.get(name, DEFAULT_ACTION)

    def redact(self, text: str) -> str:
        """``text`` without anything secret that these settings hold."""
        return redact(text, self.secrets)


def read_settings(given: Mapping[str, Any]) -> HttpSettings:
    """The settings from a runner's section. Raises UsageError that names the wrong entry."""
    values = _WITHOUT_ENDPOINT.read(given)
    clock = _get_collaborator(given, "clock")
    headers = {**values["headers"], **_build_authorization(values)}
    tokens = oauth2.read_oauth2(values["oauth2"])
    keys = _read_signing_keys(values)
    connection = read_connection(values, clock)
    secured = (headers, tokens, connection.get("client_certificate"), *keys.values())
    endpoint = _check_endpoint(values["endpoint"], needed=any(secured))
    actions = http_actions.read_actions(values["actions"], endpoint)
    poll_origins = frozenset(map(_read_origin, values["poll_origins"]))
    urls = {endpoint, tokens.token_url if tokens else "", *(one.url for one in actions.values())}
    return HttpSettings(
        **connection,
        random=_get_collaborator(given, "random"),
        endpoint=endpoint,
        headers=headers,
        oauth2=tokens,
        **keys,
        secrets=_list_secrets(values, headers, tokens),
        actions=actions,
        poll_origins=poll_origins,
        trusted=frozenset({*map(origin, urls), *poll_origins} - {""}),
        max_in_flight=int(values["max_in_flight"]),
        breaker_failures=int(values["breaker_failures"]),
        **{name: values[name] for name in ("connect_give_up", "wait", "breaker_pause")},
        **_read_callback(values, given),
    )


def _read_callback(values: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The beginning of the addresses of callbacks, where they are kept, and who signs them."""
    keys = tuple(_read_key(text, "callback_key") for text in values["callback_key"])
    if not values["callback"]:
        return {"callback_keys": keys}
    service: Mapping[str, str] = _get_collaborator(given, "service")
    base, path = values["callback_url"], PATH
    if not base:
        base, path = service["url"], service.get("path", PATH)
    if not origin(base) or "@" in urlsplit(base).netloc:
        raise UsageError(
            "The runner has no usable address for callbacks.",
            hint="Set callback_url to the URL at which the endpoint reaches the bundled service.",
        )
    return {
        "callback": f"{base.rstrip('/')}{path}",
        "callback_folder": service["folder"],
        "callback_signer": service["section"] if keys else "",
        "callback_keys": keys,
    }


def _get_collaborator(given: Mapping[str, Any], name: str) -> Any:
    """Something that is handed in by the caller: ``clock``, ``random``, or ``service``, which has
    the ``folder`` of callbacks, the ``url`` and the ``path`` where they are taken, and the
    name of this ``section``.
    """
    if name not in given:
        raise UsageError(f"An http runner is made with a {name}, and got none.")
    return given[name]


def _read_origin(url: str) -> str:
    place = origin(url)
    if not place:
        raise UsageError(
            f"The runner's setting poll_origins: {redacted_url(url)!r} is no http(s) URL."
        )
    return place


def _list_secrets(
    values: Mapping[str, Any], headers: Mapping[str, str], tokens: OAuth2 | None
) -> tuple[str, ...]:
    """The texts to redact."""
    secrets = {
        *(values[name] for name in ("token", "password", "client_key_passphrase")),
        *values["callback_key"],
        *(key for _, key in _list_keys(values)),
        *headers.values(),
        *(value.removeprefix("Basic ") for value in headers.values()),
        *(tokens.secrets if tokens else ()),
        urlsplit(values["proxy"]).password,
    }
    return tuple(secret_texts(secrets))


def _build_authorization(values: Mapping[str, Any]) -> dict[str, str]:
    if values["token"]:
        return {"Authorization": f"Bearer {values['token']}"}
    if values["username"]:
        pair = f"{values['username']}:{values['password']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _check_endpoint(url: str, *, needed: bool) -> str:
    if not url and needed:
        raise UsageError(
            "The runner has credentials and no endpoint.",
            hint="Set endpoint: credentials are sent to its origin and nowhere else.",
        )
    if url and not origin(url):
        raise UsageError(f"The runner's endpoint {redacted_url(url)!r} is not an http(s) URL.")
    return url.rstrip("/")


def _read_signing_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that sign requests, by the setting of the scheme that they are for."""
    keys = _list_keys(values)
    if values["signature"] == message_signature.MESSAGES:
        return {"message_keys": message_signature.read_keys(keys)}
    return {"signing_keys": tuple(_read_key(key) for _, key in keys)}


def _list_keys(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The keys of a section, each with its id or ''."""
    given = [values.get(name) for name in ("signing_keys", "signing_key")]
    keys = [key for each in given for key in (each if isinstance(each, list | tuple) else [each])]
    return [
        (key.get("id", ""), key.get("key", "")) if isinstance(key, Mapping) else ("", key)
        for key in keys
        if key is not None
    ]


def _read_key(text: str, name: str = "signing key") -> bytes:
    try:
        return webhook_signature.read_key(text)
    except ValueError as error:
        raise UsageError(f"A {name} of the runner cannot be read: {error}.") from None
