"""The section ``zonda: drift:`` of environments: its faults and its normal form.

::

    zonda:
      drift:
        schedule: 15m
        policy: report
        ignore:
          - {resource: web, property: tags, until: 2027-01-01, reason: set by the autoscaler}

Called by ``zonda_section``. A later environment wins, key by key; its ``ignore`` is the whole list.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, UsageError

from ..source.diagnostics import format_type_name

DRIFT = "drift"
SCHEDULE, POLICY, IGNORE = "schedule", "policy", "ignore"
OFF, REPORT, REPAIR = "OFF", "report", "repair"
POLICIES = (REPORT, REPAIR)
_KEYS = (SCHEDULE, POLICY, IGNORE)
RESOURCE, PROPERTY, UNTIL, REASON = "resource", "property", "until", "reason"
_OF_IGNORE = (RESOURCE, PROPERTY, UNTIL, REASON)

#: ``30d``: so long from now on.
_SPAN = r"([0-9]{1,6})([mhdw])"
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
#: A span is shorter (3,000 years), so that its end can be written as a date.
_LONGEST = 100_000_000_000
#: The years 1 to 9999 in UTC: no other time can be written as a date.
_FIRST, _BEHIND = -62_135_596_800.0, 253_402_300_800.0

#: A message, the path of the faulty part, and a hint.
Fault = tuple[str, Path, str]


def find_faults(value: Any, at: Path) -> Iterator[Fault]:
    """Yield the faults of the section."""
    if not isinstance(value, Mapping):
        yield f"must be a map, not a {format_type_name(value)}", at, f"Give {', '.join(_KEYS)}."
        return
    for key, said in value.items():
        here = (*at, key)
        if key not in _KEYS:
            yield f"{key!r} is not known here", here, f"Give {', '.join(_KEYS)}."
        elif said is not None:
            yield from _FAULTS[key](said, here)


def normalize_section(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """Normalize a section without faults; null takes back what was said before."""
    found = dict(value or {})
    if found.get(SCHEDULE) is not None:
        found[SCHEDULE] = _format_schedule(found[SCHEDULE])
    if found.get(POLICY) is not None:
        found[POLICY] = _format_policy(found[POLICY])
    if found.get(IGNORE) is not None:
        found[IGNORE] = [_normalize_exception(each) for each in found[IGNORE]]
    return found


def parse_moment(value: Any) -> float | None:
    """Seconds since the epoch of a date or a time (UTC unless it says otherwise), as text or as
    YAML reads it; None for anything else, and outside of the years 1 to 9999 in UTC.
    """
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime.datetime):
        return None
    at = (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
    return at if _FIRST <= at < _BEHIND else None


def parse_end(text: str, now: float) -> float | None:
    """Parse a date, a time, or a span from ``now`` on to epoch seconds; None for others."""
    span = re.fullmatch(_SPAN, text.strip())
    if span is None:
        return parse_moment(text)
    seconds = int(span[1]) * _SECONDS[span[2]]
    return now + seconds if 0 < seconds < _LONGEST else None


def _format_schedule(value: Any) -> str:
    if value is False:
        return "off"  # what YAML makes of off
    return str(value).strip()


def _format_policy(value: Any) -> str:
    return "off" if value is False else str(value)


def _normalize_exception(said: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: str(said[key]) for key in (RESOURCE, PROPERTY, REASON) if said.get(key)}
    end = said.get(UNTIL)
    return found if end is None else {**found, UNTIL: _as_text(end)}


def _as_text(end: Any) -> str:
    """The end of an exception as text that can be parsed again; a span stays a span."""
    at = parse_moment(end)
    if at is None:
        return str(end).strip()
    return datetime.datetime.fromtimestamp(at, datetime.UTC).isoformat()


def _is_end(value: Any) -> bool:
    return parse_moment(value) is not None or (
        isinstance(value, str) and parse_end(value, 0.0) is not None
    )


def _find_schedule_faults(value: Any, at: Path) -> Iterator[Fault]:
    from .schedules import HINT, parse_schedule  # few environments have any

    if isinstance(value, bool | Mapping | list) and value is not False:
        yield f"must be a schedule, not a {format_type_name(value)}", at, HINT
        return
    text = _format_schedule(value)
    if text != "off":
        try:
            parse_schedule(text)
        except UsageError as error:
            yield error.message.rstrip("."), at, error.hint


def _find_policy_faults(value: Any, at: Path) -> Iterator[Fault]:
    if _format_policy(value) not in (*POLICIES, "off"):
        yield f"{value!r} is no policy", at, f"Give one of {', '.join(POLICIES)}, off."


def _find_ignore_faults(value: Any, at: Path) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield (
            f"must be a list, not a {format_type_name(value)}",
            at,
            f"Each has {', '.join(_OF_IGNORE)}.",
        )
        return
    for index, said in enumerate(value):
        yield from _find_exception_faults(said, (*at, index))


def _find_exception_faults(said: Any, at: Path) -> Iterator[Fault]:
    if not isinstance(said, Mapping) or not said.get(RESOURCE):
        hint = f"Give a map of {', '.join(_OF_IGNORE)}; {RESOURCE} is needed."
        yield "names no resource", at, hint
        return
    for key, value in said.items():
        here = (*at, key)
        if key not in _OF_IGNORE:
            yield f"{key!r} is not known here", here, f"Give {', '.join(_OF_IGNORE)}."
        elif key == UNTIL:
            if value is not None and not _is_end(value):
                hint = "Give 2027-01-31, 2027-01-31T12:00:00Z or 30d."
                yield f"{value!r} is no date of the years 1 to 9999", here, hint
        elif value is not None and not isinstance(value, str):
            yield f"must be text, not a {format_type_name(value)}", here, ""


_FAULTS = {
    SCHEDULE: _find_schedule_faults,
    POLICY: _find_policy_faults,
    IGNORE: _find_ignore_faults,
}
