"""Exceptions: differences that count as in sync, yet are told. Pure functions over rules."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from zonda.core.store.drift_states import DRIFTED, IN_SYNC
from zonda.core.store.drift_views import DriftIgnoreView

from .differing import dotted
from .found import Found

#: What is said where nobody gave a reason.
NO_REASON = "ignored"


class Exceptions:
    """The exceptions of a stack that count ``now``."""

    def __init__(self, rules: Sequence[DriftIgnoreView], now: float) -> None:
        self._rules = [rule for rule in rules if rule.until is None or now < rule.until]

    def applied(self, path: str, found: Found) -> Found:
        """``found`` of the resource at ``path``, with what is ignored of it marked as that.

        Everything of it is, whatever the verdict, where a rule names no property.
        """
        rules = [rule for rule in self._rules if _is_at(rule, path)]
        if not rules or found.verdict == IN_SYNC:
            return found
        for rule in rules:
            if not rule.property:
                return _in_sync(found, rule)
        if found.verdict != DRIFTED or not found.diff:
            return found  # of what is out of sync as a whole no property can be left out
        last = None
        for entry in found.diff:
            for rule in rules:
                if "ignored" not in entry and _names(rule, dotted(entry)):
                    entry["ignored"] = rule.reason or NO_REASON
                    last = rule
        if last is None or not all("ignored" in entry for entry in found.diff):
            return _without_ignored(found)
        return _in_sync(found, last)


def _in_sync(found: Found, rule: DriftIgnoreView) -> Found:
    for entry in found.diff:
        entry.setdefault("ignored", rule.reason or NO_REASON)
    found.verdict, found.ignored, found.live = IN_SYNC, rule.reason or NO_REASON, {}
    return found


def _without_ignored(found: Found) -> Found:
    """What is left to be repaired: properties of which nothing is ignored.

    A type is given whole properties: what is ignored in one would be overwritten.
    """
    left = {entry["path"][0] for entry in found.diff}
    left -= {entry["path"][0] for entry in found.diff if "ignored" in entry}
    found.live = {name: value for name, value in found.live.items() if name in left}
    return found


def _names(rule: DriftIgnoreView, dotted_path: str) -> bool:
    return dotted_path == rule.property or dotted_path.startswith(f"{rule.property}.")


def _is_at(rule: DriftIgnoreView, path: str) -> bool:
    return path == rule.path or ("*" in rule.path and fnmatchcase(path, rule.path))
