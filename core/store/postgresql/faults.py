"""PostgreSQL's errors as StoreError: the fault, the server, the remedy. None shows a password."""

from __future__ import annotations

import psycopg
from psycopg import errors

from zonda.hooks.errors import StoreError

from ..database.faults import Lost, Refused

#: Classes of errors, and single ones, that another try may not meet again.
_NOT_NOW = ("53", "40")
_NOT_NOW_STATES = {"25006", "55P03", "57014"}
#: The server ends the session, or has ended it; it may be starting.
_ENDED = ("08", "57P", "25P")
_HINTS = (
    ("42501", "The role may not do this", "Let the role own the database or its schema."),
    ("25006", "It may only be read", "Name the primary server, or make it writable."),
    ("53100", "The disk is full", "Make room on the server."),
    ("55P03", "Another process has kept it locked for too long", "Try again."),
    ("57014", "It has cancelled a statement", "Raise statement_timeout there, if that is set."),
)


def to_store_error(error: psycopg.Error, where: str) -> StoreError:
    """The StoreError for ``error`` at the server ``where``; the caller chains it.

    ``Refused`` and ``Lost`` are the database's trouble, any other is the statement's own.
    """
    state = error.sqlstate or ""
    kind: type[StoreError] = StoreError
    if state in _NOT_NOW_STATES or state.startswith(_NOT_NOW):
        kind = Refused
    elif state.startswith(_ENDED) or (not state and isinstance(error, errors.OperationalError)):
        kind = Lost
    for mark, what, todo in _HINTS:
        if state.startswith(mark):
            return kind(f"The database {where}: {what}: {_shorten(error)}.", hint=todo)
    if kind is Lost:
        return Lost(
            f"The database {where} cannot be reached: {_shorten(error)}.",
            # no number tells what a refused connection lacks, only a text in the server's language
            hint="Check that the server runs and has room for one more session, and what"
            " database_url says: its host, the user, the password, a database that is there.",
        )
    return kind(
        f"The database {where} cannot be used: {_shorten(error)}.",
        hint="Run with --debug for the details.",
    )


def _shorten(error: psycopg.Error) -> str:
    """The server's own message, in one line; values of rows stand behind it, and are left out."""
    said = error.diag.message_primary or str(error).partition("\n")[0]
    return said.strip().rstrip(".")
