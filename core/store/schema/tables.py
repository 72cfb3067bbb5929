"""The tables, as SQLModel classes: the source of the schema and of every statement.

Not imported when zonda runs (SQLModel and SQLAlchemy take 0.4 s): ``compile.py`` writes what
they say into ``prepared.py``. Times are epoch seconds, booleans integers, JSON is text, and
sealed where ``sealing.py`` says so; so the same columns serve SQLite and PostgreSQL.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Text,
    literal_column,
)
from sqlmodel import Field, SQLModel

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

#: SQLite compares texts byte by byte, and its integers have 64 bits.
TEXT: Any = Text().with_variant(Text(collation="C"), "postgresql")
NUMBER: Any = Integer().with_variant(BigInteger(), "postgresql")
#: The tables that are read in the order in which their rows were added. SQLite keeps it as
#: ``rowid``; on PostgreSQL they have a column of that name, which no statement writes.
IN_ORDER = ("drift_check", "request")


class _Table(SQLModel):
    metadata = metadata


def _make_key() -> Any:
    return Field(primary_key=True, sa_type=TEXT)


def _make_text(default: str = "") -> Any:
    return Field(default=default, sa_type=TEXT, nullable=False)


def _make_optional_text() -> Any:
    return Field(default=None, sa_type=TEXT, nullable=True)


def _make_number(default: int = 0) -> Any:
    return Field(default=default, sa_type=NUMBER, nullable=False)


def _make_time() -> Any:
    return Field(default=0.0, sa_type=Float, nullable=False)


def _make_optional_time() -> Any:
    return Field(default=None, sa_type=Float, nullable=True)


class Stack(_Table, table=True):
    """One stack: its last action, and its progress."""

    __tablename__ = "stack"
    id: str = _make_key()
    project: str = _make_text()
    name: str = _make_text()
    # Of a nested stack: the instance that it belongs to. The stack at the top: itself, for a root.
    owner_resource_id: str | None = Field(default=None, sa_type=TEXT, nullable=True, index=True)
    root_id: str = Field(default="", sa_type=TEXT, nullable=False, index=True)
    generation: int = _make_number()
    phase: str = _make_text("IDLE")
    remaining: int = _make_number()
    halted: int = _make_number()
    failures: str = _make_text("[]")
    next_action: str = _make_text()
    note: str = _make_text()
    action: str = _make_text()
    status: str = _make_text()
    status_reason: str = _make_text()
    template_id: str | None = _make_optional_text()
    good_template_id: str | None = _make_optional_text()
    # What is not as that says, JSON: name -> its template, null for none.
    good_parts: str = _make_text("{}")
    # Names that the last plan of a template left as they were, JSON.
    outside: str = _make_text("[]")
    disable_rollback: int = _make_number(1)
    timeout_mins: int = _make_number(60)
    deadline: float | None = _make_optional_time()
    description: str = _make_text()
    tags: str = _make_text("[]")
    suspended: int = _make_number()
    # What it is shown as again after an action that is none of its states, JSON; '' for nothing.
    before: str = _make_text()
    # What the environment says about limits, retries, protection and breakpoints.
    policies: str = _make_text()
    # Said by command; for a resource, too.
    protect: int = _make_number()
    # Drift; `by` whom that is said ('' or command), and what the environment says of it, JSON.
    drift_policy: str = _make_text("OFF")
    drift_schedule: str = _make_text()
    drift_next: float | None = _make_optional_time()
    drift_by: str = _make_text()
    drift_said: str = _make_text()
    created_at: float = _make_time()
    updated_at: float | None = _make_optional_time()
    deleted_at: float | None = _make_optional_time()
    # The user who has created it, or the stack that it is nested in.
    created_by: str = _make_text()


class Template(_Table, table=True):
    """A bundle as it was given; sealed as a whole where it has hidden parameters.

    That of a nested stack is not a whole one: ``base_id`` is the template of the stack at the top,
    which has the files and the environment. ``checked``: hashes of nested templates that were found
    well, separated by blanks.
    """

    __tablename__ = "template"
    id: str = _make_key()
    stack_id: str = _make_text()
    body: str = _make_text()
    created_at: float = _make_time()
    base_id: str | None = Field(default=None, sa_type=TEXT, nullable=True, index=True)
    checked: str = _make_text()


class Resource(_Table, table=True):
    """One instance of a resource.

    The desired side (generation .. open) is written by plans, the actual side (action ..
    metadata) and the running operation (op .. owner) by steps. ``generation`` is that of the last
    plan that wanted something else of it, or that it has done with a ``verb`` of.
    """

    __tablename__ = "resource"
    id: str = _make_key()
    stack_id: str = Field(
        sa_column=Column(TEXT, ForeignKey("stack.id", ondelete="CASCADE"), nullable=False)
    )
    name: str = _make_text()
    type: str = _make_text()
    class_type: str = _make_text()
    replaces_id: str | None = _make_optional_text()
    cause: str = _make_text()
    generation: int = _make_number()
    want: str = _make_text("PRESENT")
    verb: str = _make_text()
    want_hash: str = _make_text()
    want_template_id: str | None = _make_optional_text()
    requires: str = _make_text("[]")
    waiting: int = _make_number()
    dirty: int = _make_number()
    open: int = _make_number()
    # the strongest that the plan allows: '' (anything), update or unchanged
    ceiling: str = _make_text()
    action: str = _make_text("INIT")
    status: str = _make_text("COMPLETE")
    status_reason: str = _make_text()
    have_hash: str = _make_text()
    resolved_hash: str = _make_text()
    have_template_id: str | None = _make_optional_text()
    definition: str | None = _make_optional_text()
    properties: str | None = _make_optional_text()
    hidden: str = _make_text("{}")
    deletion_policy: str = _make_text("Delete")
    external_id: str | None = _make_optional_text()
    physical_id: str | None = _make_optional_text()
    reference: str | None = _make_optional_text()
    outputs: str | None = _make_optional_text()
    outputs_hash: str = _make_text()
    # Of an owner: how often something below has changed outside its operations, and how many of
    # these what it shows has in it. While they differ, it is owed another look.
    below: int = _make_number()
    below_seen: int = _make_number()
    # `metadata` is taken by SQLAlchemy
    meta: str = _make_text("{}")
    suspended: int = _make_number()
    given: str | None = _make_optional_text()
    op: str = _make_text()
    op_id: str | None = Field(default=None, sa_type=TEXT, nullable=True, unique=True)
    op_gen: int = _make_number()
    op_hash: str = _make_text()
    op_template_id: str | None = _make_optional_text()
    op_definition: str | None = _make_optional_text()
    op_properties: str | None = _make_optional_text()
    op_resolved: str = _make_text()
    op_state: str = _make_text()
    token: str | None = _make_optional_text()
    is_volatile: int = _make_number()
    attempt: int = _make_number()
    # Attempts that have failed, how many there may be, seconds before the second one.
    failed_attempts: int = _make_number()
    most_attempts: int = _make_number(1)
    retry_delay: float = _make_time()
    retry_at: float | None = _make_optional_time()
    started_at: float | None = _make_optional_time()
    # When the operation is given up, which moves with the clock; and what plug-ins were told at
    # its beginning, which does not: a request that is sent again is the same.
    deadline: float | None = _make_optional_time()
    promised_deadline: float | None = _make_optional_time()
    protect: int = _make_number()
    # The breakpoint that it waits at, or (with a +) that was cleared; when it is cleared by itself.
    hook: str = _make_text()
    hook_until: float | None = _make_optional_time()
    fence: int = _make_number()
    # How often in a row it was taken over without any call coming back.
    take_overs: int = _make_number()
    owner: str = _make_text()
    created_at: float = _make_time()
    updated_at: float = _make_time()


class Edge(_Table, table=True):
    """``src`` requires ``dst``; both are instances."""

    __tablename__ = "edge"
    src: str = Field(
        sa_column=Column(TEXT, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True)
    )
    dst: str = Field(
        sa_column=Column(
            TEXT, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True, index=True
        )
    )
    stack_id: str = Field(sa_type=TEXT, nullable=False, index=True)


class ResourceData(_Table, table=True):
    """Entries of ``data_set``; always sealed."""

    __tablename__ = "resource_data"
    resource_id: str = Field(
        sa_column=Column(TEXT, ForeignKey("resource.id", ondelete="CASCADE"), primary_key=True)
    )
    name: str = _make_key()
    value: str = _make_text()
    redact: int = _make_number()


class Action(_Table, table=True):
    """One plan of a stack, its user, and its end.

    ``status`` is IN_PROGRESS until then; besides Heat's it may be CANCELLED, TIMED_OUT or
    SUPERSEDED. Hashes are keyed. ``detail`` is JSON.
    """

    __tablename__ = "action"
    id: str = _make_key()
    stack_id: str = _make_text()
    generation: int = _make_number()
    action: str = _make_text()
    detail: str = _make_text("{}")
    by: str = _make_text()
    started_at: float = _make_time()
    ended_at: float | None = _make_optional_time()
    status: str = _make_text()
    status_reason: str = _make_text()
    template_id: str | None = _make_optional_text()
    template_hash: str = _make_text()
    environment_hash: str = _make_text()


class Failed(_Table, table=True):
    """One operation that failed, with its inputs: rows of resources may be deleted.

    ``kind`` and ``code`` are the class and the code of the error, ``path`` (JSON) leads to it in
    the template. ``during`` is prepare, handle, poll, find, outside (a deadline, the user) or
    interrupted. ``properties`` are sealed as in ``resource``; ``trace`` (where a plug-in has raised
    the error) always.
    """

    __tablename__ = "failed"
    id: str = _make_key()
    stack_id: str = _make_text()
    generation: int = _make_number()
    resource_id: str = _make_text()
    resource_name: str = _make_text()
    resource_type: str = _make_text()
    physical_id: str | None = _make_optional_text()
    op: str = _make_text()
    op_id: str | None = _make_optional_text()
    template_id: str | None = _make_optional_text()
    properties: str | None = _make_optional_text()
    hidden: str = _make_text("{}")
    attempt: int = _make_number()
    started_at: float | None = _make_optional_time()
    at: float = _make_time()
    during: str = _make_text()
    kind: str = _make_text()
    code: str = _make_text()
    path: str = _make_text("[]")
    reason: str = _make_text()
    trace: str | None = _make_optional_text()


class Event(_Table, table=True):
    """One change of state; ``seq`` is the order in which they were committed."""

    __tablename__ = "event"
    __table_args__ = {"sqlite_autoincrement": True}
    seq: int | None = Field(default=None, primary_key=True, sa_type=NUMBER)
    id: str = _make_text()
    stack_id: str = Field(sa_type=TEXT, nullable=False, index=True)
    stack_name: str = _make_text()
    generation: int = _make_number()
    resource_id: str | None = _make_optional_text()
    resource_name: str = _make_text()
    resource_type: str = _make_text()
    physical_id: str | None = _make_optional_text()
    action: str = _make_text()
    status: str = _make_text()
    reason: str = _make_text()
    at: float = _make_time()


class EventProperties(_Table, table=True):
    """The properties with which an operation began: of its first event, and of those behind it.

    Sealed where the instance's are; ``hidden``: the names of what is hidden by then, JSON.
    """

    __tablename__ = "event_properties"
    event_id: str = _make_key()
    properties: str = _make_text()
    hidden: str = _make_text("{}")
    at: float = _make_time()


class Snapshot(_Table, table=True):
    """A stack at one time: its template, and (sealed ``data``) the data of each resource.

    ``action`` (SNAPSHOT or DELETE) and ``status`` tell how far it is, ``generation`` the plan that
    makes or deletes it.
    """

    __tablename__ = "snapshot"
    id: str = _make_key()
    stack_id: str = Field(sa_type=TEXT, nullable=False, index=True)
    name: str = _make_text()
    generation: int = _make_number()
    action: str = _make_text("SNAPSHOT")
    status: str = _make_text()
    status_reason: str = _make_text()
    template_id: str | None = _make_optional_text()
    data: str | None = _make_optional_text()
    created_at: float = _make_time()


class Request(_Table, table=True):
    """A command of another process for the engine that holds the lock; both sides sealed."""

    __tablename__ = "request"
    id: str = _make_key()
    action: str = _make_text()
    created_at: float = _make_time()
    answer: str | None = _make_optional_text()
    answered_at: float | None = _make_optional_time()
    # The tree that it is for, '' where one engine has all of them.
    root_id: str = _make_text()


class Sink(_Table, table=True):
    """The position up to which one event sink of the settings has the events.

    ``seq`` is the last event that is settled, ``failures`` counts tries since the last success,
    of which ``error`` is the last; before ``next_at`` there is no other one.
    """

    __tablename__ = "sink"
    name: str = _make_key()
    seq: int = _make_number()
    delivered: int = _make_number()
    delivered_at: float | None = _make_optional_time()
    failures: int = _make_number()
    failing_since: float | None = _make_optional_time()
    error: str = _make_text()
    next_at: float | None = _make_optional_time()


class Meta(_Table, table=True):
    """Facts about the database itself: ``schema``, ``key_check``."""

    __tablename__ = "meta"
    name: str = _make_key()
    value: str = _make_text()


STACK = Stack.__table__  # type: ignore[attr-defined]
TEMPLATE = Template.__table__  # type: ignore[attr-defined]
RESOURCE = Resource.__table__  # type: ignore[attr-defined]
EDGE = Edge.__table__  # type: ignore[attr-defined]
DATA = ResourceData.__table__  # type: ignore[attr-defined]
ACTION = Action.__table__  # type: ignore[attr-defined]
FAILED = Failed.__table__  # type: ignore[attr-defined]
EVENT = Event.__table__  # type: ignore[attr-defined]
EVENT_PROPERTIES = EventProperties.__table__  # type: ignore[attr-defined]
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
Index("ix_stack_project", STACK.c.project, STACK.c.created_at, STACK.c.id)
Index("ix_action_ended_at", ACTION.c.ended_at)
Index("ix_failed_at", FAILED.c.at)
Index("ix_event_properties_at", EVENT_PROPERTIES.c.at)
Index("ix_request_answered_at", REQUEST.c.answered_at)
_OPEN = REQUEST.c.answered_at.is_(None)
Index("ix_request_open", REQUEST.c.root_id, sqlite_where=_OPEN, postgresql_where=_OPEN)
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
