"""The history of a stack: one row per plan, with its user and its end.

Written in the transactions that plan and end an action, so that it says nothing else than what
happened: an engine that was killed leaves its action IN_PROGRESS, and whoever takes up the stack
ends it. Of each operation that fails the inputs are kept as well: rows of resources change with the
next operation, and go with a rollback.
"""

from __future__ import annotations

import json
from typing import Any

from zonda.core.store.schema.rows import ActionRow, FailedRow, ResourceRow, StackRow
from zonda.core.store.values.sealing import Sealer
from zonda.core.template.definition.fingerprint import format_canonical
from zonda.core.template.source.bundle import Bundle

from ..model.outcomes import Failure
from ..model.plan import Given
from ..model.states import CANCELLED, FAILED, IDLE, IN_PROGRESS, SUPERSEDED
from ..model.unit_of_work import UnitOfWork

#: Actions of events that are no states of what they are about.
ASIDE = frozenset({"SIGNAL", "PROTECT", "UNPROTECT", "CANCEL", "MOVE"})


def add_user(reason: str, user: str) -> str:
    """The reason of an event with the user who asked for it."""
    return f"{reason} (by {user})" if user else reason


def compute_hashes(sealer: Sealer, bundle: Bundle) -> tuple[str, str]:
    """Keyed hashes of the template with its files, and of environments with parameters."""
    template = [bundle.template, sorted(bundle.files.values())]
    texts = [text for _, text in bundle.environment_files]
    environment = [bundle.environment, texts, dict(bundle.parameters), bundle.parameters_win]
    return (
        sealer.hmac(format_canonical(template).encode("utf-8", "surrogatepass")),
        sealer.hmac(format_canonical(environment).encode("utf-8", "surrogatepass")),
    )


def end_overtaken(work: UnitOfWork, stack: StackRow, by: str, user: str = "") -> None:
    """End the running plan in the history: one for the action ``by`` is about to be made.

    ``user``: who has asked for it, and so has cancelled what it undoes.
    """
    if stack.next_action:
        status, reason = FAILED, stack.status_reason
    elif stack.phase != IDLE:
        status = CANCELLED if by == "ROLLBACK" else SUPERSEDED
        reason = f"{stack.action} was overtaken by {by}"
        if status == CANCELLED:
            record_cancellation(work, stack, user)
    else:
        return
    work.tx.end_action(stack.id, status, reason, work.now)


def begin(work: UnitOfWork, stack: StackRow, given: Given) -> None:
    """Record the plan that ``stack`` carries now."""
    by, hashed = given.by, (given.template_hash, given.environment_hash)
    if stack.generation > 1 and not by:
        before = work.tx.last_action(stack.id)
        by = "" if before is None else before.by
    if given.request.request or stack.owner_resource_id is None:
        work.after.requests[stack.root] = given.request
    if not given.template_hash and stack.template_id is not None:
        hashed = work.tx.template_hashes(stack.id, stack.template_id)
    work.tx.add_action(
        ActionRow(
            work.ids(),
            stack.id,
            stack.generation,
            stack.action,
            json.dumps(given.request.write(given.detail)),
            by,
            work.now,
            None,
            IN_PROGRESS,
            "",
            stack.template_id,
            *hashed,
        )
    )


def record_cancellation(work: UnitOfWork, stack: StackRow, by: str) -> None:
    """Record the user who has cancelled the running action of ``stack``."""
    running = work.tx.last_action(stack.id)
    if running is not None and by:
        detail = {**json.loads(running.detail), "cancelled_by": by}
        work.tx.note_on_action(stack.id, json.dumps(detail))


def end(work: UnitOfWork, stack: StackRow, status: str) -> None:
    """Record the end of the action of ``stack``; ``status`` may also be one of ours."""
    work.tx.end_action(stack.id, status, stack.status_reason, work.now)


def is_abandoned(work: UnitOfWork, stack_id: str) -> bool:
    """Whether a stack was forgotten, so that nothing may touch it any more."""
    last = work.tx.last_action(stack_id)
    return last is not None and "abandoned" in json.loads(last.detail)


def record_failure(work: UnitOfWork, row: ResourceRow, failure: Failure) -> None:
    """Record that the operation on ``row`` has failed."""
    _add_failed(
        work,
        row,
        failure,
        op=row.op,
        op_id=row.op_id,
        template_id=row.op_template_id or row.have_template_id,
        properties=row.properties if row.op_properties is None else row.op_properties,
        attempt=row.attempt,
        started_at=row.started_at,
    )


def record_unbegun(work: UnitOfWork, row: ResourceRow, op: str, failure: Failure) -> None:
    """Record that an operation could not be begun."""
    _add_failed(
        work,
        row,
        failure,
        op=op,
        op_id=None,
        template_id=row.want_template_id or row.have_template_id,
        properties=row.properties,
        attempt=0,
        started_at=None,
    )


def _add_failed(work: UnitOfWork, row: ResourceRow, failure: Failure, **inputs: Any) -> None:
    work.tx.add_failed(
        FailedRow(
            id=work.ids(),
            stack_id=row.stack_id,
            generation=work.stack_of(row).generation,
            resource_id=row.id,
            resource_name=row.name,
            resource_type=row.type,
            physical_id=row.physical_id,
            hidden=row.hidden,
            at=work.now,
            during=failure.during,
            kind=failure.kind,
            code=failure.code,
            path=json.dumps(failure.path),
            reason=failure.reason,
            trace=work.sealer.seal(failure.trace) if failure.trace else None,
            **inputs,
        )
    )
