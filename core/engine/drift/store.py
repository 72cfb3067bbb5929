"""The stored rows of a check, in transactions: its begin, its end, verdicts and events.

Only tables of drift are written, and events: one for each resource whose verdict is another one
than before, and one for the stack. What changed while it was looked at is not known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from zonda.core.store.schema.rows import DriftCheckRow, DriftFindingRow, DriftRow, StackRow
from zonda.core.store.schema.words import COMPLETE, FAILED, IN_SYNC, UNKNOWN
from zonda.hooks.errors import Conflict

from ..model.unit_of_work import UnitOfWork
from .findings import Check, Found, count_verdicts, make_unknown, worst_verdict

#: The action of events that tell of drift.
DRIFT = "DRIFT"
_AGAIN = "as it was made"


def begin(
    work: UnitOfWork, stack: StackRow, cause: str, by: str, scope: tuple[str, ...]
) -> DriftCheckRow:
    """Store that a check begins; raises Conflict where one is running.

    Raises Foreign where another member of a cluster owns the tree by now.
    """
    work.tx.check_owned(stack.id)
    known = work.tx.drift.running(stack.id)
    if known is not None:
        raise Conflict(
            f"A drift check ({known.id}) of stack {stack.name} is running already.",
            hint=f"Wait for its end, or look at it: 'zonda stack drift show {stack.name}'.",
        )
    row = DriftCheckRow(
        work.ids(),
        stack.id,
        stack.generation,
        cause,
        by,
        json.dumps(list(scope)),
        work.owner,
        started_at=work.now,
    )
    work.tx.drift.add_check(row)
    return row


def read_scope(row: DriftCheckRow) -> tuple[str, ...]:
    """The paths that a check is for; none where it is for the whole stack."""
    return tuple(json.loads(row.scope))


def complete(work: UnitOfWork, check: Check) -> bool:
    """Store the results of a check; False if it has been ended before."""
    row = check.row
    stack = work.tx.stack(row.stack_id)
    if stack is None or stack.deleted_at is not None:
        fail(work, row, "the stack was deleted while it was looked at")
        return False
    work.tx.flush()
    now = {each.id: each for each in work.tx.drift.rows(row.stack_id)}
    found = {key: _recheck(each, now.get(key)) for key, each in check.found.items()}
    before = work.tx.drift.find_previous_check(row)
    counts = conclude(row, found, work.now)
    if not work.tx.drift.end_check(row):
        return False
    check.found = found
    work.tx.drift.add_findings(list_findings(check, found))
    _store_verdicts(work, check, now)
    known = "" if before is None else before.verdict
    if not read_scope(row) and row.verdict != known:
        work.stack_event(stack, DRIFT, row.verdict, _format_summary(counts))
    return True


def conclude(row: DriftCheckRow, found: Mapping[str, Found], now: float) -> dict[str, int]:
    """End a check well with its results; returns the counts."""
    row.ended_at, row.status = now, COMPLETE
    row.verdict = _find_verdict(row, found)
    counts = count_verdicts(found.values())
    row.counts = json.dumps(counts)
    return counts


def list_findings(check: Check, found: Mapping[str, Found]) -> Iterator[DriftFindingRow]:
    """The rows for ``found``: every result that is reported, beyond plain in sync."""
    return (_build_finding(check, key, each) for key, each in found.items() if each.is_reported)


def _find_verdict(row: DriftCheckRow, found: Mapping[str, Found]) -> str:
    if not found and read_scope(row):
        return UNKNOWN  # nothing is left of what was to be looked at
    return worst_verdict(each.verdict for each in found.values())


def _recheck(found: Found, now: DriftRow | None) -> Found:
    if now is None:
        return make_unknown("it has gone while it was looked at", found.fence)
    if found.fence == now.fence:
        return found
    return make_unknown("it was changed while it was looked at", found.fence)


def _store_verdicts(work: UnitOfWork, check: Check, now: Mapping[str, DriftRow]) -> None:
    changed = []
    for key, found in check.found.items():
        known = now.get(key)
        if known is None:
            continue
        blank = json.dumps(found.unseen) if found.unseen else ""
        state = (found.fence, found.verdict, blank)
        if (known.checked_fence, known.verdict, known.unseen) != state:
            changed.append((key, check.row.id, *state))
        if (known.verdict or IN_SYNC) != found.verdict:
            row = work.tx.resource(key)
            if row is not None:
                work.resource_event(row, DRIFT, found.verdict, found.reason or _AGAIN)
    work.tx.drift.put_states(changed)


def _build_finding(check: Check, key: str, found: Found) -> DriftFindingRow:
    row = check.rows[key]
    return DriftFindingRow(
        check.row.id,
        row.id,
        row.stack_id,
        check.paths[row.id],
        row.type,
        found.verdict,
        found.reason,
        json.dumps(found.diff),
        found.ignored,
    )


def _format_summary(counts: Mapping[str, int]) -> str:
    total = sum(counts[key] for key in counts if key != "IGNORED")
    told = [f"{count} {key.lower().replace('_', ' ')}" for key, count in counts.items() if count]
    return f"{', '.join(told)} of {total}" if told else "there is nothing to look at"


def fail(work: UnitOfWork, row: DriftCheckRow, reason: str) -> None:
    """Store that a check has failed."""
    row.ended_at, row.status, row.reason = work.now, FAILED, reason
    stack = work.tx.stack(row.stack_id)
    if work.tx.drift.end_check(row) and stack is not None and stack.deleted_at is None:
        work.stack_event(stack, DRIFT, FAILED, reason)
