"""The mark of a resource on what its handlers make in an OpenStack.

A handler that is cut off between a request and its answer leaves a thing of which nobody has the
id. So each request that makes one carries the id of the resource, in a field that the service keeps
and that is the template's only if it says so. ``recovery`` looks for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, NamedTuple

#: The key of the mark in metadata.
KEY: Final = "zonda:resource"
_CARRIED: ContextVar[str] = ContextVar("carried", default="")


class Kind(NamedTuple):
    """A kind of things that can be marked: ``service`` is the proxy of openstacksdk."""

    service: str
    path: str
    body: str
    field: str = "description"


KINDS: Final = {
    kind.body: kind
    for kind in (
        Kind("compute", "/servers", "server", "metadata"),
        Kind("block_storage", "/volumes", "volume", "metadata"),
        Kind("network", "/networks", "network"),
        Kind("network", "/subnets", "subnet"),
        Kind("network", "/ports", "port"),
        Kind("network", "/routers", "router"),
        Kind("network", "/floatingips", "floatingip"),
        Kind("network", "/security-groups", "security_group"),
        Kind("network", "/security-group-rules", "security_group_rule"),
        Kind("network", "/trunks", "trunk"),
        Kind("network", "/qos/policies", "policy"),
        Kind("network", "/subnetpools", "subnetpool"),
        Kind("network", "/segments", "segment"),
        Kind("network", "/metering/metering-labels", "metering_label"),
    )
}


def format_description(mark: str) -> str:
    """The description of a thing that the template gives none."""
    return f"zonda resource {mark}"


@contextmanager
def carry(mark: str) -> Iterator[None]:
    """Mark what is made meanwhile in this thread."""
    token = _CARRIED.set(mark)
    try:
        yield
    finally:
        _CARRIED.reset(token)


def add_mark(method: str, url: str, content: dict[str, Any]) -> None:
    """Add the mark to what makes a thing: ``json`` or ``data`` of ``content``."""
    mark = _CARRIED.get()
    if not mark or method != "POST":
        return
    body = content.get("json")
    if body is None and isinstance(content.get("data"), str):
        try:
            body = json.loads(content["data"])
        except ValueError:
            return
    if not isinstance(body, dict):
        return
    kind = next((KINDS[name] for name in body if name in KINDS), None)
    if kind is None or not url.endswith(kind.path):
        return
    marked = {**body, kind.body: _mark(kind, body[kind.body], mark)}
    if content.get("json") is None:
        content["data"] = json.dumps(marked)
    else:
        content["json"] = marked


def _mark(kind: Kind, thing: dict[str, Any], mark: str) -> dict[str, Any]:
    if kind.field == "metadata":
        return {**thing, "metadata": {**(thing.get("metadata") or {}), KEY: mark}}
    return {**thing, kind.field: thing.get(kind.field) or format_description(mark)}


@cache
def load_session_class() -> type[Any]:
    """keystoneauth's session, whose requests carry the mark; who has a cloud has the library."""
    from keystoneauth1.session import Session

    class MarkingSession(Session):  # type: ignore[misc]
        """A session whose requests carry the mark."""

        def request(self, url: str, method: str, **content: Any) -> Any:
            """Make a request."""
            add_mark(method, url, content)
            try:
                return super().request(url, method, **content)
            finally:
                cache = sys.modules.get("heat.common.cache")  # of finders, which load it
                if cache is not None and method in ("DELETE", "PATCH", "PUT"):
                    cache.forget()

    return MarkingSession
