"""The section ``zonda`` of environments: its faults, its normal form, and the merge of two.

Called by ``environment`` for each document. What the section means for one resource is answered
by ``policies``, in which the engine keeps it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from zonda.hooks.errors import Path, TemplateError

from ..source.diagnostics import OWN_SECTION, format_type_name, suggestion
from . import drift_section
from .drift_section import DRIFT

SECTION = "zonda"
TIMEOUTS, RETRIES, PROTECT, RUNNERS = "timeouts", "retries", "protect", "runners"
#: Old names of resources with the new ones.
MOVED = "moved"
#: The hooks at which an action may stop, in Heat's order.
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
_DURATION = r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([smhd]?)\Z"

#: A table of the section: key (name or pattern) -> what is said of it, in normal form.
Table = dict[str, Any]


def find_faults(own: Any) -> Iterator[TemplateError]:
    """Yield the faults of a section; ``at`` leads to each of them in its document."""
    if not isinstance(own, Mapping):
        return  # a fault of the sections, told by ``environment``
    for part, value in own.items():
        at = (SECTION, part)
        if part not in _PARTS:
            known = ", ".join(_PARTS)
            yield _make_fault(f"{part!r} is none of {known}", at, suggestion(part, _PARTS))
        elif value is not None:
            yield from _PARTS[part](value, at)


def merge_sections(old: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge ``own`` (a section without faults) into ``old`` (in normal form), in normal form.

    The later one wins, for each key and each action; null takes back what was said before.
    """
    found = {part: dict(table) for part, table in old.items()}
    for part, value in own.items():
        table = found.setdefault(part, {})
        for key, said in _normalize_entries(part, value).items():
            if said is None:
                table.pop(key, None)
            elif isinstance(said, dict) and EVERY not in said:
                merged = {**table.get(key, {}), **said}
                table[key] = {name: each for name, each in merged.items() if each is not None}
            else:
                table[key] = said
    return found


