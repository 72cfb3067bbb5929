"""The section ``zonda`` of environments: its faults, its normal form, and how two are merged.

Called by ``environment`` for each document. What the section means for one resource is answered
by ``policies``, in which the engine keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zonda.hooks.errors import Path, TemplateError

from ..source.diagnostics import OWN_SECTION, suggestion, type_name
from . import drift_section
from .drift_section import DRIFT

SECTION = "zonda"
TIMEOUTS, RETRIES, PROTECT, RUNNERS = "timeouts", "retries", "protect", "runners"
#: Old names of resources with the new ones.
MOVED = "moved"
#: What may wait at a breakpoint, in Heat's order.
BREAKPOINTS = (
    "pre-create",
    "pre-update",
    "pre-delete",
    "post-create",
    "post-update",
    "post-delete",
)
ACTIONS = (
    "create",
    "update",
    "delete",
    "suspend",
    "resume",
    "check",
    "snapshot",
    "restore",
    "adopt",
)
#: Stands for every action that is not named.
EVERY = "*"
ATTEMPTS, DELAY = "attempts", "delay"
#: Seconds before the second attempt, unless the section says otherwise.
FIRST_DELAY = 1.0
MOST_ATTEMPTS = 1000
LONGEST = 366 * 86400.0

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([smhd]?)\Z")

#: A table of the section: key (name or pattern) -> what is said of it, in normal form.
Table = dict[str, Any]


def faults(own: Any) -> Iterator[TemplateError]:
    """What is wrong with a section; ``at`` leads to it in its document."""
    if not isinstance(own, Mapping):
        return  # a fault of the sections, told by ``environment``
    for part, value in own.items():
        at = (SECTION, part)
        if part not in _PARTS:
            known = ", ".join(_PARTS)
            yield _fault(f"{part!r} is none of {known}", at, suggestion(part, _PARTS))
        elif value is not None:
            yield from _PARTS[part](value, at)


def merged(old: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` (a section without faults) on top of ``old`` (in normal form), in normal form.

    The later one wins, for each key and each action; null takes back what was said before.
    """
    found = {part: dict(table) for part, table in old.items()}
    for part, value in own.items():
        table = found.setdefault(part, {})
        for key, said in _entries(part, value).items():
            if said is None:
                table.pop(key, None)
            elif isinstance(said, dict) and EVERY not in said:
                table[key] = _without_null({**table.get(key, {}), **said})
            else:
                table[key] = said
    return found


