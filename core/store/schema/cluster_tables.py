"""The tables of a cluster: its members and their duties. Empty where one process is the engine.

As ``tables.py``, these are for ``compile.py`` and the statements only.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from .tables import TEXT, _make_key, _make_number, _make_text, _make_time, _Table

__all__ = ["DUTY", "MEMBER"]


class Member(_Table, table=True):
    """One life of an engine; who loses its connection begins a new one.

    Times are those of the database. Its duties are given to others after ``expires_at``.
    ``plugins``: a digest of their names and versions. ``url``: where its API answers, or ''.
    ``listens``: 1 where a session of its name is there for as long as its process lives.
    """

    __tablename__ = "member"
    id: str = _make_key()
    host: str = _make_text()
    pid: int = _make_number()
    version: str = _make_text()
    plugins: str = _make_text()
    url: str = _make_text()
    started_at: float = _make_time()
    draining: int = _make_number()
    expires_at: float = _make_time()
    listens: int = _make_number()


class Duty(_Table, table=True):
    """Something that one member at a time looks after, as long as there is anything to do.

    ``key``: ``tree:ROOT``, or ``sinks`` for the delivery of events. ``takeovers``: how many owners
    in a row have died without any progress. Nobody takes it before ``not_before``.
    """

    __tablename__ = "duty"
    key: str = _make_key()
    member: str | None = Field(
        default=None,
        sa_column=Column(TEXT, ForeignKey("member.id", ondelete="SET NULL"), nullable=True),
    )
    since: float = _make_time()
    not_before: float = _make_time()
    takeovers: int = _make_number()


MEMBER: Any = Member.__table__  # type: ignore[attr-defined]
DUTY: Any = Duty.__table__  # type: ignore[attr-defined]
Index("ix_duty_member", DUTY.c.member)
_FREE = DUTY.c.member.is_(None)
Index("ix_duty_free", DUTY.c.not_before, sqlite_where=_FREE, postgresql_where=_FREE)