def parse_duration(value: Any) -> float | None:
    """Parse ``30``, ``30s``, ``10m``, ``2h`` or ``1d`` to seconds; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        match = re.match(_DURATION, value) if isinstance(value, str) else None
        if match is None:
            return None
        seconds = float(match[1]) * _UNITS[match[2]]
    return float(seconds) if 0 < seconds <= LONGEST else None


# -- normal form ------------------------------------------------------------------------------


def _normalize_entries(part: str, value: Any) -> Table:
    if part == DRIFT:
        return drift_section.normalize_section(value)
    if isinstance(value, list):
        return dict.fromkeys(value, True)
    if part in (PROTECT, RUNNERS, MOVED) or value is None:
        return dict(value or {})
    read = parse_duration if part == TIMEOUTS else _normalize_retry
    return {str(key): _normalize_actions(said, read) for key, said in value.items()}


def _normalize_actions(said: Any, read: Callable[[Any], Any]) -> Any:
    if isinstance(said, Mapping) and not _is_retry(said):
        return {action: None if each is None else read(each) for action, each in said.items()}
    return None if said is None else {EVERY: read(said)}


def _normalize_retry(value: Any) -> list[float]:
    """[attempts in all, seconds before the second one]."""
    if isinstance(value, Mapping):
        return [value.get(ATTEMPTS, 1), parse_duration(value.get(DELAY)) or FIRST_DELAY]
    return [value, FIRST_DELAY]


def _is_retry(value: Any) -> bool:
    return isinstance(value, Mapping) and bool({ATTEMPTS, DELAY} & set(value))


# -- faults -----------------------------------------------------------------------------------


def _find_table_faults(
    actions: tuple[str, ...],
    check: Callable[[Any, Path], Iterator[TemplateError]],
    value: Any,
    at: Path,
) -> Iterator[TemplateError]:
    if not isinstance(value, Mapping):
        yield _make_fault(f"must map resources to values, not be a {format_type_name(value)}", at)
        return
    for key, said in value.items():
        here = (*at, key)
        if not isinstance(key, str):
            yield _make_fault("a resource's name or a pattern must be text", here)
        elif not isinstance(said, Mapping) or _is_retry(said):
            yield from check(said, here)
        else:
            for action, each in said.items():
                if action in actions:
                    yield from check(each, (*here, action))
                else:
                    known = ", ".join(actions)
                    hint = suggestion(action, actions) or f"The actions are {known}."
                    yield _make_fault(f"{action!r} is no action", (*here, action), hint)


def _find_duration_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if value is not None and parse_duration(value) is None:
        yield _make_fault(
            f"{_format_value(value)} is no time",
            at,
            "Give seconds above 0, or 30s, 10m, 2h, 1d; at most 366d.",
        )


def _find_attempts_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        value = {ATTEMPTS: value}
    for key, said in value.items():
        if key == DELAY:
            yield from _find_duration_faults(said, (*at, DELAY))
        elif key != ATTEMPTS:
            hint = suggestion(key, (ATTEMPTS, DELAY)) or f"Give {ATTEMPTS} and {DELAY}."
            yield _make_fault(f"{key!r} is not known here", (*at, key), hint)
        elif type(said) is not int or not 1 <= said <= MOST_ATTEMPTS:
            text = f"{_format_value(said)} is no number of attempts"
            yield _make_fault(text, at, f"Give a number from 1 (no retry) to {MOST_ATTEMPTS}.")


def _find_protect_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, str):
                yield _make_fault("a resource's name or a pattern must be text", (*at, index))
    elif not isinstance(value, Mapping):
        hint = "Give a list of names, or a map of names to true and false."
        yield _make_fault(f"must be a list or a map, not a {format_type_name(value)}", at, hint)
    else:
        for key, said in value.items():
            if not isinstance(key, str):
                yield _make_fault("a resource's name or a pattern must be text", (*at, key))
            elif said is not None and not isinstance(said, bool):
                yield _make_fault(f"{_format_value(said)} is neither true nor false", (*at, key))


def _find_runner_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if not isinstance(value, Mapping):
        yield _make_fault(
            f"must map resources to workflows, not be a {format_type_name(value)}", at
        )
        return
    for key, said in value.items():
        if not isinstance(key, str):
            yield _make_fault("a resource's name or a pattern must be text", (*at, key))
        elif said is not None and not (isinstance(said, str) and said):
            hint = "Give WORKFLOW, RUNNER:WORKFLOW or a URL."
            yield _make_fault(f"{_format_value(said)} is no workflow", (*at, key), hint)


def _find_moved_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    if not isinstance(value, Mapping):
        yield _make_fault(f"must map old names to new ones, not be a {format_type_name(value)}", at)
        return
    for old, new in value.items():
        if new is None and isinstance(old, str):
            continue
        if not (isinstance(old, str) and old and isinstance(new, str) and new):
            yield _make_fault("the names of resources must be text", (*at, old))
        elif not all(f"{old}/{new}".split("/")):
            hint = "What is nested is called OWNER/NAME."
            yield _make_fault(f"{old!r} cannot become {new!r}: a name is empty", (*at, old), hint)
        elif old in _follow_moves(value, new):
            yield _make_fault(f"{old!r} would become itself again", (*at, old))


def _follow_moves(moved: Mapping[str, Any], name: Any) -> list[str]:
    """Follow the moves of ``name``: all its names, one after the other; a circle ends."""
    found: list[str] = []
    while isinstance(name, str) and name not in found:
        found.append(name)
        name = moved.get(name)
    return found


def resolve_moves(own: Mapping[str, Any]) -> dict[str, str]:
    """Resolve the moves of a section in normal form: each old name with its final name."""
    table: Mapping[str, Any] = own.get(MOVED, {})
    return {old: _follow_moves(table, new)[-1] for old, new in table.items()}


def _find_drift_faults(value: Any, at: Path) -> Iterator[TemplateError]:
    for message, where, hint in drift_section.find_faults(value, at):
        yield _make_fault(message, where, hint)


def _format_value(value: Any) -> str:
    return f"a {format_type_name(value)}" if isinstance(value, dict | list) else repr(value)


def _make_fault(message: str, at: Path, hint: str = "") -> TemplateError:
    where = ".".join(str(item) for item in at)
    return TemplateError(
        f"{where}: {message}", at=at, code=OWN_SECTION, heat_type="ValueError", hint=hint
    )


_PARTS: dict[str, Callable[[Any, Path], Iterator[TemplateError]]] = {
    TIMEOUTS: partial(_find_table_faults, (*ACTIONS, *BREAKPOINTS), _find_duration_faults),
    RETRIES: partial(_find_table_faults, ACTIONS, _find_attempts_faults),
    PROTECT: _find_protect_faults,
    RUNNERS: _find_runner_faults,
    DRIFT: _find_drift_faults,
    MOVED: _find_moved_faults,
}