def duration(value: Any) -> float | None:
    """Seconds of ``30``, ``30s``, ``10m``, ``2h`` or ``1d``; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        match = _DURATION.match(value) if isinstance(value, str) else None
        if match is None:
            return None
        seconds = float(match[1]) * _UNITS[match[2]]
    return float(seconds) if 0 < seconds <= LONGEST else None


# -- normal form ------------------------------------------------------------------------------


def _entries(part: str, value: Any) -> Table:
    if part == DRIFT:
        return drift_section.normal(value)
    if isinstance(value, list):
        return dict.fromkeys(value, True)
    if part in (PROTECT, RUNNERS, MOVED) or value is None:
        return dict(value or {})
    read = duration if part == TIMEOUTS else _retry
    return {str(key): _of_actions(said, read) for key, said in value.items()}


def _of_actions(said: Any, read: Callable[[Any], Any]) -> Any:
    if isinstance(said, Mapping) and not _is_retry(said):
        return {action: None if each is None else read(each) for action, each in said.items()}
    return None if said is None else {EVERY: read(said)}


def _retry(value: Any) -> list[float]:
    """[attempts in all, seconds before the second one]."""
    if isinstance(value, Mapping):
        return [value.get(ATTEMPTS, 1), duration(value.get(DELAY)) or FIRST_DELAY]
    return [value, FIRST_DELAY]


def _is_retry(value: Any) -> bool:
    return isinstance(value, Mapping) and bool({ATTEMPTS, DELAY} & set(value))


def _without_null(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


# -- faults -----------------------------------------------------------------------------------


def _timeout_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    yield from _table_faults(value, at, (*ACTIONS, *BREAKPOINTS), _duration_faults)


def _retry_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    yield from _table_faults(value, at, ACTIONS, _attempts_faults)


def _table_faults(
    value: Any, at: Path, actions: tuple[str, ...], check: Callable[..., Iterator[TemplateError]]
) -> Iterator[TemplateError]:
    if not isinstance(value, Mapping):
        yield _fault(f"must map resources to values, not be a {type_name(value)}", at)
        return
    for key, said in value.items():
        here = (*at, key)
        if not isinstance(key, str):
            yield _fault("a resource's name or a pattern must be text", here)
        elif not isinstance(said, Mapping) or _is_retry(said):
            yield from check(said, here)
        else:
            for action, each in said.items():
                if action in actions:
                    yield from check(each, (*here, action))
                else:
                    known = ", ".join(actions)
                    hint = suggestion(action, actions) or f"The actions are {known}."
                    yield _fault(f"{action!r} is no action", (*here, action), hint)


def _duration_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if value is not None and duration(value) is None:
        yield _fault(
            f"{_shown(value)} is no time",
            at,
            "Give seconds above 0, or 30s, 10m, 2h, 1d; at most 366d.",
        )


def _attempts_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        value = {ATTEMPTS: value}
    for key, said in value.items():
        if key == DELAY:
            yield from _duration_faults(said, (*at, DELAY))
        elif key != ATTEMPTS:
            hint = suggestion(key, (ATTEMPTS, DELAY)) or f"Give {ATTEMPTS} and {DELAY}."
            yield _fault(f"{key!r} is not known here", (*at, key), hint)
        elif type(said) is not int or not 1 <= said <= MOST_ATTEMPTS:
            text = f"{_shown(said)} is no number of attempts"
            yield _fault(text, at, f"Give a number from 1 (no retry) to {MOST_ATTEMPTS}.")


def _protect_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, str):
                yield _fault("a resource's name or a pattern must be text", (*at, index))
    elif not isinstance(value, Mapping):
        hint = "Give a list of names, or a map of names to true and false."
        yield _fault(f"must be a list or a map, not a {type_name(value)}", at, hint)
    else:
        for key, said in value.items():
            if not isinstance(key, str):
                yield _fault("a resource's name or a pattern must be text", (*at, key))
            elif said is not None and not isinstance(said, bool):
                yield _fault(f"{_shown(said)} is neither true nor false", (*at, key))


def _runner_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if not isinstance(value, Mapping):
        yield _fault(f"must map resources to workflows, not be a {type_name(value)}", at)
        return
    for key, said in value.items():
        if not isinstance(key, str):
            yield _fault("a resource's name or a pattern must be text", (*at, key))
        elif said is not None and not (isinstance(said, str) and said):
            hint = "Give WORKFLOW, RUNNER:WORKFLOW or a URL."
            yield _fault(f"{_shown(said)} is no workflow", (*at, key), hint)


def _moved_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if not isinstance(value, Mapping):
        yield _fault(f"must map old names to new ones, not be a {type_name(value)}", at)
        return
    for old, new in value.items():
        if new is None and isinstance(old, str):
            continue
        if not (isinstance(old, str) and old and isinstance(new, str) and new):
            yield _fault("the names of resources must be text", (*at, old))
        elif not all(f"{old}/{new}".split("/")):
            hint = "What is nested is called OWNER/NAME."
            yield _fault(f"{old!r} cannot become {new!r}: a name is empty", (*at, old), hint)
        elif old in _way(value, new):
            yield _fault(f"{old!r} would become itself again", (*at, old))


def _way(moved: Mapping[str, Any], name: Any) -> list[str]:
    """``name`` and what becomes of it, one after the other; what goes round ends."""
    found: list[str] = []
    while isinstance(name, str) and name not in found:
        found.append(name)
        name = moved.get(name)
    return found


def moved(own: Mapping[str, Any]) -> dict[str, str]:
    """The old names of a section in normal form, with what they are called in the end."""
    table: Mapping[str, Any] = own.get(MOVED, {})
    return {old: _way(table, new)[-1] for old, new in table.items()}


def _drift_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    for message, where, hint in drift_section.faults(value, at):
        yield _fault(message, where, hint)


def _shown(value: Any) -> str:
    return f"a {type_name(value)}" if isinstance(value, dict | list) else repr(value)


def _fault(message: str, at: Path, hint: str = "") -> TemplateError:
    where = ".".join(str(item) for item in at)
    return TemplateError(
        f"{where}: {message}", at=at, code=OWN_SECTION, heat_type="ValueError", hint=hint
    )


_PARTS: dict[str, Callable[[Any, Path], Iterator[TemplateError]]] = {
    TIMEOUTS: _timeout_faults,
    RETRIES: _retry_faults,
    PROTECT: _protect_faults,
    RUNNERS: _runner_faults,
    DRIFT: _drift_faults,
    MOVED: _moved_faults,
}
