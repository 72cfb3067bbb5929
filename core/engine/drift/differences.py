"""The differences between the properties that were sent and the observed ones, as data.

Pure functions. A secret is only named: what is given here may be stored and shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zonda.hooks.text.redaction import MASK, redact
from zonda.hooks.text.sanitize import truncate_middle

from ..diff.changes import compare_values

#: The keys of column ``diff``: ``path``, and ``template`` and ``live`` or ``hidden``.
Entry = dict[str, Any]


def list_differences(
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
        for change in compare_values(wanted[name], live[name]):
            entry: Entry = {"path": [name, *(_redact_key(item, secrets) for item in change.path)]}
            if change.kind != "added":
                entry["template"] = _redact_value(change.before, secrets)
            if change.kind != "removed":
                entry["live"] = _redact_value(change.after, secrets)
            found.append(entry)
    return found


def format_path(entry: Entry) -> str:
    """The path of a difference as text: ``tags.env``."""
    return ".".join(str(item) for item in entry["path"])


def _redact_value(value: Any, secrets: Sequence[str]) -> Any:
    """A value without secrets; a long text is truncated in the middle."""
    if isinstance(value, str):
        return truncate_middle(redact(value, secrets))
    if isinstance(value, Mapping):
        return {
            redact(str(key), secrets): _redact_value(each, secrets) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_redact_value(each, secrets) for each in value]
    if isinstance(value, bool) or value is None:
        return value
    said = str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return said  # no JSON has it
    return value if redact(said, secrets) == said else MASK


def redact_deep(value: Any, secrets: Sequence[str]) -> Any:
    """A value with the secrets redacted in all of its texts."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Mapping):
        return {
            redact(str(key), secrets): redact_deep(each, secrets) for key, each in value.items()
        }
    return [redact_deep(each, secrets) for each in value] if isinstance(value, list) else value


def _redact_key(item: Any, secrets: Sequence[str]) -> Any:
    return redact(item, secrets) if isinstance(item, str) else item
