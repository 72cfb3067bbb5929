"""Converts texts of a settings file, a variable or a flag to values of settings.

Called by ``core/settings/settings.py`` only. Every fault is a ValueError that says what is wanted.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zonda.hooks.records import Field

_SECTIONS = "Mapping[str, Mapping[str, Any]]"
KINDS = {
    "Path": "folder",
    "str": "text",
    "int": "whole number",
    "float": "number",
    "tuple[str, ...]": "list of folders",
    _SECTIONS: "sections",
    "Mapping[str, Any]": "section",
}

#: No setting has so large a value.
_TOO_LARGE = 10**18


def convert_value(row: Field[Any], raw: Any) -> Any:
    """Convert the value of one setting. ``row`` is its field in ``Settings``."""
    kind = str(row.type)
    value = _convert_sections(raw, row.name) if kind == _SECTIONS else _CONVERTERS[kind](raw)
    choices, least, most = (row.metadata.get(key) for key in ("choices", "least", "most"))
    if check := row.metadata.get("check"):
        check(value)
    if choices and value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}, not {value}")
    if least is not None and value < least:
        raise ValueError(f"must be at least {least}, not {value}")
    if most is not None and value > most:
        raise ValueError(f"must be at most {most}, not {value}")
    return value


def _convert_text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError("must be text")
    return raw


def _convert_integer(raw: Any) -> int:
    _check_digits(raw)
    if isinstance(raw, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", raw.strip()):
        return int(raw)
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise ValueError(f"must be a whole number, not {raw!r}")
    return raw


def _check_digits(raw: Any) -> None:
    if isinstance(raw, int) and abs(raw) >= _TOO_LARGE:
        raise ValueError("must be a number of at most 18 digits")


def _convert_number(raw: Any) -> float:
    _check_digits(raw)
    try:
        value = float(raw) if isinstance(raw, (str, int, float)) else None
    except (ValueError, OverflowError):
        value = None
    if value is None or isinstance(raw, bool) or value != value or value in (1e999, -1e999):
        raise ValueError(f"must be a number, not {raw!r}")
    return value


def _convert_folders(raw: Any) -> tuple[str, ...]:
    if isinstance(raw, str):
        raw = [part for part in raw.split(os.pathsep) if part]
    if not isinstance(raw, list) or not all(isinstance(part, str) for part in raw):
        raise ValueError("must be a list of folders")
    return tuple(str(Path(part).expanduser()) for part in raw)


def _convert_sections(raw: Any, group: str) -> dict[str, dict[str, Any]]:
    if not isinstance(raw, dict) or not all(isinstance(part, dict) for part in raw.values()):
        raise ValueError(f"must be sections [{group}.NAME] in the settings file")
    for name in raw:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or name in ("http", "https"):
            raise ValueError(f"{name} cannot be the name of a {group.removesuffix('s')}")
    return raw


def _convert_section(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ValueError("must be a section of the settings file")
    return raw


def parse_host_and_port(address: str) -> tuple[str, int]:
    """Parse ``127.0.0.1:8155`` into host and port; raises ValueError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
        raise ValueError("is not of the form HOST:PORT")
    return host.strip("[]"), int(port)


def check_metrics_address(value: str) -> None:
    """Raise ValueError for what is neither ``HOST:PORT`` nor ``off``."""
    if value not in ("", "off"):
        parse_host_and_port(value)


def check_name(value: str) -> None:
    """Raise ValueError for an empty name."""
    if not value.strip():
        raise ValueError("must not be empty")


def check_base_url(value: str) -> None:
    """Raise ValueError for what is no http(s) URL that paths can be appended to."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value)
        is_usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_usable = False
    if value and (not is_usable or set(value) & set("?#@ \"'\\<>") or not value.isprintable()):
        raise ValueError("must be a URL such as https://zonda.example, without query or user")


def parse_networks(text: str) -> list[str]:
    """Parse the networks of ``10.0.0.0/8, fd00::/8``; raises ValueError."""
    import ipaddress  # 3 ms that most runs need not spend

    found = [part.strip() for part in text.split(",") if part.strip()]
    for part in found:
        try:
            ipaddress.ip_network(part)
        except ValueError:
            raise ValueError(
                f"must hold networks such as 10.0.0.0/8 or fd00::/8, and {part} is none"
            ) from None
    return found


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "str": _convert_text,
    "int": _convert_integer,
    "float": _convert_number,
    "tuple[str, ...]": _convert_folders,
    "Mapping[str, Any]": _convert_section,
}


def login_name() -> str:
    """Return the name of this process's user; ``uid N`` where the system knows no name."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"
