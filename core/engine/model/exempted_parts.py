"""Parts of values that a repair leaves as they are. Pure.

A part is named as exceptions of drift name it: the keys and indexes that lead to it, with dots
between them; '' is all of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: No list has an item with a longer index.
_MOST_DIGITS = 18
#: There is nothing.
_LACKS: Any = object()


class CannotStay(Exception):
    """No value is as it is wanted and has these parts as they are."""


def overlay(wanted: Any, live: Any, parts: Iterable[str]) -> Any:
    """``wanted`` with ``parts`` as they are in ``live``, or as absent; raises CannotStay."""
    found = wanted
    for part in parts:
        found = _overlay(found, live, part)
    return None if found is _LACKS else found


def _overlay(wanted: Any, live: Any, part: str) -> Any:
    if not part:
        return live
    if isinstance(wanted, list) or isinstance(live, list):
        return _overlay_list(wanted, live, part)
    if _is_map(wanted) and _is_map(live):
        return _overlay_map(wanted, live, part)
    raise CannotStay


def _is_map(value: Any) -> bool:
    return value is _LACKS or value is None or isinstance(value, Mapping)


def _overlay_map(wanted: Any, live: Any, part: str) -> Any:
    found = dict(wanted) if isinstance(wanted, Mapping) else {}
    there = live if isinstance(live, Mapping) else {}
    for key, rest in _split_key([*found, *there], part):
        value = _overlay(found.get(key, _LACKS), there.get(key, _LACKS), rest)
        if value is _LACKS:
            found.pop(key, None)
        else:
            found[key] = value
    return wanted if not found and not isinstance(wanted, Mapping) else found


def _split_key(known: Iterable[Any], part: str) -> Iterator[tuple[Any, str]]:
    """The keys that a part begins with, which may have dots in them, and the rest of the part."""
    for key in dict.fromkeys(known):
        if part == str(key):
            yield key, ""
        elif part.startswith(f"{key}."):
            yield key, part[len(str(key)) + 1 :]


def _overlay_list(wanted: Any, live: Any, part: str) -> Any:
    if not (isinstance(wanted, list) and isinstance(live, list)):
        raise CannotStay
    first, _, rest = part.partition(".")
    if not first.isdecimal() or len(first) > _MOST_DIGITS:
        return wanted
    index, found = int(first), list(wanted)
    if index >= max(len(found), len(live)):
        return wanted
    if index >= min(len(found), len(live)):
        raise CannotStay  # an item more or less moves all the others
    found[index] = _overlay(found[index], live[index], rest)
    return found
