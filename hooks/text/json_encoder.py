"""JSON encoders that are made once: ``json.dumps`` makes its inner one anew for every value.

What they write is what ``json.dumps`` writes. A value that holds itself raises RecursionError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json import encoder as parts
from typing import Any


def make_encoder(
    *,
    sort_keys: bool = False,
    separators: tuple[str, str] = (", ", ": "),
    default: Callable[[Any], Any] | None = None,
) -> Callable[[Any], str]:
    """A function from values to texts; the arguments are those of ``json.dumps``."""
    made = json.JSONEncoder(sort_keys=sort_keys, separators=separators, default=default)
    inner: Any = getattr(parts, "c_make_encoder", None)
    if inner is None:  # a Python without the part that is written in C
        return made.encode
    item, key = separators
    chunks = inner(
        None, made.default, parts.encode_basestring_ascii, None, key, item, sort_keys, False, True
    )

    def encode(value: Any) -> str:
        return "".join(chunks(value, 0))

    return encode
