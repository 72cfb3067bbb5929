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
from .console import mark_colour

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
    """Return a check as data for programs."""
    return {
        "id": check.id,
        "stack_name": stack_name,
        "stack_id": check.stack_id,
        "generation": check.generation,
        "cause": check.cause,
        "by": check.by,
        "scope": list(check.scope),
        "started_at": formats.format_time(check.started_at),
        "ended_at": formats.format_time(check.ended_at),
        "status": check.status,
        "status_reason": check.reason,
        "verdict": check.verdict,
        "counts": dict(check.counts),
    }


def finding_as_data(finding: DriftFindingView) -> dict[str, Any]:
    """Return the finding about one resource as data for programs."""
    return {
        "resource": finding.path,
        "resource_type": finding.type,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "ignored": finding.ignored,
        "differences": [_difference_as_data(each) for each in finding.differences],
    }


def verdict_as_data(now: DriftNowView) -> dict[str, Any]:
    """Return the newest verdict on one resource as data for programs."""
    finding = now.finding
    found = {} if finding is None else finding_as_data(finding)
    return {
        "resource": now.path,
        "resource_type": now.type,
        "verdict": now.verdict,
        "checked_at": formats.format_time(now.checked_at),
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


def colour_verdict(text: str, paint: Paint = mark_colour) -> str:
    """Colour a verdict."""
    return paint(text, _COLOURS[text]) if text in _COLOURS else text


def format_counts(counts: Mapping[str, int]) -> str:
    """Format ``1 DRIFTED, 4 IN_SYNC``: the worst first."""
    return ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts.get(name))


def format_check(
    check: DriftCheckView,
    findings: Iterable[DriftFindingView],
    name: str,
    paint: Paint = mark_colour,
) -> Iterator[str]:
    """Format an ended check as lines, the worst finding first."""
    told = colour_verdict(check.verdict, paint) if check.verdict else paint(check.status, "red")
    where = f" ({', '.join(check.scope)})" if check.scope else ""
    counts = format_counts(check.counts) or "no resources"
    yield f"Stack {sanitize.sanitize_line(name)}{sanitize.sanitize_line(where)}: {told}: {counts}"
    if check.reason:
        yield f"  {sanitize.sanitize_line(check.reason)}"
    for finding in sorted(findings, key=_rank_finding):
        yield from format_finding(finding, paint)


def _rank_finding(finding: DriftFindingView) -> tuple[int, str]:
    return _ORDER.index(finding.verdict), finding.path


def format_finding(finding: DriftFindingView, paint: Paint = mark_colour) -> Iterator[str]:
    """Format the finding about one resource, and a line for each property."""
    head = IGNORED if finding.ignored else finding.verdict
    shown = finding.verdict == DRIFTED and finding.differences  # says it all
    reason = finding.ignored or ("" if shown else finding.reason)
    line = (
        f"  {_pad_verdict(head, paint)} {sanitize.sanitize_line(finding.path)} "
        f"({sanitize.sanitize_line(finding.type)})"
    )
    yield f"{line}: {sanitize.sanitize_line(reason)}" if reason else line
    for each in finding.differences:
        yield f"      {_format_difference(each)}"
    for note in finding.notes:
        yield f"      {sanitize.sanitize_line(note)}"


def _pad_verdict(text: str, paint: Paint) -> str:
    return colour_verdict(text, paint) + " " * (_WIDTH - len(text))


def _format_difference(each: Difference) -> str:
    name = sanitize.sanitize_line(show_path(each.path))
    if each.hidden:
        shown = f"{name}: differs (hidden)"
    else:
        shown = f"{name}: {_format_value(each.template)} -> {_format_value(each.live)}"
    return f"{shown}  (ignored: {sanitize.sanitize_line(each.ignored)})" if each.ignored else shown


def _format_value(value: Any) -> str:
    text = sanitize.sanitize_line(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def format_verdicts(now: Iterable[DriftNowView]) -> Iterator[str]:
    """Format the newest verdicts, a line for each resource, followed by its differences."""
    for each in now:
        if each.finding is not None:
            yield from format_finding(each.finding)
        else:
            head = _pad_verdict(each.verdict, mark_colour)
            yield (
                f"  {head} {sanitize.sanitize_line(each.path)} "
                f"({sanitize.sanitize_line(each.type)})"
            )
        if each.unseen:
            yield f"      not observed: {sanitize.sanitize_line(', '.join(each.unseen))}"
