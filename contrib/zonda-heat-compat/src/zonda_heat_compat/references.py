"""The resources that a part of a template refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def list_references(part: Any) -> Iterator[str]:
    """The names of resources in ``part``, as ``get_resource``, ``get_attr`` and their kind do."""
    if isinstance(part, list):
        for each in part:
            yield from list_references(each)
    if not isinstance(part, Mapping):
        return
    for key, given in part.items():
        first = given[0] if isinstance(given, list) and given else given
        if len(part) == 1 and isinstance(first, str):
            if key in ("get_resource", "Ref"):
                yield first
            elif key in ("get_attr", "Fn::GetAtt"):
                yield first.partition(".")[0]
        yield from list_references(given)
