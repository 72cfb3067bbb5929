"""The settings of one ``mistral`` runner, checked once.

Read by the runner's factory from its section of the settings. What concerns connections is read as
for ``http`` runners; how one proves who one is differs: nothing, a token, or a password that
Keystone changes into tokens. Secrets are in no ``repr``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zonda.hooks import secret_texts

from ..http_runner import settings
from ..http_runner.settings import HttpSettings
from .schema import CONNECTION, MISTRAL

NONE, TOKEN, KEYSTONE = "none", "token", "keystone"


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
    values = MISTRAL.read(given)
    shared = {name: values[name] for name in CONNECTION}
    shared |= {name: given[name] for name in ("clock", "random") if name in given}
    http = settings.read_settings(shared)
    own = (values["token"], values["password"])
    way = _way(values)
    return MistralSettings(
        http=replace(http, secrets=tuple(secret_texts([*own, *http.secrets]))),
        token=values["token"] if way == TOKEN else "",
        keystone=_keystone(values, shared) if way == KEYSTONE else None,
        namespace=values["namespace"],
        forget=values["forget"],
    )


def _way(values: Mapping[str, Any]) -> str:
    """How to prove who one is: what is said, else what the other entries are for."""
    usual = KEYSTONE if values["auth_url"] else TOKEN if values["token"] else NONE
    return values["auth"] or usual


def _keystone(values: Mapping[str, Any], shared: Mapping[str, Any]) -> Keystone:
    url = values["auth_url"].rstrip("/")
    url = url if url.endswith("/v3") else f"{url}/v3"
    http = settings.read_settings({**shared, "headers": {}, "endpoint": url})
    return Keystone(http, {"auth": {"identity": _identity(values), "scope": _scope(values)}})


def _identity(values: Mapping[str, Any]) -> dict[str, Any]:
    user = {
        "name": values["username"],
        "domain": {"name": values["user_domain_name"] or "Default"},
        "password": values["password"],
    }
    return {"methods": ["password"], "password": {"user": user}}


def _scope(values: Mapping[str, Any]) -> dict[str, Any]:
    if values["project_id"]:
        return {"project": {"id": values["project_id"]}}
    domain = {"name": values["project_domain_name"] or "Default"}
    return {"project": {"name": values["project_name"], "domain": domain}}
