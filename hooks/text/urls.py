"""URLs as people write them into settings and templates; loads no HTTP client."""

from __future__ import annotations


def is_url(text: str) -> bool:
    """Whether ``text`` begins like an absolute http(s) URL."""
    return text.lower().startswith(("http://", "https://"))


def host_of_url(url: str) -> str:
    """The host of an absolute http(s) URL; empty for anything else."""
    from urllib.parse import urlsplit  # needed where a URL is set only

    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:  # a port that is no number, half an IPv6 address
        return ""
    return (parts.hostname or "") if usable else ""
