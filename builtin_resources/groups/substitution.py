"""Variables in the values that a group gives its members."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from zonda.hooks import select


def replace_texts(tree: Any, change: Callable[[str], Any]) -> Any:
    """``tree`` with every text among its values changed; keys stay what they are."""
    if isinstance(tree, str):
        return change(tree)
    if isinstance(tree, Mapping):
        return {key: replace_texts(value, change) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [replace_texts(value, change) for value in tree]
    return tree


def remove_nulls(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The properties that have a value."""
    return {key: value for key, value in (given or {}).items() if value is not None}


class Variable:
    """A variable that stands for any value, and for what is inside it.

    ``%value%`` is the value, ``%value.disk.0%`` what it has under ``disk`` first. A text that is
    nothing but the variable becomes the value itself; within a text the value stands as text, and
    what is no text as JSON. What is not there is null, and nothing within a text.
    """

    def __init__(self, name: str) -> None:
        stem = re.sub(r"\W+\Z", "", name) or name
        tail = name[len(stem) :]
        self._pattern = re.compile(
            rf"{re.escape(stem)}(?P<below>(?:\.[\w-]+)*){re.escape(tail)}"
            if tail
            else re.escape(name)
        )

    def substitute(self, text: str, value: Any) -> Any:
        """``text`` with the value in the variable's places."""
        whole = self._pattern.fullmatch(text)
        if whole is not None:
            return self._select_value(whole, value)
        return self._pattern.sub(lambda match: _as_text(self._select_value(match, value)), text)

    @staticmethod
    def _select_value(match: re.Match[str], value: Any) -> Any:
        path = (match.groupdict().get("below") or "").split(".")[1:]
        for key in path:
            index = int(key) if isinstance(value, list) and key.isdigit() else key
            value = select(value, [index])
        return value


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
