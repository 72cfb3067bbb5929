"""What differs between the properties that were sent and those that were observed, as data.

Pure functions. A secret is only named: what is given here may be stored and shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from zonda.hooks.resources.live_state import is_same_value
from zonda.hooks.text.redaction import MASK, redact
from zonda.hooks.text.sanitize import truncate_middle

#: What stands in column ``diff``: ``path``, and ``template`` and ``live`` or ``hidden``.
Entry = dict[str, Any]
_LACKS = object()


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
        for path, was, now in _parts((name,), wanted[name], live[name]):
            entry: Entry = {"path": [name, *(_key(item, secrets) for item in path[1:])]}
            for key, value in (("template", was), ("live", now)):
                if value is not _LACKS:
                    entry[key] = _shown(value, secrets)
            found.append(entry)
    return found


def dotted(entry: Entry) -> str:
    """``tags.env`` of a difference."""
    return ".".join(str(item) for item in entry["path"])


def _parts(path: tuple[Any, ...], was: Any, now: Any) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """The smallest parts that differ: (way to it, template's, live)."""
    if isinstance(was, Mapping) and isinstance(now, Mapping) and was and now:
        for key in dict.fromkeys((*was, *now)):
            one, other = was.get(key, _LACKS), now.get(key, _LACKS)
            if one is _LACKS or other is _LACKS or not is_same_value(one, other):
                yield from _parts((*path, key), one, other)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (one, other) in enumerate(zip(was, now, strict=True)):
            if not is_same_value(one, other):
                yield from _parts((*path, index), one, other)
    else:
        yield path, was, now


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
