"""Drift as text for people and as data for programs. Called by the ``stack drift`` commands."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from zonda.core.store.read.drift_views import (
    Difference,
    DriftCheckView,
    DriftFindingView,
    DriftNowView,
)
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, MISSING, NOT_CHECKED, UNKNOWN
from zonda.hooks.errors import show_path

from . import formats, sanitize
from .console import marked

#: Exit codes, for whoever runs a check by cron.
EXIT_OF_VERDICT = {IN_SYNC: 0, DRIFTED: 3, MISSING: 3, UNKNOWN: 4, NOT_CHECKED: 4}
IGNORED = "IGNORED"
LONGEST = 160
_WIDTH = len(NOT_CHECKED)
#: Gives a text in a colour.
Paint = Callable[[str, str], str]
_COLOURS = {IN_SYNC: "green", DRIFTED: "red", MISSING: "red", UNKNOWN: "yellow"}
_ORDER = (MISSING, DRIFTED, UNKNOWN, NOT_CHECKED, IN_SYNC, IGNORED)


def check_as_data(check: DriftCheckView, stack_name: str) -> dict[str, Any]:
    """A check for programs."""
    return {
        "id": check.id,
        "stack_name": stack_name,
        "stack_id": check.stack_id,
        "generation": check.generation,
        "cause": check.cause,
        "by": check.by,
        "scope": list(check.scope),
        "started_at": formats.moment(check.started_at),
        "ended_at": formats.moment(check.ended_at),
        "status": check.status,
        "status_reason": check.reason,
        "verdict": check.verdict,
        "counts": dict(check.counts),
    }


def finding_as_data(finding: DriftFindingView) -> dict[str, Any]:
    """What was found of one resource, for programs."""
    return {
        "resource": finding.path,
        "resource_type": finding.type,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "ignored": finding.ignored,
        "differences": [_difference_as_data(each) for each in finding.differences],
    }


def now_as_data(now: DriftNowView) -> dict[str, Any]:
    """The newest verdict on one resource, for programs."""
    finding = now.finding
    found = {} if finding is None else finding_as_data(finding)
    return {
        "resource": now.path,
        "resource_type": now.type,
        "verdict": now.verdict,
        "checked_at": formats.moment(now.checked_at),
        "reason": found.get("reason", ""),
        "ignored": found.get("ignored", ""),
        "differences": found.get("differences", []),
        "not_observed": list(now.unseen),
    }


def _difference_as_data(each: Difference) -> dict[str, Any]:
    return {
        "property": show_path(each.path),
        "template": each.template,
        "live": each.live,
        "hidden": each.hidden,
        "ignored": each.ignored,
    }


def verdict(text: str, paint: Paint = marked) -> str:
    """A verdict in its colour."""
    return paint(text, _COLOURS[text]) if text in _COLOURS else text


def counted(counts: Mapping[str, int]) -> str:
    """``1 DRIFTED, 4 IN_SYNC``: the worst first."""
    return ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts.get(name))


def check_lines(
    check: DriftCheckView,
    findings: Iterable[DriftFindingView],
    name: str,
    paint: Paint = marked,
) -> Iterator[str]:
    """A check that has ended, the worst first."""
    told = verdict(check.verdict, paint) if check.verdict else paint(check.status, "red")
    where = f" ({', '.join(check.scope)})" if check.scope else ""
    counts = counted(check.counts) or "no resources"
    yield f"Stack {sanitize.line(name)}{sanitize.line(where)}: {told}: {counts}"
    if check.reason:
        yield f"  {sanitize.line(check.reason)}"
    for finding in sorted(findings, key=_rank):
        yield from finding_lines(finding, paint)


def _rank(finding: DriftFindingView) -> tuple[int, str]:
    return _ORDER.index(finding.verdict), finding.path


def finding_lines(finding: DriftFindingView, paint: Paint = marked) -> Iterator[str]:
    """What was found of one resource, and a line for each property."""
    head = IGNORED if finding.ignored else finding.verdict
    shown = finding.verdict == DRIFTED and finding.differences  # says it all
    reason = finding.ignored or ("" if shown else finding.reason)
    line = f"  {_padded(head, paint)} {sanitize.line(finding.path)} ({sanitize.line(finding.type)})"
    yield f"{line}: {sanitize.line(reason)}" if reason else line
    for each in finding.differences:
        yield f"      {_difference(each)}"
    for note in finding.notes:
        yield f"      {sanitize.line(note)}"


def _padded(text: str, paint: Paint) -> str:
    return verdict(text, paint) + " " * (_WIDTH - len(text))


def _difference(each: Difference) -> str:
    name = sanitize.line(show_path(each.path))
    if each.hidden:
        shown = f"{name}: differs (hidden)"
    else:
        shown = f"{name}: {_value(each.template)} -> {_value(each.live)}"
    return f"{shown}  (ignored: {sanitize.line(each.ignored)})" if each.ignored else shown


def _value(value: Any) -> str:
    text = sanitize.line(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def now_lines(now: Iterable[DriftNowView]) -> Iterator[str]:
    """The newest verdicts, a line for each resource, below it what was found."""
    for each in now:
        if each.finding is not None:
            yield from finding_lines(each.finding)
        else:
            head = _padded(each.verdict, marked)
            yield f"  {head} {sanitize.line(each.path)} ({sanitize.line(each.type)})"
        if each.unseen:
            yield f"      not observed: {sanitize.line(', '.join(each.unseen))}"


def worst(now: Iterable[DriftNowView]) -> str:
    """The verdict of all of them together; NOT_CHECKED is not in sync."""
    found = {each.verdict for each in now}
    order = (DRIFTED, MISSING, UNKNOWN, NOT_CHECKED)
    return next((each for each in order if each in found), IN_SYNC)
