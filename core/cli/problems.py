"""Errors as a person or a program wants to read them: place, path, sentence, code, excerpt, hint.

Called by ``main`` for whatever a command raised, and by ``template validate``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from zonda.hooks.errors import (
    Place,
    TemplateError,
    UsageError,
    ValidationErrors,
    ZondaError,
    show_path,
)

from . import output
from .screen import Screen

FAILED, INVALID = 1, 2

log = logging.getLogger("zonda")


def report(screen: Screen, error: Exception) -> int:
    """Show ``error``; the exit code that fits it."""
    if not isinstance(error, ZondaError):
        return _unexpected(screen, error)
    found = each(error)
    if screen.form in ("json", "yaml"):
        output.data(screen.out, screen.form, {"errors": [as_data(one) for one in found]})
    else:
        for one in found:
            screen.say(as_text(screen, one))
        if len(found) > 1:
            screen.say(f"{len(found)} errors")
    return INVALID if isinstance(error, (TemplateError, UsageError)) else FAILED


def each(error: ZondaError) -> Sequence[ZondaError]:
    """The single faults of an error."""
    return error.errors if isinstance(error, ValidationErrors) else [error]


def as_data(error: ZondaError) -> dict[str, Any]:
    """One fault for programs. ``message`` is the whole sentence, as Heat would give it."""
    place = error.place if isinstance(error, TemplateError) else None
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "path": show_path(error.path) if isinstance(error, TemplateError) else None,
        "message": str(error),
        "code": error.code,
        "hint": error.hint or None,
    }


def as_text(screen: Screen, error: ZondaError) -> str:
    """One fault for people: a line, an excerpt on a terminal, a hint."""
    place = error.place if isinstance(error, TemplateError) else None
    where = f"{place}: " if place else ""
    lines = [f"{where}{screen.coloured('error', 'red')}: {error} [{error.code}]"]
    if place is not None and screen.on_terminal:
        lines += excerpt(screen.source(place.file), place)
    if error.hint:
        lines.append(f"  hint: {error.hint}")
    return "\n".join(lines)


def excerpt(text: str | None, place: Place) -> list[str]:
    """The line of ``place`` and a caret below it; nothing where the text is not at hand."""
    lines = (text or "").splitlines()
    if not 1 <= place.line <= len(lines):
        return []
    line = lines[place.line - 1].expandtabs(1)
    start = max(0, place.column - 60)
    number = f"{place.line:>5} | "
    caret = " " * (len(number) + place.column - 1 - start) + "^"
    return [number + line[start : start + 100], caret]


def _unexpected(screen: Screen, error: Exception) -> int:
    """A fault of zonda itself (or of the machine): one line, and how to learn more."""
    log.debug("unexpected error", exc_info=error)
    kind = type(error).__name__
    screen.say(f"{screen.coloured('error', 'red')}: unexpected {kind}: {error}")
    screen.say("  hint: this is a fault in zonda or in a plug-in; --debug shows where.")
    return FAILED
