"""Suggestions for unknown names.

Used by everything that refuses a name: properties, constraints, templates, commands.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

#: The least similarity of two names, from 0 to 1: two letters of three may have changed places.
ALIKE = 0.62

#: Among more names than this only another spelling is looked for, one with the same beginning
#: (``OS::Heat::``, ``community.general.``), and one with the same end (``.copy``): comparing takes
#: its time.
MOST = 500

#: So many are compared for good; letters and pairs of letters in common choose them.
_CLOSEST = 4


def closest(name: object, known: Iterable[object], alike: float = ALIKE) -> str:
    """The one of ``known`` that is spelt most like ``name``, or the empty text.

    Case and the choice between ``-``, ``_`` and blanks count for nothing.
    """
    if not isinstance(name, str) or not name:
        return ""
    folded: dict[str, str] = {}
    for item in known:
        if isinstance(item, str) and item != name:
            folded.setdefault(_fold_name(item), item)
    wanted = _fold_name(name)
    if wanted not in folded and len(folded) > MOST:
        start, end = _split_name(wanted)
        same = {each: item for each, item in folded.items() if start and each.startswith(start)}
        if not 0 < len(same) <= 2 * MOST:
            same, alike = _find_same_end(folded, start, end), 0.0
        folded = same
    if wanted in folded or len(folded) > 2 * MOST:
        return folded.get(wanted, "")
    from difflib import get_close_matches  # needed for a fault only
    from heapq import nlargest

    traits = _get_traits(wanted)
    closest = nlargest(
        _CLOSEST, folded, key=lambda each: _measure_overlap(traits, _get_traits(each))
    )
    found = get_close_matches(wanted, closest, n=1, cutoff=alike)
    return folded[found[0]] if found else ""


def _split_name(name: str) -> tuple[str, str]:
    """The namespaces of a name, and the rest of it."""
    at = max(name.rfind(":"), name.rfind(".")) + 1
    return name[:at], name[at:]


def _find_same_end(known: dict[str, str], start: str, end: str) -> dict[str, str]:
    """The names that end so; only those of the namespaces ``a::a.`` for ``a::``, if any are."""
    found = {name: item for name, item in known.items() if end and _split_name(name)[1] == end}
    own = start + start.strip(":.")
    return {name: item for name, item in found.items() if name.startswith(own)} or found


@lru_cache(maxsize=2 * MOST)
def _get_traits(name: str) -> frozenset[str]:
    """The letters of a name and its pairs of letters: a quick measure of what is alike."""
    return frozenset((*name, *map("".join, pairwise(name))))


def _measure_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def suggestion(name: object, known: Iterable[object]) -> str:
    """A hint that names the closest known name, or an empty text."""
    found = closest(name, known)
    return f"Did you mean {found}?" if found else ""


def format_suggestion(name: object, known: Iterable[object]) -> str:
    """`` (did you mean x?)`` where a known name is similar, else an empty text."""
    found = closest(name, known)
    return f" (did you mean {found}?)" if found else ""


def _fold_name(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
