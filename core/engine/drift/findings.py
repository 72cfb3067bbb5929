"""The result of one observation of one resource, and how verdicts are combined. Pure data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from zonda.core.store.schema.rows import DriftCheckRow, DriftRow
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, MISSING, UNKNOWN
from zonda.hooks.records import dataclass, field

from ..model.states import FAILED
from .differences import Entry

#: Among the counts of a check: how many are in sync by an exception only.
IGNORED = "IGNORED"


@dataclass(slots=True)
class Found:
    """``fence``: of the row that was looked at. ``diff``: see ``differing``, fit to be shown.

    ``unseen``: what was sent and not observed: properties, or paths inside of them.
    ``live``: what was observed of the properties that differ, secrets and all, for a repair: never
    stored in clear; where nothing differs any more, of those that a repair has failed at.
    ``ignored``: why it counts as in sync, or ''.
    ``wanted``: what the template says of the properties that differ, only while exceptions are
    applied; ``fixed``: those that only a new resource can have otherwise. ``left``: the parts of
    properties that a repair leaves as they are (see ``overlaying``).
    """

    verdict: str
    reason: str = ""
    fence: int = 0
    diff: list[Entry] = field(default_factory=list)
    live: Mapping[str, Any] = field(default_factory=dict, repr=False)
    ignored: str = ""
    unseen: list[str] = field(default_factory=list)
    wanted: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fixed: frozenset[str] = frozenset()
    left: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_reported(self) -> bool:
        """Whether it is reported: it is more than plainly in sync."""
        return self.verdict != IN_SYNC or bool(self.ignored)

    @property
    def is_wrong(self) -> bool:
        """Whether a repair would put something right."""
        return self.verdict == MISSING or bool(self.live)


@dataclass(frozen=True, slots=True)
class Later:
    """Ask again after ``delay`` seconds. ``is_turn``: it was not its turn yet."""

    delay: float
    message: str = ""
    is_turn: bool = False


def make_unknown(reason: str, fence: int) -> Found:
    """The verdict UNKNOWN, for this reason."""
    return Found(UNKNOWN, reason, fence)


def make_owed(row: DriftRow) -> Found:
    """The result for a resource whose repair has failed: the next repair tries again."""
    reason = "a repair was to make it anew"
    ended = "has failed" if row.status == FAILED else "was never begun"
    return Found(MISSING, f"{reason}: its CREATE {ended}", row.fence)


def worst_verdict(verdicts: Iterable[str]) -> str:
    """The verdict of a stack by those of its resources."""
    found = set(verdicts)
    if DRIFTED in found or MISSING in found:
        return DRIFTED if DRIFTED in found else MISSING
    return UNKNOWN if UNKNOWN in found else IN_SYNC


def count_verdicts(all_found: Iterable[Found]) -> dict[str, int]:
    """The number of resources by verdict, and of those in sync by an exception only."""
    counts: Counter[str] = Counter()
    for found in all_found:
        counts[found.verdict] += 1
        if found.verdict == IN_SYNC and found.ignored:
            counts[IGNORED] += 1
    return {key: counts[key] for key in (IN_SYNC, DRIFTED, MISSING, UNKNOWN, IGNORED)}


@dataclass(slots=True, eq=False)
class Check:
    """``found``: what there is so far, by the ids of instances; ``rows`` and ``paths`` likewise.

    ``repairs``: what is wrong is put right once it is complete. ``observer``: who looks.
    """

    row: DriftCheckRow
    repairs: bool = False
    paths: dict[str, str] = field(default_factory=dict)
    rows: dict[str, DriftRow] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)
    observer: Any = None
    left: int = 0
    #: Whether anything may still be found.
    is_open: bool = True
    #: None while it runs, then whether it is complete.
    outcome: bool | None = None

    @property
    def wrong(self) -> dict[str, Found]:
        """The results that a repair would work on, by instance id."""
        return {key: found for key, found in self.found.items() if found.is_wrong}
