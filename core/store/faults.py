"""SQLite's errors as StoreError: what, where, what to do. Called wherever the database is used."""

from __future__ import annotations

import sqlite3

from zonda.hooks.errors import StoreError

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


def explain(error: sqlite3.Error, where: str) -> StoreError:
    """The StoreError for ``error`` at the database ``where``; the caller chains it."""
    said = str(error).lower()
    for mark, what, todo in _HINTS:
        if mark in said:
            return StoreError(f"The database {where}: {what}", hint=todo)
    return StoreError(
        f"The database {where} cannot be used: {error}.",
        hint="Run with --debug for the details.",
    )
