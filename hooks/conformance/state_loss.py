"""Faults in how a type keeps its state that raise no error: detected while it lives."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, Final

from ..resources.resource import Resource

#: Characters of a physical id; the rest is cut off.
LONGEST_ID: Final = 255


def find_id_fault(value: object) -> str:
    """The fault of a physical id; empty where there is none."""
    if value is not None and len(str(value)) > LONGEST_ID:
        return f"the physical id has {len(str(value))} characters, and {LONGEST_ID} are kept"
    return ""


def find_data_fault(key: object, value: object) -> str:
    """The fault of an entry of ``data_set``; empty where there is none."""
    if isinstance(value, dict | list | tuple | set | frozenset | bytes):
        kind = type(value).__name__
        return f"data_set({key!r}) is given a {kind}, and keeps its repr: store json.dumps(value)"
    return ""


def find_token_fault(action: str, token: object) -> str:
    """The fault of a token that a handler returned; empty where there is none."""
    try:
        json.dumps(token, allow_nan=False)
    except (TypeError, RecursionError):
        return ""  # the rule about restarts tells what becomes of it
    except ValueError:
        return f"the token of {action} holds a number that JSON has not (NaN, Infinity), or itself"
    return ""


class ClassState:
    """The containers in the body of a class, which a restart resets."""

    def __init__(self, cls: type[Resource]) -> None:
        self._initial_values = [
            (owner, name, value, copy.copy(value)) for owner, name, value in _list_containers(cls)
        ]

    def changed(self) -> list[str]:
        """The names of the containers whose content differs from the first one."""
        return [
            f"{owner.__name__}.{name}"
            for owner, name, now, then in self._initial_values
            if now != then
        ]

    def forget(self) -> None:
        """Restore the first content of each container, as a restart does."""
        for _, _, now, then in self._initial_values:
            if now != then:
                _refill(now, then)


def _list_containers(cls: type[Resource]) -> Iterator[tuple[type[Any], str, Any]]:
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
