"""Texts that a regular expression matches: for examples in the reference and for ``kit``.

A walk over Python's own parse of the pattern. What it cannot see (look-around, conditions) it
leaves to the caller, who tries every text with the pattern before using it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

#: Characters for a class of them, the plainest first.
_POOL: Final = "a1bcxyz0239ABC-_. /:@,;+=#~!?$%&*()[]{}<>'\"|^`\t\n\\"
_CATEGORIES: Final[dict[str, Callable[[str], bool]]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_NOT_DIGIT": lambda character: not character.isdigit(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda character: not character.isspace(),
    "CATEGORY_WORD": lambda character: character.isalnum() or character == "_",
    "CATEGORY_NOT_WORD": lambda character: not (character.isalnum() or character == "_"),
}
_VARIANTS: Final = 12


def list_texts(pattern: str) -> Iterator[str]:
    """A few different texts that ``pattern`` probably matches."""
    try:
        parsed = importlib.import_module("re._parser").parse(pattern)
    except (re.error, RecursionError, OverflowError):
        return
    seen = set()
    for variant in range(_VARIANTS):
        text = _Writer(variant).write(parsed)
        if text not in seen:
            seen.add(text)
            yield text


class _Writer:
    """Writes one text; ``variant`` decides wherever there is a choice."""

    def __init__(self, variant: int) -> None:
        self._variant = variant
        self._groups: dict[int, str] = {}

    def write(self, parsed: Any) -> str:
        """The text for a sequence of operations."""
        return "".join(self._write_one(str(operation), argument) for operation, argument in parsed)

    def _write_one(self, operation: str, argument: Any) -> str:
        if operation == "LITERAL":
            return chr(argument)
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._write_repeat(*argument)
        if operation == "SUBPATTERN":
            return self._write_group(argument)
        if operation == "BRANCH":
            choices = argument[1]
            return self.write(choices[self._variant % len(choices)])
        if operation in ("ANY", "NOT_LITERAL", "IN"):
            return self._write_character(operation, argument)
        if operation == "ATOMIC_GROUP":
            return self.write(argument)
        return self._groups.get(argument, "") if operation == "GROUPREF" else ""

    def _write_repeat(self, least: int, most: Any, inner: Any) -> str:
        wanted = max(least, min(1, int(most))) + self._variant % 3 * (self._variant // 3)
        times = min(int(most), wanted, least + 64)
        return "".join(self.write(inner) for _ in range(times))

    def _write_group(self, argument: Any) -> str:
        text = self.write(argument[-1])
        if argument[0] is not None:
            self._groups[argument[0]] = text
        return text

    def _write_character(self, operation: str, argument: Any) -> str:
        if operation == "ANY":
            fitting = list(_POOL)
        elif operation == "NOT_LITERAL":
            fitting = [each for each in _POOL if ord(each) != argument]
        else:
            fitting = _list_characters(argument)
        return fitting[self._variant % min(len(fitting), 5)] if fitting else ""


def _list_characters(items: Any) -> list[str]:
    negated = str(items[0][0]) == "NEGATE"
    items = items[1:] if negated else items
    pool = list(_POOL)
    if not negated:  # what a class names itself may stand outside of the pool
        pool += [
            chr(what if str(kind) == "LITERAL" else what[0])
            for kind, what in items
            if str(kind) in ("LITERAL", "RANGE")
        ]
    return [each for each in dict.fromkeys(pool) if _is_in(items, each) != negated]


def _is_in(items: Any, character: str) -> bool:
    for kind, what in items:
        if str(kind) == "LITERAL" and ord(character) == what:
            return True
        if str(kind) == "RANGE" and what[0] <= ord(character) <= what[1]:
            return True
        if str(kind) == "CATEGORY" and _CATEGORIES[str(what)](character):
            return True
    return False
