"""The statements of a cluster: what keeps two members from writing to one tree.

Locks are taken in one order: member, duty, rows, events. On SQLite, which has no row locks, one
transaction writes at a time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, exists, literal_column, null, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.base import Executable

from .cluster_tables import DUTY, MEMBER
from .drift_tables import DRIFT_CHECK
from .tables import REQUEST, RESOURCE, STACK

P: Any = bindparam
L: Any = literal_column
M, D, S, R, Q = MEMBER.c, DUTY.c, STACK.c, RESOURCE.c, REQUEST.c
C = DRIFT_CHECK.c
_ONE = L("1")
#: The stack at the top of an instance. Not joined: sweeps find instances by their own index.
ROOT = select(S.root_id).where(S.id == R.stack_id).scalar_subquery()
#: A stack, with the one at the top of its tree.
TREE = (S.id, S.root_id)
_MINE = (D.key == P("of"), D.member == P("me"))

_ROOTS: Any = STACK.alias("root")


def _has_work(root: Any) -> Any:
    """Whether there is anything to do in the tree below a stack."""
    return or_(
        exists().where(S.root_id == root, or_(S.phase != L("'IDLE'"), S.next_action != L("''"))),
        exists().where(
            R.stack_id == S.id,
            S.root_id == root,
            or_(
                R.op != L("''"),
                (R.below != R.below_seen) & (R.outputs_hash != L("''")),
                (R.open == _ONE) & (R.waiting == L("0")) & S.deleted_at.is_(None),
            ),
        ),
        exists().where(C.stack_id == S.id, S.root_id == root, C.status == L("'RUNNING'")),
    )


CLUSTER: dict[str, Executable] = {
    # First in every transaction of a member: it waits for whoever removes the member, and then
    # finds no row. The renewal of the lease changes no key, so neither waits for the other.
    "member_fence": select(_ONE).where(M.id == P("me")).with_for_update(read=True, key_share=True),
    "members": select(M.id, M.host, M.pid).order_by(M.started_at, M.id),
    "duty_holder": select(M.host, M.pid).where(D.key == P("of"), D.member == M.id),
    "duty_add": insert(DUTY)
    .values({column.name: P(column.name) for column in DUTY.columns})
    .on_conflict_do_nothing(),
    "duty_claim": update(DUTY)
    .where(D.key == P("of"), D.member.is_(None), D.not_before <= P("now"))
    .values(member=P("new_member"), since=P("new_since"))
    .returning(D.takeovers),
    "duty_progress": update(DUTY).where(*_MINE).values(takeovers=L("0")),
    # Whoever asks holds the duty until the request is committed; whoever releases it waits for
    # that, and then looks for requests in another statement, which sees them.
    "duty_owner": select(D.member)
    .where(D.key == P("of"))
    .with_for_update(read=True, key_share=True),
    "duty_lock": select(_ONE).where(*_MINE).with_for_update(),
    "duty_free": update(DUTY).where(*_MINE).values(member=null(), since=P("now")),
    # After ``duty_lock``, in a statement of its own, so that it sees what was asked meanwhile.
    # A tree without work is at rest: nothing is lost when nobody looks after it.
    "duty_end": delete(DUTY).where(
        *_MINE,
        ~exists().where(Q.root_id == P("root"), Q.answered_at.is_(None)),
        ~_has_work(P("root")),
    ),
    "duties_free": select(D.key)
    .where(D.member.is_(None), D.not_before <= P("now"), D.key.like(L("'tree:%'")))
    .order_by(D.key)
    .limit(P("most"))
    .offset(P("offset"))
    .with_for_update(skip_locked=True),
    "drift_checks_running_of_tree": select(DRIFT_CHECK).where(
        C.stack_id == S.id, S.root_id == P("root"), C.status == L("'RUNNING'")
    ),
    "duties_owed": insert(DUTY).from_select(
        [column.name for column in DUTY.columns],
        select(L("'tree:'") + _ROOTS.c.id, null(), L("0.0"), L("0.0"), L("0")).where(
            _ROOTS.c.id == _ROOTS.c.root_id, _has_work(_ROOTS.c.id)
        ),
    ),
}
