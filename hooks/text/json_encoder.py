"""JSON encoders that are made once: ``json.dumps`` makes its inner one anew for every value.

What they write is what ``json.dumps`` writes, or what every reader takes (``strict``). A value that
holds itself raises RecursionError.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from json import encoder as parts
from typing import Any


def make_encoder(
    *,
    sort_keys: bool = False,
    separators: tuple[str, str] = (", ", ": "),
    default: Callable[[Any], Any] | None = None,
    strict: bool = False,
) -> Callable[[Any], str]:
    """A function from values to texts; the arguments are those of ``json.dumps``.

    ``strict``: numbers that JSON has not become texts, see ``spell_out_numbers``.
    """
    made = json.JSONEncoder(sort_keys=sort_keys, separators=separators, default=default)
    inner: Any = getattr(parts, "c_make_encoder", None)
    if inner is None:  # a Python without the part that is written in C
        return (lambda value: made.encode(spell_out_numbers(value))) if strict else made.encode
    item, key = separators
    chunks = inner(
        None,
        made.default,
        parts.encode_basestring_ascii,
        None,
        key,
        item,
        sort_keys,
        False,
        not strict,
    )

    def encode(value: Any) -> str:
        try:
            return "".join(chunks(value, 0))
        except ValueError:  # such a number is rare: nothing is looked through for it
            if not strict:
                raise
            return "".join(chunks(spell_out_numbers(value), 0))

    return encode


def spell_out_numbers(value: Any) -> Any:
    """``value`` with NaN and the infinities, which no JSON has, as texts: ``nan``, ``-inf``."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {spell_out_numbers(key): spell_out_numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [spell_out_numbers(each) for each in value]
    return value
