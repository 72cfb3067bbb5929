"""The settings of one ``mistral`` runner, checked once.

Read by the runner's factory from its section of the settings. What concerns connections is read as
for ``http`` runners; how one proves who one is differs: nothing, a token, or a password that
Keystone changes into tokens. Secrets are in no ``repr``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zonda.hooks import UsageError, secret_texts
from zonda.hooks.runners import settings as section

from ..http_runner import settings
from ..http_runner.settings import HttpSettings

NONE, TOKEN, KEYSTONE = "none", "token", "keystone"
#: Answers repeat input and output, each up to 1 MiB and written as JSON within JSON.
LARGEST_ANSWER = 16 * settings.MEBIBYTE

_CONNECTION = frozenset(
    {
        "allowed_networks",
        "answer_timeout",
        "breaker_failures",
        "breaker_pause",
        "ca_bundle",
        "client_certificate",
        "client_key",
        "client_key_passphrase",
        "clock",
        "connect_give_up",
        "connect_timeout",
        "denied_networks",
        "endpoint",
        "headers",
        "max_body",
        "max_in_flight",
        "proxy",
        "random",
    }
)
#: What a section takes that ``http`` does not read, or reads otherwise.
OWN_TEXTS = (
    "auth",
    "auth_url",
    "namespace",
    "password",
    "project_domain_name",
    "project_id",
    "project_name",
    "token",
    "user_domain_name",
    "username",
)
_PASSWORD_NEEDS = ("auth_url", "username", "password")
KNOWN = (_CONNECTION & settings.KNOWN) | {*OWN_TEXTS, "forget", "kind"}


@dataclass(frozen=True, slots=True)
class Keystone:
    """Who asks Keystone for tokens. ``http``: how it is reached; its endpoint ends in ``/v3``."""

    http: HttpSettings
    request: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MistralSettings:
    """What a ``mistral`` runner is told.

    ``forget``: executions that ended well are removed from Mistral once their result is stored.
    """

    http: HttpSettings
    token: str = field(default="", repr=False)
    keystone: Keystone | None = None
    namespace: str = ""
    forget: bool = False


def read_settings(given: Mapping[str, Any]) -> MistralSettings:
    """The settings from a runner's section. Raises UsageError that names the wrong entry."""
    section.check_settings(given, "mistral", KNOWN - section.GIVEN)
    texts = {name: section.text(given, name) for name in OWN_TEXTS}
    http = _connection(given, texts)
    way = _way(texts)
    return MistralSettings(
        http=http,
        token=texts["token"] if way == TOKEN else "",
        keystone=_keystone(given, texts) if way == KEYSTONE else None,
        namespace=texts["namespace"],
        forget=section.flag(given, "forget"),
    )


def _connection(given: Mapping[str, Any], texts: Mapping[str, str]) -> HttpSettings:
    if not given.get("endpoint"):
        raise UsageError(
            "A mistral runner needs an endpoint.",
            hint="It is the address of Mistral's API, such as http://127.0.0.1:8989/v2.",
        )
    shared = {name: given[name] for name in _CONNECTION & set(given)}
    read = settings.read_settings({"max_body": LARGEST_ANSWER, **shared})
    own = (texts["token"], texts["password"])
    return replace(read, secrets=tuple(secret_texts([*own, *read.secrets])))


def _way(texts: Mapping[str, str]) -> str:
    """How to prove who one is: what is said, else what the other entries are for."""
    found = texts["auth"] or (KEYSTONE if texts["auth_url"] else TOKEN if texts["token"] else NONE)
    if found not in (NONE, TOKEN, KEYSTONE):
        raise UsageError(
            f"The runner's setting auth is {found!r}.", hint="It is none, token or keystone."
        )
    if found == TOKEN and not texts["token"]:
        raise UsageError("The runner's setting auth is token, and there is no token.")
    if not texts["token"].isascii() or not texts["token"].isprintable():
        raise UsageError("The runner's token must be one line of plain ASCII characters.")
    return found


def _keystone(given: Mapping[str, Any], texts: Mapping[str, str]) -> Keystone:
    absent = [name for name in _PASSWORD_NEEDS if not texts[name]]
    if not texts["project_id"] and not texts["project_name"]:
        absent.append("project_name")
    if absent:
        raise UsageError(
            f"The runner's setting auth is keystone, and {absent[0]} is missing.",
            hint="It takes auth_url, username, password and project_name or project_id.",
        )
    url = texts["auth_url"].rstrip("/")
    url = url if url.endswith("/v3") else f"{url}/v3"
    shared = {n: given[n] for n in _CONNECTION - {"endpoint", "headers"} if n in given}
    http = settings.read_settings({**shared, "endpoint": url})
    return Keystone(http, {"auth": {"identity": _identity(texts), "scope": _scope(texts)}})


def _identity(texts: Mapping[str, str]) -> dict[str, Any]:
    user = {
        "name": texts["username"],
        "domain": {"name": texts["user_domain_name"] or "Default"},
        "password": texts["password"],
    }
    return {"methods": ["password"], "password": {"user": user}}


def _scope(texts: Mapping[str, str]) -> dict[str, Any]:
    if texts["project_id"]:
        return {"project": {"id": texts["project_id"]}}
    domain = {"name": texts["project_domain_name"] or "Default"}
    return {"project": {"name": texts["project_name"], "domain": domain}}
