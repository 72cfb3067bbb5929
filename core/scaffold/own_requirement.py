"""The requirement of a new package on this zonda, also where no package index has it."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

_NAME: Final = "zonda"


def format_requirement(extra: str = "") -> str:
    """Format ``zonda[check]>=0.1.0``, or its location: ``zonda[check] @ file:///src/zonda``."""
    name = f"{_NAME}[{extra}]" if extra else _NAME
    url = find_origin_url()
    return f"{name} @ {url}" if url else f"{name}{format_minimum()}"


def format_minimum() -> str:
    """Format ``>=0.1.0``; '' where zonda is not installed as a distribution."""
    try:
        version = distribution(_NAME).version
    except PackageNotFoundError:
        return ""
    return f">={version.partition('+')[0]}"


def find_origin_url() -> str:
    """Find the URL that this zonda was installed from; '' for an index, and for a checkout."""
    known = _read_direct_url()
    if not known or find_checkout_url():
        return ""
    url, source = str(known["url"]), known.get("vcs_info")
    if source is not None:
        return f"{source['vcs']}+{url}@{source['commit_id']}"
    parts = urlsplit(url)
    is_there = parts.scheme != "file" or Path(unquote(parts.path)).exists()
    return url if is_there else ""


def find_checkout_url() -> str:
    """Find the URL of the folder that this zonda runs from, where it is installed as editable.

    No package may ask for that: pip would put a copy in its place.
    """
    known = _read_direct_url()
    return str(known["url"]) if known.get("dir_info", {}).get("editable") else ""


def _read_direct_url() -> dict[str, Any]:
    """Read pip's record of the installation; empty where it came from an index."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    return {} if text is None else dict(json.loads(text))
