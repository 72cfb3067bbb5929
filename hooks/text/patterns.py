"""Regular expressions of template authors, in bounded time.

Python's ``re`` cannot be interrupted and holds every thread while it searches, so one bad pattern
would stop the engine. ``re`` compiles, since its verdict on a malformed pattern is the one that
Heat gives; the ``regex`` package matches, since it takes a timeout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_SHOWN = 60

#: The largest size of a pattern with its repetitions written out, as ``regex`` compiles them.
_LARGEST = 100_000

#: The longest run of plain characters: preparing a search for them takes ``regex``
#: time that grows with the third power, and no timeout ends it.
_LONGEST_RUN = 500

_ENDS_A_RUN = frozenset((*"|.*+?", *(f"\\{kind}" for kind in "dDsSwW")))

_PARTS = r"""(?sx)\\.                              # one character, escaped
    | \[\^?\]?(?:\\.|[^\]\\])*\]?        # a set of characters
    | \((?:\?[^()]*?[:=!>])?             # a group begins
    | \{(?P<least>\d*)(?:,\d*)?\}       # so many times
    | ."""


def full_match(pattern: str, text: str, seconds: float) -> bool:
    """Whether ``pattern`` matches all of ``text``, by Heat's rule.

    Heat asks for a match at the beginning and then compares lengths, so alternatives are not
    retried: ``a|ab`` does not match ``ab``. Raises ValueError for a malformed pattern and where
    matching takes longer than ``seconds``.
    """
    try:
        found = compile_pattern(pattern).match(text, timeout=seconds)
    except TimeoutError as error:
        raise ValueError(
            f"matching the pattern {_shorten(pattern)} took longer than {seconds:g} seconds"
        ) from error
    return found is not None and found.end() == len(text)


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, flags: int = 0) -> Any:
    """``pattern`` for the ``regex`` package, whose searches take a timeout.

    Raises ValueError for what is malformed, or so large that compiling would take too long:
    compiling cannot be interrupted.
    """
    import regex  # 30 ms that a template without patterns need not spend

    try:
        re.compile(pattern, flags)
        if _estimate_size(pattern) > _LARGEST or _find_longest_run(pattern) > _LONGEST_RUN:
            raise ValueError(f"the pattern {_shorten(pattern)} is too large")
        return regex.compile(pattern, flags | regex.VERSION0)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the pattern {_shorten(pattern)} is malformed: {error}") from error


def _estimate_size(pattern: str) -> int:
    """About how many parts ``pattern`` has when what is repeated stands there so many times."""
    outer: list[tuple[int, int]] = []
    total = last = 0
    for kind, least in _split_parts(pattern):
        if kind[0] == "(":
            outer.append((total, last))
            total = last = 0
        elif kind == ")" and outer:
            inside = total + last
            total, last = outer.pop()
            total, last = total + last, inside + 1
        elif least:
            last *= least + 1
        else:
            total, last = total + last, 1
    return total + last + sum(map(sum, outer))


def _find_longest_run(pattern: str) -> int:
    """The length of the longest stretch of plain characters; groups do not end one."""
    longest = run = 0
    for text, least in _split_parts(pattern):
        if text in _ENDS_A_RUN or least or (text[0] == "[" and len(text) > len("[^a]")):
            run = 0
        elif text[0] not in "()":
            run += 1
            longest = max(longest, run)
    return longest


def _split_parts(pattern: str) -> Iterator[tuple[str, int]]:
    """The parts of a pattern, each with the number of times that it repeats the one before."""
    for part in re.finditer(_PARTS, pattern):
        text = part[0]
        yield text, 1 if text == "+" else int(part["least"] or 0)


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
