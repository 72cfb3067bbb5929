"""Regular expressions of template authors, in bounded time.

Python's ``re`` cannot be interrupted and holds every thread while it searches, so one bad pattern
would stop the engine. ``re`` compiles, since its verdict on a malformed pattern is the one that
Heat gives; the ``regex`` package matches, since it takes a timeout.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_SHOWN = 60


def full_match(pattern: str, text: str, seconds: float) -> bool:
    """Whether ``pattern`` matches all of ``text``, by Heat's rule.

    Heat asks for a match at the beginning and then compares lengths, so alternatives are not
    retried: ``a|ab`` does not match ``ab``. Raises ValueError for a malformed pattern and where
    matching takes longer than ``seconds``.
    """
    compiled = _compiled(pattern)
    try:
        found = compiled.match(text, timeout=seconds)
    except TimeoutError as error:
        raise ValueError(
            f"matching the pattern {_short(pattern)} took longer than {seconds:g} seconds"
        ) from error
    return found is not None and found.end() == len(text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    import regex  # 30 ms that a template without patterns need not spend

    try:
        re.compile(pattern)
        return regex.compile(pattern, regex.VERSION0)
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the pattern {_short(pattern)} is malformed: {error}") from error


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
