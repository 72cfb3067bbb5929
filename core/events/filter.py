"""Event filter of a sink: the entries ``events`` and ``scope`` of its section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from zonda.hooks.events import EventRecord


@dataclass(frozen=True, slots=True)
class EventFilter:
    """``patterns``: of states (``CREATE_FAILED``, ``*_FAILED``) or actions (``DRIFT``).

    ``only_stacks``: nothing of resources, nor of the stacks that are nested in them.
    """

    patterns: tuple[str, ...] = ("*",)
    only_stacks: bool = False

    def __contains__(self, event: EventRecord) -> bool:
        if self.only_stacks and event.path:
            return False
        names = (event.state, event.action)
        return any(fnmatchcase(name, each) for each in self.patterns for name in names)


def parse_filter(section: Mapping[str, Any]) -> EventFilter:
    """Build the filter of a section that was validated."""
    patterns = tuple(each.upper() for each in section.get("events", ())) or ("*",)
    return EventFilter(patterns, section.get("scope", "all") == "stacks")
