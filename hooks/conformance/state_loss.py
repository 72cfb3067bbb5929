"""What a type does with its state that goes wrong without an error: found while it lives."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

from ..resources.resource import Resource

#: Characters of a physical id; the rest is cut off.
LONGEST_ID: Final = 255


def of_id(value: object) -> str:
    """What is odd about a physical id; empty where nothing is."""
    if value is not None and len(str(value)) > LONGEST_ID:
        return f"the physical id has {len(str(value))} characters, and {LONGEST_ID} are kept"
    return ""


def of_data(key: object, value: object) -> str:
    """What is odd about an entry of ``data_set``."""
    if isinstance(value, dict | list | tuple | set | frozenset | bytes):
        kind = type(value).__name__
        return f"data_set({key!r}) is given a {kind}, and keeps its repr: store json.dumps(value)"
    return ""


def of_token(action: str, token: object) -> str:
    """What is odd about what a handler has given."""
    try:
        json.dumps(token, allow_nan=False)
    except (TypeError, RecursionError):
        return ""  # the rule about restarts tells what becomes of it
    except ValueError:
        return f"the token of {action} holds a number that JSON has not (NaN, Infinity), or itself"
    return ""


class ClassState:
    """The containers that stand in the body of a class: a restart makes them what they were."""

    def __init__(self, cls: type[Resource]) -> None:
        self._then = [
            (owner, name, value, copy.copy(value)) for owner, name, value in _containers(cls)
        ]

    def changed(self) -> list[str]:
        """Those that hold something else than at first."""
        return [f"{owner.__name__}.{name}" for owner, name, now, then in self._then if now != then]

    def forget(self) -> None:
        """As after a restart."""
        for _, _, now, then in self._then:
            if now != then:
                _refill(now, then)


def _containers(cls: type[Resource]) -> Iterator[tuple[type[Any], str, Any]]:
    for owner in cls.__mro__:
        if owner in Resource.__mro__:
            continue
        for name, value in vars(owner).items():
            if isinstance(value, dict | list | set):
                yield owner, name, value


def _refill(container: Any, content: Any) -> None:
    container.clear()
    if isinstance(container, list):
        container.extend(content)
    else:
        container.update(content)
