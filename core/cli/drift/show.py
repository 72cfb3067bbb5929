"""``zonda stack drift show`` and ``drift history``: findings of checks. Reads only."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from zonda.core.reports.drift import find_worst
from zonda.core.store.read.drift_views import DriftCheckView, DriftNowView
from zonda.core.store.read.views import StackView
from zonda.core.store.schema.words import DRIFTED, IN_SYNC, MISSING, UNKNOWN
from zonda.hooks.errors import NotFound
from zonda.hooks.text.suggestions import suggestion

from ..arguments import LIMIT, STACK, argument, takes
from ..console import drift, formats
from ..console.formats import format_duration
from ..options.nested import find_root_stack, resolve_scope
from ..session import Session
from .check_repair import show_check

COLUMNS = (
    *("ID", "Started", "Took", "Cause", "By", "Status", "Verdict"),
    *("In Sync", "Drifted", "Missing", "Unknown", "Ignored", "Scope", "Reason"),
)
#: Of the newest verdicts, and of what one check has found.
NOW_COLUMNS = (
    *("resource", "resource_type", "verdict", "checked_at", "reason", "ignored"),
    *("differences", "not_observed"),
)
SPARE = ("ID", "By", "Status", "Took", "Cause", "Ignored")


@takes(
    STACK,
    argument("resource", metavar="RESOURCE", nargs="?", help="name, or OWNER/NAME of a nested one"),
    argument("--check", metavar="ID", help="what this check of 'drift history' found"),
    argument(
        "--detailed-exitcode",
        action="store_true",
        help="exit with 0 in sync, 3 drifted or missing, 4 unknown or not checked",
    ),
    formats.add_arguments,
)
def show(session: Session, arguments: argparse.Namespace) -> int:
    """Show the newest verdict on each resource, and the differences."""
    given = [] if arguments.resource is None else [arguments.resource]
    stack, wanted = resolve_scope(session, arguments.stack, given)
    arguments.resource = wanted[0] if wanted else None
    if arguments.check:
        found = _find_check(session, stack, arguments.check)
        if _is_text(arguments):
            show_check(session, arguments.format, stack, found)
        else:
            findings = session.app.reader.drift_findings(found.id)
            _show_rows(session, arguments, map(drift.finding_as_data, findings))
        verdict = found.verdict or UNKNOWN
    else:
        now = _filter_verdicts(session.app.reader.drift_now(stack.id), arguments.resource)
        _show_verdicts(session, arguments, stack, now)
        verdict = find_worst(now)
    return drift.EXIT_OF_VERDICT[verdict] if arguments.detailed_exitcode else 0


def _is_text(arguments: argparse.Namespace) -> bool:
    """Whether everything is shown in one piece, not as a list with columns to choose."""
    return arguments.format in formats.TEXT and not arguments.column


def _show_rows(
    session: Session, arguments: argparse.Namespace, found: Iterable[Mapping[str, Any]]
) -> None:
    rows = [[each.get(name) for name in NOW_COLUMNS] for each in found]
    session.show_rows(arguments, NOW_COLUMNS, rows)


def _find_check(session: Session, stack: StackView, name: str) -> DriftCheckView:
    """Find a check of a stack by its id, or the beginning of it."""
    found = session.app.reader.drift_checks_from(stack.id, name)
    if len(found) != 1:
        hint = f"'zonda stack drift history {stack.name}' lists them."
        raise NotFound("drift check", name, hint=hint)
    return found[0]


def _filter_verdicts(now: list[DriftNowView], name: str | None) -> list[DriftNowView]:
    """Return the verdicts of one resource with its nested ones, or all; raises NotFound."""
    if name is None:
        return now
    found = [each for each in now if each.path == name or each.path.startswith(f"{name}/")]
    if not found:
        raise NotFound("Resource", name, hint=suggestion(name, [each.path for each in now]))
    return found


def _show_verdicts(
    session: Session, arguments: argparse.Namespace, stack: StackView, now: list[DriftNowView]
) -> None:
    counts = Counter(each.verdict for each in now)
    checks = session.app.reader.drift_checks(stack.id, 1)
    screen = session.screen
    if not _is_text(arguments):
        _show_rows(session, arguments, map(drift.verdict_as_data, now))
        return
    if arguments.format != "table":
        shown = _as_data(stack, now, counts, checks)
        formats.write_data(screen.out, arguments.format, shown)
        return
    verdict = drift.colour_verdict(find_worst(now))
    screen.draw(f"Stack {stack.name}: {verdict}: {drift.format_counts(counts) or 'no resources'}")
    if checks:
        started = formats.format_time(checks[0].started_at)
        screen.draw(f"  last check: {started}, {checks[0].cause}, {checks[0].status}")
    else:
        screen.draw(f"  never checked: 'zonda stack drift check {stack.name}'")
    quiet = arguments.resource is None
    told = [each for each in now if not quiet or each.finding is not None]
    for line in drift.format_verdicts(told):
        screen.draw(line)


def _as_data(
    stack: StackView, now: list[DriftNowView], counts: Counter[str], checks: list[DriftCheckView]
) -> dict[str, Any]:
    return {
        "stack_name": stack.name,
        "stack_id": stack.id,
        "verdict": find_worst(now),
        "counts": dict(counts),
        "last_check": drift.check_as_data(checks[0], stack.name) if checks else None,
        "resources": [drift.verdict_as_data(each) for each in now],
    }


@takes(STACK, LIMIT, formats.add_arguments)
def history(session: Session, arguments: argparse.Namespace) -> None:
    """Show one row for each check, the oldest first."""
    stack = find_root_stack(session, arguments.stack)
    limit = -1 if arguments.limit is None else max(arguments.limit, 0)
    found = list(reversed(session.app.reader.drift_checks(stack.id, limit)))
    if arguments.format in ("json", "yaml") and not arguments.column:
        shown = [drift.check_as_data(each, stack.name) for each in found]
        formats.write_data(session.screen.out, arguments.format, shown)
        return
    now = session.app.clock.now()
    rows = [_build_row(each, now) for each in found]
    session.show_rows(arguments, COLUMNS, rows, SPARE)


def _build_row(check: DriftCheckView, now: float) -> tuple[Any, ...]:
    counts = check.counts
    return (
        check.id,
        formats.format_time(check.started_at),
        format_duration((now if check.ended_at is None else check.ended_at) - check.started_at),
        check.cause,
        check.by,
        check.status,
        check.verdict,
        *(counts.get(name, 0) for name in (IN_SYNC, DRIFTED, MISSING, UNKNOWN, drift.IGNORED)),
        ", ".join(check.scope),
        check.reason,
    )
