"""SQLite's errors as StoreError: the fault, the file, the remedy."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from zonda.hooks.errors import StoreError

from ..database.faults import Refused, Unusable

_HINTS = (
    ("disk is full", "The disk is full.", "Make room, then run the command again."),
    ("disk i/o error", "The disk reported an error.", "Check the disk, then try again."),
    (
        "readonly database",
        "It may only be read.",
        "Make the file and its folder writable, or choose another ZONDA_HOME.",
    ),
    (
        "unable to open",
        "It cannot be opened or made.",
        "Check that the folder exists and is writable, or choose another ZONDA_HOME.",
    ),
    (
        "locked",
        "Another process has kept it locked for too long.",
        "Wait for that process or end it, then try again.",
    ),
    (
        "malformed",
        "The file is damaged.",
        "Restore a copy, or move the file away to start with an empty one.",
    ),
    (
        "not a database",
        "The file is not a database.",
        "Check the path, or move the file away to start with an empty one.",
    ),
)


_NOT_NOW = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}
_NEVER = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def _find_kind(error: sqlite3.Error) -> type[StoreError]:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by the module itself: a closed connection, or values of no use
        return Unusable if "closed database" in str(error) else StoreError
    code &= 0xFF  # what is above it says more of the same
    return Refused if code in _NOT_NOW else Unusable if code in _NEVER else StoreError


def to_store_error(error: sqlite3.Error, where: str) -> StoreError:
    """The StoreError for ``error`` at the database ``where``; the caller chains it.

    ``Refused`` and ``Unusable`` are the database's trouble, any other is the statement's own.
    """
    kind, said = _find_kind(error), str(error).lower()
    for mark, what, todo in _HINTS:
        if mark in said:
            return kind(f"The database {where}: {what}", hint=todo)
    return kind(
        f"The database {where} cannot be used: {error}.",
        hint="Run with --debug for the details.",
    )


def check_reachable(path: Path) -> None:
    """Raise StoreError for a database that is a folder, or in one that is closed to this user."""
    try:
        if not path.is_dir():
            return
    except OSError as error:
        raise StoreError(
            f"The database {path} cannot be reached: {error.strerror}.",
            hint="Open its folder to this user, or choose another with --home or ZONDA_HOME.",
        ) from error
    raise StoreError(
        f"The database {path} is a folder.",
        hint=f"Name a file in it, e.g. sqlite:///{path / 'zonda.db'}.",
    )
