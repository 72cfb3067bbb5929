"""What an environment says about drift, ``zonda: drift:``: its faults and its normal form.

::

    zonda:
      drift:
        schedule: 15m
        policy: report
        ignore:
          - {resource: web, property: tags, until: 2027-01-01, reason: set by the autoscaler}

Called by ``own_section``. A later environment wins, key by key; its ``ignore`` is the whole list.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, UsageError

from .faults import type_name
from .schedules import HINT, read_schedule

DRIFT = "drift"
SCHEDULE, POLICY, IGNORE = "schedule", "policy", "ignore"
OFF, REPORT, REPAIR = "OFF", "report", "repair"
POLICIES = (REPORT, REPAIR)
_KEYS = (SCHEDULE, POLICY, IGNORE)
RESOURCE, PROPERTY, UNTIL, REASON = "resource", "property", "until", "reason"
_OF_IGNORE = (RESOURCE, PROPERTY, UNTIL, REASON)

#: What is wrong, where, and what to do.
Fault = tuple[str, Path, str]

__all__ = ["OFF", "POLICIES", "REPAIR", "REPORT", "faults", "moment", "normal", "read_schedule"]


def faults(value: Any, at: Path) -> Iterator[Fault]:
    """What is wrong with the section."""
    if not isinstance(value, Mapping):
        yield f"must be a map, not a {type_name(value)}", at, f"Give {', '.join(_KEYS)}."
        return
    for key, said in value.items():
        here = (*at, key)
        if key not in _KEYS:
            yield f"{key!r} is not known here", here, f"Give {', '.join(_KEYS)}."
        elif said is not None:
            yield from _FAULTS[key](said, here)


def normal(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """A section without faults in normal form; null takes back what was said before."""
    found = dict(value or {})
    if found.get(SCHEDULE) is not None:
        found[SCHEDULE] = _schedule(found[SCHEDULE])
    if found.get(POLICY) is not None:
        found[POLICY] = _policy(found[POLICY])
    if found.get(IGNORE) is not None:
        found[IGNORE] = [_exception(each) for each in found[IGNORE]]
    return found


def moment(value: Any) -> float | None:
    """Seconds since the epoch of a date or a time (UTC unless it says otherwise), as text or as
    YAML reads it; None for anything else.
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
    return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()


def _schedule(value: Any) -> str:
    if value is False:
        return "off"  # what YAML makes of off
    return str(value).strip()


def _policy(value: Any) -> str:
    return "off" if value is False else str(value)


def _exception(said: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: str(said[key]) for key in (RESOURCE, PROPERTY, REASON) if said.get(key)}
    until = said.get(UNTIL)
    return found if until is None else {**found, UNTIL: moment(until)}


def _schedule_faults(value: Any, at: Path) -> Iterator[Fault]:
    if isinstance(value, bool | Mapping | list) and value is not False:
        yield f"must be a schedule, not a {type_name(value)}", at, HINT
        return
    text = _schedule(value)
    if text != "off":
        try:
            read_schedule(text)
        except UsageError as error:
            yield error.message.rstrip("."), at, error.hint


def _policy_faults(value: Any, at: Path) -> Iterator[Fault]:
    if _policy(value) not in (*POLICIES, "off"):
        yield f"{value!r} is no policy", at, f"Give one of {', '.join(POLICIES)}, off."


def _ignore_faults(value: Any, at: Path) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield f"must be a list, not a {type_name(value)}", at, f"Each has {', '.join(_OF_IGNORE)}."
        return
    for index, said in enumerate(value):
        yield from _exception_faults(said, (*at, index))


def _exception_faults(said: Any, at: Path) -> Iterator[Fault]:
    if not isinstance(said, Mapping) or not said.get(RESOURCE):
        hint = f"Give a map of {', '.join(_OF_IGNORE)}; {RESOURCE} is needed."
        yield "names no resource", at, hint
        return
    for key, value in said.items():
        here = (*at, key)
        if key not in _OF_IGNORE:
            yield f"{key!r} is not known here", here, f"Give {', '.join(_OF_IGNORE)}."
        elif key == UNTIL:
            if value is not None and moment(value) is None:
                yield f"{value!r} is no date", here, "Give 2027-01-31 or 2027-01-31T12:00:00Z."
        elif value is not None and not isinstance(value, str):
            yield f"must be text, not a {type_name(value)}", here, ""


_FAULTS = {SCHEDULE: _schedule_faults, POLICY: _policy_faults, IGNORE: _ignore_faults}
