"""From what is written in a settings file, a variable or a flag to the value of a setting.

Called by ``core/settings.py`` only. Every fault is a ValueError that says what is wanted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import Field
from pathlib import Path
from typing import Any

KINDS = {
    "Path": "folder",
    "str": "text",
    "int": "whole number",
    "float": "number",
    "tuple[str, ...]": "list of folders",
    "Mapping[str, Mapping[str, Any]]": "sections",
}


def near(name: str, known: Sequence[str]) -> str:
    """`` (did you mean x?)`` where something known is spelt alike, else nothing."""
    import difflib  # needed for a fault only

    close = difflib.get_close_matches(name, known, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def converted(row: Field[Any], raw: Any) -> Any:
    """The value of one setting. ``row`` is its field in ``Settings``."""
    value = _CONVERTERS[str(row.type)](raw)
    choices, least, most = (row.metadata.get(key) for key in ("choices", "least", "most"))
    if choices and value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}, not {value}")
    if least is not None and value < least:
        raise ValueError(f"must be at least {least}, not {value}")
    if most is not None and value > most:
        raise ValueError(f"must be at most {most}, not {value}")
    return value


def _text(raw: Any) -> str:
    if not isinstance(raw, str):
        raise ValueError("must be text")
    return raw


def _whole(raw: Any) -> int:
    if isinstance(raw, str) and re.fullmatch(r"[+-]?\d+", raw.strip()):
        return int(raw)
    if not isinstance(raw, int) or isinstance(raw, bool):
        raise ValueError(f"must be a whole number, not {raw!r}")
    return raw


def _number(raw: Any) -> float:
    try:
        value = float(raw) if isinstance(raw, (str, int, float)) else None
    except ValueError:
        value = None
    if value is None or isinstance(raw, bool) or value != value or value in (1e999, -1e999):
        raise ValueError(f"must be a number, not {raw!r}")
    return value


def _folders(raw: Any) -> tuple[str, ...]:
    if isinstance(raw, str):
        raw = [part for part in raw.split(os.pathsep) if part]
    if not isinstance(raw, list) or not all(isinstance(part, str) for part in raw):
        raise ValueError("must be a list of folders")
    return tuple(str(Path(part).expanduser()) for part in raw)


def _sections(raw: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(raw, dict) or not all(isinstance(part, dict) for part in raw.values()):
        raise ValueError("must be sections [runners.NAME] in the settings file")
    for name, section in raw.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or name in ("http", "https"):
            raise ValueError(f"{name} cannot be the name of a runner")
        if not isinstance(section.get("kind", "http"), str):
            raise ValueError(f"[runners.{name}] kind must be text")
    return raw


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "str": _text,
    "int": _whole,
    "float": _number,
    "tuple[str, ...]": _folders,
    "Mapping[str, Mapping[str, Any]]": _sections,
}
