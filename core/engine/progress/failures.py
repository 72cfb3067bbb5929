"""The records of failed operations: their inputs, progress, and kind of failure.

``zonda stack why`` reads it. Rows of resources change with the next operation and go with a
rollback or a deletion; this stays as long as events do. Called by transitions; costs nothing where
nothing fails.
"""

from __future__ import annotations

import json

from zonda.core.store.schema.rows import FailedRow, ResourceRow

from ..model.outcomes import Failure
from ..model.unit_of_work import UnitOfWork


def record_failure(work: UnitOfWork, row: ResourceRow, failure: Failure) -> None:
    """Record that the operation on ``row`` has failed."""
    properties = row.op_properties if row.op_properties is not None else row.properties
    template_id = row.op_template_id or row.have_template_id
    _record(
        work, row, failure, row.op, row.op_id, template_id, properties, row.attempt, row.started_at
    )


def record_unbegun(work: UnitOfWork, row: ResourceRow, op: str, failure: Failure) -> None:
    """Record that an operation could not be begun."""
    template_id = row.want_template_id or row.have_template_id
    _record(work, row, failure, op, None, template_id, row.properties, 0, None)


def _record(
    work: UnitOfWork,
    row: ResourceRow,
    failure: Failure,
    op: str,
    op_id: str | None,
    template_id: str | None,
    properties: str | None,
    attempt: int,
    started_at: float | None,
) -> None:
    work.tx.add_failed(
        FailedRow(
            id=work.ids(),
            stack_id=row.stack_id,
            generation=work.stack_of(row).generation,
            resource_id=row.id,
            resource_name=row.name,
            resource_type=row.type,
            physical_id=row.physical_id,
            op=op,
            op_id=op_id,
            template_id=template_id,
            properties=properties,
            hidden=row.hidden,
            attempt=attempt,
            started_at=started_at,
            at=work.now,
            during=failure.during,
            kind=failure.kind,
            code=failure.code,
            path=json.dumps(failure.path),
            reason=failure.reason,
            trace=work.sealer.seal(failure.trace) if failure.trace else None,
        )
    )
