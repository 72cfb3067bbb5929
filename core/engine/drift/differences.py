"""What differs between the properties that were sent and those that were observed, as data.

Pure functions. A secret is only named: what is given here may be stored and shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zonda.hooks.text.redaction import MASK, redact
from zonda.hooks.text.sanitize import truncate_middle

from ..diff.changes import changes

#: What stands in column ``diff``: ``path``, and ``template`` and ``live`` or ``hidden``.
Entry = dict[str, Any]


def entries(
    names: Collection[str],
    wanted: Mapping[str, Any],
    live: Mapping[str, Any],
    hidden: Collection[str],
    secrets: Sequence[str],
) -> list[Entry]:
    """The differences of the properties ``names``; ``secrets``: texts that are never shown."""
    found: list[Entry] = []
    for name in names:
        if name in hidden:
            found.append({"path": [name], "hidden": True})
            continue
        for change in changes(wanted[name], live[name]):
            entry: Entry = {"path": [name, *(_key(item, secrets) for item in change.path)]}
            if change.kind != "added":
                entry["template"] = _shown(change.before, secrets)
            if change.kind != "removed":
                entry["live"] = _shown(change.after, secrets)
            found.append(entry)
    return found


def dotted(entry: Entry) -> str:
    """``tags.env`` of a difference."""
    return ".".join(str(item) for item in entry["path"])


def _shown(value: Any, secrets: Sequence[str]) -> Any:
    """A value without secrets; a text that is longer than anybody reads without its middle."""
    if isinstance(value, str):
        return truncate_middle(redact(value, secrets))
    if isinstance(value, Mapping):
        return {redact(str(key), secrets): _shown(each, secrets) for key, each in value.items()}
    if isinstance(value, list):
        return [_shown(each, secrets) for each in value]
    if isinstance(value, bool) or value is None:
        return value
    said = str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return said  # no JSON has it
    return value if redact(said, secrets) == said else MASK


def without(value: Any, secrets: Sequence[str]) -> Any:
    """A value in whose texts no secret stands."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {redact(str(key), secrets): without(each, secrets) for key, each in value.items()}
    return [without(each, secrets) for each in value] if isinstance(value, list) else value


def _key(item: Any, secrets: Sequence[str]) -> Any:
    return redact(item, secrets) if isinstance(item, str) else item
