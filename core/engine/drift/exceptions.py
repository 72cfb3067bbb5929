"""Exceptions: differences that count as in sync, yet are reported. Pure functions over rules."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from zonda.core.store.read.drift_views import DriftIgnoreView
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, NOTE
from zonda.hooks.schema.properties import is_same_value

from ..model.exempted_parts import CannotStay, overlay
from .differences import format_path
from .findings import Found

#: The default reason.
NO_REASON = "ignored"
#: The reason for leaving alone a property of which a part is ignored.
_FIXED = "only a new resource can have it otherwise, and that part would be lost"
_SHAPE = "what is there has another shape, in which that part has no place"


class Exceptions:
    """The exceptions of a stack that count ``now``."""

    def __init__(self, rules: Sequence[DriftIgnoreView], now: float) -> None:
        self._rules = [rule for rule in rules if rule.until is None or now < rule.until]

    def apply(self, path: str, found: Found) -> Found:
        """``found`` of the resource at ``path``, with the ignored differences marked.

        Everything of it is, whatever the verdict, where a rule names no property.
        """
        rules = [rule for rule in self._rules if _is_for_path(rule, path)]
        if not rules or found.verdict == IN_SYNC:
            return found
        for rule in rules:
            if not rule.property:
                return _mark_in_sync(found, rule.reason or NO_REASON)
        if found.verdict != DRIFTED or not found.diff:
            return found  # of what is out of sync as a whole no property can be left out
        for name in dict.fromkeys(entry["path"][0] for entry in found.diff):
            mine = [rule for rule in rules if _is_for_property(rule, name)]
            if mine:
                _ignore_property(found, name, mine)
        reasons = [entry.get("ignored") for entry in found.diff]
        return found if None in reasons else _mark_in_sync(found, str(reasons[-1]))


def _mark_in_sync(found: Found, reason: str) -> Found:
    for entry in found.diff:
        entry.setdefault("ignored", reason)
    found.verdict, found.ignored, found.live = IN_SYNC, reason, {}
    return found


def _ignore_property(found: Found, name: str, rules: Sequence[DriftIgnoreView]) -> None:
    """Mark the differences of one property that ``rules`` ignore, so that a repair keeps them.

    A type is given whole properties: what is ignored in one is handed to it as it is there. Where
    that cannot be, the property is not repaired at all.
    """
    entries = [entry for entry in found.diff if entry["path"][0] == name]
    for entry in entries:
        for rule in rules:
            if _names_path(rule, format_path(entry)):
                entry.setdefault("ignored", rule.reason or NO_REASON)
    parts = [rule.property[len(name) + 1 :] for rule in rules]
    wanted, live = found.wanted.get(name), found.live.get(name)
    why = _FIXED if name in found.fixed else ""
    try:
        asked = overlay(wanted, live, parts)
    except CannotStay:
        asked, why = wanted, _SHAPE
    if is_same_value(asked, live):  # so does what is not told, and what was compared as one
        for entry in entries:
            entry.setdefault("ignored", rules[0].reason or NO_REASON)
    elif why and (why == _SHAPE or not is_same_value(asked, wanted)):
        found.reason += f"{NOTE}a repair leaves {name} alone, of which a part is ignored: {why}"
    else:
        found.left[name] = parts
        return
    found.live = {key: value for key, value in found.live.items() if key != name}


def _names_path(rule: DriftIgnoreView, dotted_path: str) -> bool:
    return dotted_path == rule.property or dotted_path.startswith(f"{rule.property}.")


def _is_for_property(rule: DriftIgnoreView, name: str) -> bool:
    """Whether a rule is for a property, or for a part of it."""
    return rule.property == name or rule.property.startswith(f"{name}.")


def _is_for_path(rule: DriftIgnoreView, path: str) -> bool:
    return path == rule.path or ("*" in rule.path and fnmatchcase(path, rule.path))
