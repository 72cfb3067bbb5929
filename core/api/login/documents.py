"""The documents of the login: its version, a token with its catalog."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from zonda.core.reports.texts.times import format_time

from ..identity.local_identity import DOMAIN, IssuedToken

#: The region of a service whose settings name none, as OpenStack's default is.
_REGION = "RegionOne"
_DOMAIN = {"id": DOMAIN, "name": "Default"}
_MEDIA_TYPE = {
    "base": "application/json",
    "type": "application/vnd.openstack.identity-v3+json",
}


def build_version(base: str) -> dict[str, Any]:
    """The version document, by which clients find the login."""
    return {
        "version": {
            "id": "v3.14",
            "status": "stable",
            "updated": "2020-04-07T00:00:00Z",
            "links": [{"rel": "self", "href": f"{base}/v3/"}],
            "media-types": [_MEDIA_TYPE],
        }
    }


def build_token(issued: IssuedToken, catalog: list[dict[str, Any]] | None) -> dict[str, Any]:
    """The document of a token; ``catalog`` None: without one."""
    token, caller = issued.token, issued.caller
    shown = {
        "methods": [token.method],
        "user": {
            "id": caller.user_id,
            "name": caller.user,
            "domain": _DOMAIN,
            "password_expires_at": None,
        },
        "project": {"id": caller.project_id, "name": caller.project, "domain": _DOMAIN},
        "is_domain": False,
        "roles": [{"id": role, "name": role} for role in sorted(caller.roles)],
        "issued_at": format_time(token.issued),
        "expires_at": format_time(token.expires),
        "audit_ids": [token.id],
    }
    return {"token": shown if catalog is None else {**shown, "catalog": catalog}}


def build_catalog(base: str, region: str, project: str) -> list[dict[str, Any]]:
    """The catalog: this service, and nothing else. ``base``: its URL."""
    url, region = f"{base}/v1/{quote(project, safe='')}", region or _REGION
    endpoints = [
        {"id": name, "interface": name, "region": region, "region_id": region, "url": url}
        for name in ("public", "internal", "admin")
    ]
    return [{"id": "heat", "type": "orchestration", "name": "heat", "endpoints": endpoints}]
