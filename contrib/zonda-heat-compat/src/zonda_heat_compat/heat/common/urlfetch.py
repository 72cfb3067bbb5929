"""Fetching what a URL names: zonda's own fetcher does it, with its own limits."""

from __future__ import annotations

from typing import Any

from heat.common import exception


class URLFetchError(exception.Error):
    """Nothing was fetched."""


def get(url: str, allowed_schemes: Any = ("http", "https")) -> str:
    """Refused: attach the file to the template (``get_file``)."""
    raise URLFetchError(f"Plug-ins fetch nothing here; attach {url} by get_file")
