"""Signal URLs as attributes: what each of Heat's transports tells a sender of signals.

There is no object store and no queue behind them: a URL of this service does the work of all.
"""

from __future__ import annotations

from urllib.parse import quote

from zonda.hooks import Resource, attributes

_PATH = "/signal/v1/"
_URL_TRANSPORTS = ("CFN_SIGNAL", "TEMP_URL_SIGNAL", "ZAQAR_SIGNAL")
NO_SIGNAL = "NO_SIGNAL"


def make_signal_schema(description: str) -> attributes.Schema:
    """The schema of an attribute that lets its reader send signals."""
    return attributes.Schema(
        f"{description} Null as long as no server runs; hidden.",
        type=attributes.Schema.STRING,
        cache_mode=attributes.Schema.CACHE_NONE,
        hidden=True,
    )


def find_token(url: str) -> str:
    """The token of a signal URL."""
    return url.rpartition("/")[2]


def make_endpoint(resource: Resource, url: str) -> str:
    """The address of Heat's API that takes signals to a resource, at the server of its ``url``."""
    stack = resource.stack
    base = url.rpartition(_PATH)[0]
    parts = ("v1", stack.project, "stacks", stack.name, stack.id, "resources", resource.name)
    return "/".join((base, *(quote(part, safe="") for part in parts), "signal"))


def describe_signal(resource: Resource, url: str, transport: str) -> dict[str, str]:
    """The way to send a signal: a URL, or the endpoint of Heat's API and a token for it."""
    if transport == NO_SIGNAL:
        return {}
    if transport in _URL_TRANSPORTS:
        return {"alarm_url": url}
    return {"alarm_url": make_endpoint(resource, url), "token": find_token(url)}
