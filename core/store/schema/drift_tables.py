"""The tables of drift; a part of ``tables``, and like it not imported when zonda runs."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Text
from sqlmodel import Field

from .tables import _key, _maybe_time, _number, _Table, _text, _time, metadata

__all__ = ["DRIFT_CHECK", "DRIFT_FINDING", "DRIFT_IGNORE", "DRIFT_STATE", "metadata"]


class DriftCheck(_Table, table=True):
    """One look at whether a tree is as it was made. ``stack_id``: the stack at the top.

    ``status``: RUNNING, COMPLETE, FAILED or INTERRUPTED. ``scope`` (JSON): the resources that it
    was for, [] for all. ``counts`` (JSON): how many of each verdict.
    """

    __tablename__ = "drift_check"
    id: str = _key()
    stack_id: str = Field(sa_type=Text, nullable=False, index=True)
    generation: int = _number()
    cause: str = _text()
    by: str = _text()
    scope: str = _text("[]")
    owner: str = _text()
    started_at: float = _time()
    ended_at: float | None = _maybe_time()
    status: str = _text()
    reason: str = _text()
    verdict: str = _text()
    counts: str = _text("{}")


class DriftFinding(_Table, table=True):
    """What one check has found of one resource that is not in sync, or only by an exception.

    ``diff`` is JSON without hidden values. ``ignored``: why it counts as in sync, or ''.
    """

    __tablename__ = "drift_finding"
    check_id: str = Field(
        sa_column=Column(Text, ForeignKey("drift_check.id", ondelete="CASCADE"), primary_key=True)
    )
    resource_id: str = _key()
    stack_id: str = _text()
    path: str = _text()
    type: str = _text()
    verdict: str = _text()
    reason: str = _text()
    diff: str = _text("[]")
    ignored: str = _text()


class DriftState(_Table, table=True):
    """The newest verdict on one resource; it counts as long as ``fence`` is the resource's.

    ``check_id``: the check that has changed it last. ``unseen`` (JSON, or empty): properties that
    the template sets and of which nothing was observed.
    """

    __tablename__ = "drift_state"
    resource_id: str = Field(
        sa_column=Column(Text, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True)
    )
    check_id: str = _text()
    fence: int = _number()
    verdict: str = _text()
    unseen: str = _text()


class DriftIgnore(_Table, table=True):
    """Differences that count as in sync. ``property`` '' is all of them; ``until`` None: ever."""

    __tablename__ = "drift_ignore"
    id: str = _key()
    stack_id: str = Field(
        sa_column=Column(Text, ForeignKey("stack.id", ondelete="CASCADE"), nullable=False)
    )
    path: str = _text()
    property: str = _text()
    until: float | None = _maybe_time()
    reason: str = _text()
    by: str = _text()
    at: float = _time()


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
