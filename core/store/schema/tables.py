"""The tables, as SQLModel classes: the source of the schema and of every statement.

Not imported when zonda runs (SQLModel and SQLAlchemy take 0.4 s): ``compile.py`` writes what
they say into ``prepared.py``. Times are epoch seconds, booleans integers, JSON is text, and
sealed where ``sealing.py`` says so; so the same columns serve SQLite and PostgreSQL.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, Text, literal_column
from sqlmodel import Field, SQLModel

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class _Table(SQLModel):
    metadata = metadata


def _key() -> Any:
    return Field(primary_key=True, sa_type=Text)


def _text(default: str = "") -> Any:
    return Field(default=default, sa_type=Text, nullable=False)


def _maybe_text() -> Any:
    return Field(default=None, sa_type=Text, nullable=True)


def _number(default: int = 0) -> Any:
    return Field(default=default, sa_type=Integer, nullable=False)


def _time() -> Any:
    return Field(default=0.0, sa_type=Float, nullable=False)


def _maybe_time() -> Any:
    return Field(default=None, sa_type=Float, nullable=True)


class Stack(_Table, table=True):
    """One stack: what was asked for last, and how far it is."""

    __tablename__ = "stack"
    id: str = _key()
    project: str = _text()
    name: str = _text()
    # Of a nested stack: the instance that it belongs to. The stack at the top: itself, for a root.
    owner_resource_id: str | None = Field(default=None, sa_type=Text, nullable=True, index=True)
    root_id: str = Field(default="", sa_type=Text, nullable=False, index=True)
    generation: int = _number()
    phase: str = _text("IDLE")
    remaining: int = _number()
    halted: int = _number()
    failures: str = _text("[]")
    next_action: str = _text()
    note: str = _text()
    action: str = _text()
    status: str = _text()
    status_reason: str = _text()
    template_id: str | None = _maybe_text()
    good_template_id: str | None = _maybe_text()
    # What is not as that says, JSON: name -> its template, null for none.
    good_parts: str = _text("{}")
    # Names that the last plan of a template left as they were, JSON.
    outside: str = _text("[]")
    disable_rollback: int = _number(1)
    timeout_mins: int = _number(60)
    deadline: float | None = _maybe_time()
    description: str = _text()
    tags: str = _text("[]")
    suspended: int = _number()
    # What it is shown as again after an action that is none of its states, JSON; '' for nothing.
    before: str = _text()
    # What the environment says about limits, retries, protection and breakpoints.
    policies: str = _text()
    # Said by command; for a resource, too.
    protect: int = _number()
    # Drift; `by` whom that is said ('' or command), and what the environment says of it, JSON.
    drift_policy: str = _text("OFF")
    drift_schedule: str = _text()
    drift_next: float | None = _maybe_time()
    drift_by: str = _text()
    drift_said: str = _text()
    created_at: float = _time()
    updated_at: float | None = _maybe_time()
    deleted_at: float | None = _maybe_time()


class Template(_Table, table=True):
    """A bundle as it was given; sealed as a whole where it has hidden parameters.

    That of a nested stack is not a whole one: ``base_id`` is the template of the stack at the top,
    which has the files and the environment. ``checked``: hashes of nested templates that were found
    well, separated by blanks.
    """

    __tablename__ = "template"
    id: str = _key()
    stack_id: str = _text()
    body: str = _text()
    created_at: float = _time()
    base_id: str | None = Field(default=None, sa_type=Text, nullable=True, index=True)
    checked: str = _text()


class Resource(_Table, table=True):
    """One instance of a resource.

    The desired side (generation .. open) is written by plans, the actual side (action ..
    metadata) and the running operation (op .. owner) by steps. ``generation`` is that of the last
    plan that wanted something else of it, or that it has done with a ``verb`` of.
    """

    __tablename__ = "resource"
    id: str = _key()
    stack_id: str = Field(
        sa_column=Column(Text, ForeignKey("stack.id", ondelete="CASCADE"), nullable=False)
    )
    name: str = _text()
    type: str = _text()
    class_type: str = _text()
    replaces_id: str | None = _maybe_text()
    cause: str = _text()
    generation: int = _number()
    want: str = _text("PRESENT")
    verb: str = _text()
    want_hash: str = _text()
    want_template_id: str | None = _maybe_text()
    requires: str = _text("[]")
    waiting: int = _number()
    dirty: int = _number()
    open: int = _number()
    # the strongest that the plan allows: '' (anything), update or unchanged
    ceiling: str = _text()
    action: str = _text("INIT")
    status: str = _text("COMPLETE")
    status_reason: str = _text()
    have_hash: str = _text()
    resolved_hash: str = _text()
    have_template_id: str | None = _maybe_text()
    definition: str | None = _maybe_text()
    properties: str | None = _maybe_text()
    hidden: str = _text("{}")
    deletion_policy: str = _text("Delete")
    external_id: str | None = _maybe_text()
    physical_id: str | None = _maybe_text()
    reference: str | None = _maybe_text()
    outputs: str | None = _maybe_text()
    outputs_hash: str = _text()
    # Of an owner: how often something below has changed outside its operations, and how many of
    # these what it shows has in it. While they differ, it is owed another look.
    below: int = _number()
    below_seen: int = _number()
    # `metadata` is taken by SQLAlchemy
    meta: str = _text("{}")
    suspended: int = _number()
    given: str | None = _maybe_text()
    op: str = _text()
    op_id: str | None = Field(default=None, sa_type=Text, nullable=True, unique=True)
    op_gen: int = _number()
    op_hash: str = _text()
    op_template_id: str | None = _maybe_text()
    op_definition: str | None = _maybe_text()
    op_properties: str | None = _maybe_text()
    op_resolved: str = _text()
    op_state: str = _text()
    token: str | None = _maybe_text()
    is_volatile: int = _number()
    attempt: int = _number()
    # Attempts that have failed, how many there may be, seconds before the second one.
    failed_attempts: int = _number()
    most_attempts: int = _number(1)
    retry_delay: float = _time()
    retry_at: float | None = _maybe_time()
    started_at: float | None = _maybe_time()
    # When the operation is given up, which moves with the clock; and what plug-ins were told at
    # its beginning, which does not: a request that is sent again is the same.
    deadline: float | None = _maybe_time()
    promised_deadline: float | None = _maybe_time()
    protect: int = _number()
    # The breakpoint that it waits at, or (with a +) that was cleared; when it is cleared by itself.
    hook: str = _text()
    hook_until: float | None = _maybe_time()
    fence: int = _number()
    # How often in a row it was taken over without any call coming back.
    take_overs: int = _number()
    owner: str = _text()
    created_at: float = _time()
    updated_at: float = _time()


class Edge(_Table, table=True):
    """``src`` requires ``dst``; both are instances."""

    __tablename__ = "edge"
    src: str = Field(
        sa_column=Column(Text, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True)
    )
    dst: str = Field(
        sa_column=Column(
            Text, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True, index=True
        )
    )
    stack_id: str = Field(sa_type=Text, nullable=False, index=True)


class ResourceData(_Table, table=True):
    """Entries of ``data_set``; always sealed."""

    __tablename__ = "resource_data"
    resource_id: str = Field(
        sa_column=Column(Text, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True)
    )
    name: str = _key()
    value: str = _text()
    redact: int = _number()


class Action(_Table, table=True):
    """One plan of a stack: who asked for what, and how it ended.

    ``status`` is IN_PROGRESS until then; besides Heat's it may be CANCELLED, TIMED_OUT or
    SUPERSEDED. Hashes are keyed. ``detail`` is JSON.
    """

    __tablename__ = "action"
    id: str = _key()
    stack_id: str = _text()
    generation: int = _number()
    action: str = _text()
    detail: str = _text("{}")
    by: str = _text()
    started_at: float = _time()
    ended_at: float | None = _maybe_time()
    status: str = _text()
    status_reason: str = _text()
    template_id: str | None = _maybe_text()
    template_hash: str = _text()
    environment_hash: str = _text()


class Failed(_Table, table=True):
    """One operation that failed, with what it was begun with: rows of resources may be gone.

    ``kind`` and ``code`` are the class and the code of the error, ``path`` (JSON) leads to it in
    the template. ``during`` is prepare, handle, poll, find, outside (a deadline, the user) or
    interrupted. ``properties`` are sealed as in ``resource``; ``trace`` (where a plug-in has raised
    the error) always.
    """

    __tablename__ = "failed"
    id: str = _key()
    stack_id: str = _text()
    generation: int = _number()
    resource_id: str = _text()
    resource_name: str = _text()
    resource_type: str = _text()
    physical_id: str | None = _maybe_text()
    op: str = _text()
    op_id: str | None = _maybe_text()
    template_id: str | None = _maybe_text()
    properties: str | None = _maybe_text()
    hidden: str = _text("{}")
    attempt: int = _number()
    started_at: float | None = _maybe_time()
    at: float = _time()
    during: str = _text()
    kind: str = _text()
    code: str = _text()
    path: str = _text("[]")
    reason: str = _text()
    trace: str | None = _maybe_text()


class Event(_Table, table=True):
    """One change of state; ``seq`` is the order in which they were committed."""

    __tablename__ = "event"
    __table_args__ = {"sqlite_autoincrement": True}
    seq: int | None = Field(default=None, primary_key=True, sa_type=Integer)
    id: str = _text()
    stack_id: str = Field(sa_type=Text, nullable=False, index=True)
    stack_name: str = _text()
    generation: int = _number()
    resource_id: str | None = _maybe_text()
    resource_name: str = _text()
    resource_type: str = _text()
    physical_id: str | None = _maybe_text()
    action: str = _text()
    status: str = _text()
    reason: str = _text()
    at: float = _time()


class Snapshot(_Table, table=True):
    """What a stack was at one time: its template, and (sealed ``data``) what each resource gave.

    ``action`` (SNAPSHOT or DELETE) and ``status`` tell how far it is, ``generation`` the plan that
    makes or deletes it.
    """

    __tablename__ = "snapshot"
    id: str = _key()
    stack_id: str = Field(sa_type=Text, nullable=False, index=True)
    name: str = _text()
    generation: int = _number()
    action: str = _text("SNAPSHOT")
    status: str = _text()
    status_reason: str = _text()
    template_id: str | None = _maybe_text()
    data: str | None = _maybe_text()
    created_at: float = _time()


class Request(_Table, table=True):
    """A command of another process for the engine that holds the lock; both sides sealed."""

    __tablename__ = "request"
    id: str = _key()
    action: str = _text()
    created_at: float = _time()
    answer: str | None = _maybe_text()
    answered_at: float | None = _maybe_time()


class Sink(_Table, table=True):
    """How far the events are delivered to one event sink of the settings.

    ``seq`` is the last event that is settled, ``failures`` counts tries since the last success,
    of which ``error`` is the last; before ``next_at`` there is no other one.
    """

    __tablename__ = "sink"
    name: str = _key()
    seq: int = _number()
    delivered: int = _number()
    delivered_at: float | None = _maybe_time()
    failures: int = _number()
    failing_since: float | None = _maybe_time()
    error: str = _text()
    next_at: float | None = _maybe_time()


class Meta(_Table, table=True):
    """Facts about the database itself: ``schema``, ``key_check``."""

    __tablename__ = "meta"
    name: str = _key()
    value: str = _text()


STACK = Stack.__table__  # type: ignore[attr-defined]
TEMPLATE = Template.__table__  # type: ignore[attr-defined]
RESOURCE = Resource.__table__  # type: ignore[attr-defined]
EDGE = Edge.__table__  # type: ignore[attr-defined]
DATA = ResourceData.__table__  # type: ignore[attr-defined]
ACTION = Action.__table__  # type: ignore[attr-defined]
FAILED = Failed.__table__  # type: ignore[attr-defined]
EVENT = Event.__table__  # type: ignore[attr-defined]
SNAPSHOT = Snapshot.__table__  # type: ignore[attr-defined]
REQUEST = Request.__table__  # type: ignore[attr-defined]
SINK = Sink.__table__  # type: ignore[attr-defined]
META = Meta.__table__  # type: ignore[attr-defined]

_LIVE = STACK.c.deleted_at.is_(None)
Index(
    "uq_stack_live_name",
    STACK.c.project,
    STACK.c.name,
    unique=True,
    sqlite_where=_LIVE,
    postgresql_where=_LIVE,
)
_GONE = STACK.c.deleted_at.is_not(None)
Index(
    "ix_stack_gone_name",
    STACK.c.project,
    STACK.c.name,
    STACK.c.deleted_at,
    sqlite_where=_GONE,
    postgresql_where=_GONE,
)
Index("ix_action_ended_at", ACTION.c.ended_at)
Index("ix_failed_at", FAILED.c.at)
Index("ix_request_answered_at", REQUEST.c.answered_at)
Index("ix_action_stack", ACTION.c.stack_id, ACTION.c.generation)
Index("ix_failed_stack", FAILED.c.stack_id, FAILED.c.generation)
Index("ix_stack_drift_next", STACK.c.drift_next)
_BUSY = STACK.c.phase != "IDLE"
Index("ix_stack_busy", STACK.c.deadline, sqlite_where=_BUSY, postgresql_where=_BUSY)
_NEXT = STACK.c.next_action != ""
Index("ix_stack_next", STACK.c.next_action, sqlite_where=_NEXT, postgresql_where=_NEXT)
Index("ix_resource_stack", RESOURCE.c.stack_id, RESOURCE.c.open)
_LIMITED = RESOURCE.c.hook_until.is_not(None)
Index(
    "ix_resource_hook_until",
    RESOURCE.c.hook_until,
    sqlite_where=_LIMITED,
    postgresql_where=_LIMITED,
)
_BEHIND = RESOURCE.c.below != RESOURCE.c.below_seen
Index(
    "ix_resource_behind",
    RESOURCE.c.below,
    sqlite_where=_BEHIND,
    postgresql_where=_BEHIND,
)
_PROTECTED = RESOURCE.c.protect == literal_column("1")
Index(
    "ix_resource_protected",
    RESOURCE.c.protect,
    sqlite_where=_PROTECTED,
    postgresql_where=_PROTECTED,
)
_RUNNING = RESOURCE.c.op != ""
Index(
    "ix_resource_running",
    RESOURCE.c.deadline,
    sqlite_where=_RUNNING,
    postgresql_where=_RUNNING,
)
_BOUND = RESOURCE.c.physical_id.is_not(None)
Index(
    "ix_resource_physical_id",
    RESOURCE.c.physical_id,
    sqlite_where=_BOUND,
    postgresql_where=_BOUND,
)
