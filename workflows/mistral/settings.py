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

HEADER = "X-Auth-Token"
NONE, TOKEN, KEYSTONE = "none", "token", "keystone"


@dataclass(frozen=True, slots=True)
class Keystone:
    """The login at Keystone. ``http``: how it is reached; its endpoint ends in ``/v3``."""

    http: HttpSettings
    request: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class MistralSettings:
    """The settings of a ``mistral`` runner.

    ``forget``: executions that ended well are removed from Mistral once their result is stored.
    """

    http: HttpSettings
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
    way = _choose_auth(values)
    token = {HEADER: values["token"]} if way == TOKEN else {}
    return MistralSettings(
        http=replace(
            http,
            headers={**http.headers, **token},
            secrets=tuple(secret_texts([*own, *http.secrets])),
        ),
        keystone=_read_keystone(values, shared) if way == KEYSTONE else None,
        namespace=values["namespace"],
        forget=values["forget"],
    )


def _choose_auth(values: Mapping[str, Any]) -> str:
    """The kind of authentication: as the settings say, else by the other entries."""
    usual = KEYSTONE if values["auth_url"] else TOKEN if values["token"] else NONE
    return values["auth"] or usual


def _read_keystone(values: Mapping[str, Any], shared: Mapping[str, Any]) -> Keystone:
    url = values["auth_url"].rstrip("/")
    url = url if url.endswith("/v3") else f"{url}/v3"
    http = settings.read_settings({**shared, "headers": {}, "endpoint": url})
    return Keystone(
        http, {"auth": {"identity": _build_identity(values), "scope": _build_scope(values)}}
    )


def _build_identity(values: Mapping[str, Any]) -> dict[str, Any]:
    user = {
        "name": values["username"],
        "domain": {"name": values["user_domain_name"] or "Default"},
        "password": values["password"],
    }
    return {"methods": ["password"], "password": {"user": user}}


def _build_scope(values: Mapping[str, Any]) -> dict[str, Any]:
    if values["project_id"]:
        return {"project": {"id": values["project_id"]}}
    domain = {"name": values["project_domain_name"] or "Default"}
    return {"project": {"name": values["project_name"], "domain": domain}}
