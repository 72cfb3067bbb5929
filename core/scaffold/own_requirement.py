"""How a new package asks for the zonda that made it, also where no package index has that one."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

_NAME: Final = "zonda"


def requirement(extra: str = "") -> str:
    """``zonda[check]>=0.1.0``, or where this zonda is: ``zonda[check] @ file:///src/zonda``."""
    name = f"{_NAME}[{extra}]" if extra else _NAME
    url = origin()
    return f"{name} @ {url}" if url else f"{name}{at_least()}"


def at_least() -> str:
    """``>=0.1.0``; empty where zonda is not installed as a distribution."""
    try:
        version = distribution(_NAME).version
    except PackageNotFoundError:
        return ""
    return f">={version.partition('+')[0]}"


def origin() -> str:
    """The URL that this zonda was installed from; empty for an index, and for a ``checkout``."""
    known = _direct_url()
    if not known or checkout():
        return ""
    url, source = str(known["url"]), known.get("vcs_info")
    if source is not None:
        return f"{source['vcs']}+{url}@{source['commit_id']}"
    parts = urlsplit(url)
    is_there = parts.scheme != "file" or Path(unquote(parts.path)).exists()
    return url if is_there else ""


def checkout() -> str:
    """The URL of the folder that this zonda runs from, where it is installed as editable.

    No package may ask for that: pip would put a copy in its place.
    """
    known = _direct_url()
    return str(known["url"]) if known.get("dir_info", {}).get("editable") else ""


def _direct_url() -> dict[str, Any]:
    """What pip has noted of the installation; empty where it came from an index."""
    try:
        text = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    return {} if text is None else dict(json.loads(text))
