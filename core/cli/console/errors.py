"""Formats errors for users and programs: place, path, sentence, code, excerpt, hint.

Called by ``main`` for whatever a command raised, and by ``template validate``.
"""

from __future__ import annotations

import logging
import re
from ast import literal_eval
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zonda.hooks.errors import (
    Place,
    Related,
    TemplateError,
    TemplateWarning,
    UsageError,
    UsageErrors,
    ValidationErrors,
    ZondaError,
    show_path,
)
from zonda.hooks.records import replace

from . import formats, sanitize
from .console import Screen
from .source_excerpt import format_excerpt

FAILED, INVALID = 1, 2

log = logging.getLogger("zonda")


def report_error(screen: Screen, error: Exception) -> int:
    """Report ``error`` in the chosen format; return its exit code."""
    if not isinstance(error, ZondaError):
        return _report_unexpected(screen, error)
    if screen.form not in ("json", "yaml"):
        return say_error(screen, error)
    formats.write_data(
        screen.out, screen.form, {"errors": [as_data(one) for one in list_errors(error)]}
    )
    return _choose_exit_code(error)


def say_error(screen: Screen, error: ZondaError) -> int:
    """Print ``error`` as a message, whatever the format; return its exit code."""
    found = list_errors(error)
    for warning in error.warnings if isinstance(error, ValidationErrors) else ():
        screen.say(warning_as_text(screen, warning))
    for one in found:
        screen.say(as_text(screen, one))
    if len(found) > 1:
        screen.say(f"{len(found)} errors")
    return _choose_exit_code(error)


def _choose_exit_code(error: ZondaError) -> int:
    return INVALID if isinstance(error, (TemplateError, UsageError)) else FAILED


def list_errors(error: ZondaError) -> Sequence[ZondaError]:
    """List the single errors of an error."""
    return error.errors if isinstance(error, (ValidationErrors, UsageErrors)) else [error]


def as_data(error: ZondaError) -> dict[str, Any]:
    """Return one error as data. ``message`` is the whole sentence, as Heat would give it."""
    place = error.place if isinstance(error, TemplateError) else None
    path = error.path or error.at if isinstance(error, TemplateError) else ()
    related = error.related if isinstance(error, TemplateError) else ()
    way = error.way if isinstance(error, TemplateError) else ()
    return {
        **position_as_data(place),
        "way": [_format_related(each) for each in way],
        "path": show_path(path) if isinstance(error, TemplateError) else None,
        "message": str(error),
        "code": error.code,
        "hint": error.hint or None,
        "related": [_format_related(each) for each in related],
    }


def warning_as_data(warning: TemplateWarning) -> dict[str, Any]:
    """Return one warning as data, in the form of an error."""
    return {
        **position_as_data(warning.place),
        "path": show_path(warning.path),
        "message": warning.message,
        "code": warning.code,
        "hint": warning.hint or None,
        "related": [_format_related(each) for each in warning.related],
    }


def position_as_data(place: Place | None) -> dict[str, Any]:
    """Return a place as data; where there is none, each field is None."""
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


def _format_related(related: Related) -> dict[str, Any]:
    return {**position_as_data(related.place), "message": related.message}


def as_text(screen: Screen, error: ZondaError) -> str:
    """Format one error: a line, an excerpt on a terminal, related places, a hint."""
    place = error.place if isinstance(error, TemplateError) else None
    related = error.related if isinstance(error, TemplateError) else ()
    way = error.way if isinstance(error, TemplateError) else ()
    if way and place is not None:
        place = _make_relative(place)
    kind = screen.colour_message("error", "red")
    # Several lines are what a plug-in or a function says; no line of them looks like another error.
    text = (
        sanitize.sanitize_line(str(error))
        if isinstance(error, UsageError)
        else _unquote_example(str(error))
    )
    text = re.sub(r"\n(?=\S)", "\n    ", text)
    hides = isinstance(error, TemplateError) and error.hides_source
    line = f"{kind}: {text} [{error.code}]"
    return _format_fault(screen, line, place, related, error.hint, way, with_excerpt=not hides)


#: A text of several lines at the end of a sentence, in Python's notation: so Heat gives an example
#: of how a function is called.
_QUOTED = r"""(?<=: )(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\Z"""


def _unquote_example(text: str) -> str:
    """Replace the quoted example at the end of ``text`` by its lines."""
    found = re.search(_QUOTED, text) if "\\n" in text else None
    return text if found is None else f"{text[: found.start()]}{literal_eval(found[0])}"


def warning_as_text(screen: Screen, warning: TemplateWarning) -> str:
    """Format one warning, in the form of an error."""
    line = f"{screen.colour_message('warning', 'yellow')}: {warning.message} [{warning.code}]"
    return _format_fault(screen, line, warning.place, warning.related, warning.hint)


def _format_fault(
    screen: Screen,
    line: str,
    place: Place | None,
    related: Sequence[Related],
    hint: str,
    way: Sequence[Related] = (),
    *,
    with_excerpt: bool = True,
) -> str:
    lines = [f"{_format_place(place)}: {line}" if place else line]
    if place is not None and screen.on_terminal and with_excerpt:
        lines += format_excerpt(screen.source(place.file), place)
    for step in way:
        where = f"{_format_place(_make_relative(step.place))}: " if step.place else ""
        lines.append(f"  {where}on the way: {step.message}")
    for other in related:
        where = f"{_format_place(other.place)}: " if other.place else ""
        lines.append(f"  {where}note: {other.message}")
    if hint:
        lines.append(f"  hint: {hint}")
    return "\n".join(lines)


def _format_place(place: Place) -> str:
    return sanitize.sanitize_line(str(place))


def _make_relative(place: Place) -> Place:
    """Make the path of a place relative to the current folder, if it is below that.

    Nested templates are known by where they are, not by what somebody called them.
    """
    file, here = Path(place.file), Path.cwd()
    if not (file.is_absolute() and file.is_relative_to(here)):
        return place
    return replace(place, file=str(file.relative_to(here)))


def _report_unexpected(screen: Screen, error: Exception) -> int:
    """Report an error of zonda itself (or of the machine): one line, and a hint."""
    log.debug("unexpected error", exc_info=error)
    kind = type(error).__name__
    screen.say(f"{screen.colour_message('error', 'red')}: unexpected {kind}: {error}")
    screen.say("  hint: this is a fault in zonda or in a plug-in; --debug shows where.")
    return FAILED
