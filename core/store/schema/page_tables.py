"""The table of what pages keep for a while, with its statements.

A part of ``tables`` and ``statements``, and like them not imported when zonda runs.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Index, bindparam, delete, select
from sqlalchemy.sql.base import Executable

from .clauses import Most, build_insert
from .tables import _make_key, _make_text, _make_time, _Table

__all__ = ["PAGES", "PAGE_STATE"]


class PageState(_Table, table=True):
    """Something that pages keep until ``ends_at``: a sign-in, or a plan that was shown.

    ``kind``: ``session`` or ``plan``. ``project`` and ``user_id``: of whoever has made a plan; a
    session has neither. ``body`` is sealed.
    """

    __tablename__ = "page_state"
    id: str = _make_key()
    kind: str = _make_text()
    project: str = _make_text()
    user_id: str = _make_text()
    body: str = _make_text()
    ends_at: float = _make_time()


PAGE_STATE: Any = PageState.__table__  # type: ignore[attr-defined]
P: Any = bindparam
S = PAGE_STATE.c
Index("ix_page_state_ends_at", S.kind, S.ends_at)

PAGES: dict[str, Executable] = {
    "insert_page_state": build_insert(PAGE_STATE),
    "page_state": select(S.body).where(
        S.id == P("id"), S.kind == P("kind"), S.project == P("project"), S.ends_at > P("now")
    ),
    # The oldest first.
    "page_states": select(S.id, S.project, S.user_id)
    .where(S.kind == P("kind"))
    .order_by(S.ends_at, S.id),
    "delete_page_state": delete(PAGE_STATE).where(S.id == P("id"), S.kind == P("kind")),
    "delete_surplus_page_states": delete(PAGE_STATE).where(
        S.id.in_(
            select(S.id)
            .where(S.kind == P("kind"))
            .order_by(S.ends_at.desc(), S.id.desc())
            .limit(Most("limit"))
            .offset(P("most"))
        )
    ),
    "delete_old_page_states": delete(PAGE_STATE).where(S.ends_at < P("before")),
}
