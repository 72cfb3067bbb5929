"""The tables of drift; a part of ``tables``, and like it not imported when zonda runs."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from .tables import (
    TEXT,
    _make_key,
    _make_number,
    _make_optional_time,
    _make_text,
    _make_time,
    _Table,
    metadata,
)

__all__ = ["DRIFT_CHECK", "DRIFT_FINDING", "DRIFT_IGNORE", "DRIFT_STATE", "metadata"]


class DriftCheck(_Table, table=True):
    """One drift check of a tree. ``stack_id``: the stack at the top.

    ``status``: RUNNING, COMPLETE, FAILED or INTERRUPTED. ``scope`` (JSON): the resources that it
    was for, [] for all. ``counts`` (JSON): how many of each verdict.
    """

    __tablename__ = "drift_check"
    id: str = _make_key()
    stack_id: str = Field(sa_type=TEXT, nullable=False, index=True)
    generation: int = _make_number()
    cause: str = _make_text()
    by: str = _make_text()
    scope: str = _make_text("[]")
    owner: str = _make_text()
    started_at: float = _make_time()
    ended_at: float | None = _make_optional_time()
    status: str = _make_text()
    reason: str = _make_text()
    verdict: str = _make_text()
    counts: str = _make_text("{}")


class DriftFinding(_Table, table=True):
    """The finding of one check on one resource: out of sync, or in sync by an exception.

    ``diff`` is JSON without hidden values. ``ignored``: why it counts as in sync, or ''.
    """

    __tablename__ = "drift_finding"
    check_id: str = Field(
        sa_column=Column(TEXT, ForeignKey("drift_check.id", ondelete="CASCADE"), primary_key=True)
    )
    resource_id: str = _make_key()
    stack_id: str = _make_text()
    path: str = _make_text()
    type: str = _make_text()
    verdict: str = _make_text()
    reason: str = _make_text()
    diff: str = _make_text("[]")
    ignored: str = _make_text()


class DriftState(_Table, table=True):
    """The newest verdict on one resource; it counts as long as ``fence`` is the resource's.

    ``check_id``: the check that has changed it last. ``unseen`` (JSON, or empty): properties that
    the template sets and of which nothing was observed.
    """

    __tablename__ = "drift_state"
    resource_id: str = Field(
        sa_column=Column(TEXT, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True)
    )
    check_id: str = _make_text()
    fence: int = _make_number()
    verdict: str = _make_text()
    unseen: str = _make_text()


class DriftIgnore(_Table, table=True):
    """Differences that count as in sync. ``property`` '' is all of them; ``until`` None: ever."""

    __tablename__ = "drift_ignore"
    id: str = _make_key()
    stack_id: str = Field(
        sa_column=Column(TEXT, ForeignKey("stack.id", ondelete="CASCADE"), nullable=False)
    )
    path: str = _make_text()
    property: str = _make_text()
    until: float | None = _make_optional_time()
    reason: str = _make_text()
    by: str = _make_text()
    at: float = _make_time()


DRIFT_CHECK = DriftCheck.__table__  # type: ignore[attr-defined]
DRIFT_FINDING = DriftFinding.__table__  # type: ignore[attr-defined]
DRIFT_STATE = DriftState.__table__  # type: ignore[attr-defined]
DRIFT_IGNORE = DriftIgnore.__table__  # type: ignore[attr-defined]

_CHECKING = DRIFT_CHECK.c.status == "RUNNING"
Index(
    "uq_drift_check_running",
    DRIFT_CHECK.c.stack_id,
    unique=True,
    sqlite_where=_CHECKING,
    postgresql_where=_CHECKING,
)
Index("ix_drift_check_ended_at", DRIFT_CHECK.c.ended_at)
Index("ix_drift_ignore_stack", DRIFT_IGNORE.c.stack_id)
