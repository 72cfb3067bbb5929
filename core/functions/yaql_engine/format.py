"""The function ``format`` of yaql, which yaql 3 lacks and templates call: ``"{0}".format(x)``.

Registered by ``engine``. Fields name values and nothing inside them, so that no expression can
reach what an object of Python holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import Any

from yaql.language import exceptions, specs, utils, yaqltypes

_NUMBER = re.compile(r"[0-9]+")
#: The widest field, and the most digits.
_WIDEST = 1000
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"s": str, "r": repr, "a": ascii}


def register(context: Any) -> None:
    """Register ``format`` in a context."""
    context.register_function(_format, name="format", method=True)


@specs.parameter("__text", yaqltypes.String())  # type: ignore[untyped-decorator]
@specs.inject("__engine", yaqltypes.Engine())  # type: ignore[untyped-decorator]
def _format(__engine: Any, __text: str, *args: Any, **kwargs: Any) -> str:
    return format_text(__text, args, kwargs, utils.get_memory_quota(__engine))


def format_text(text: str, args: Sequence[Any], named: Mapping[str, Any], most: int) -> str:
    """Fill in the fields of ``text``; at most ``most`` characters.

    Raises ValueError for a malformed text, IndexError and KeyError for a value that is not there.
    """
    pieces: list[str] = []
    size, following = 0, iter(range(len(args) + 1))
    for literal, field, spec, conversion in Formatter().parse(text):
        pieces.append(literal)
        if field is not None:
            field = field or str(next(following, len(args)))
            pieces.append(_format_field(_find_value(field, args, named), spec or "", conversion))
        size += sum(map(len, pieces[-2:]))
        if size > most:
            raise exceptions.MemoryQuotaExceededException
    return "".join(pieces)


def _find_value(field: str, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    if field.isdigit():
        if int(field) >= len(args):
            raise IndexError(f"format has no value number {field}")
        return args[int(field)]
    if not field.isidentifier():
        raise ValueError(f"format takes names and numbers, not {{{field}}}")
    if field not in named:
        raise KeyError(f"format has no value {field}")
    return named[field]


def _format_field(value: Any, spec: str, conversion: str | None) -> str:
    if "{" in spec or any(int(number) > _WIDEST for number in _NUMBER.findall(spec)):
        raise ValueError(f"format cannot have the layout {spec!r}")
    return format(_CONVERSIONS[conversion](value) if conversion else value, spec)
