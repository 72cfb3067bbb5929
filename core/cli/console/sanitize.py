"""Escapes control characters in outside text, so that nothing in it steers the terminal.

Called wherever something is shown for people. Data for programs is not changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks.text.sanitize import escape_control_chars

_TAB = "    "


def sanitize_line(text: str, codes: Mapping[str, str] | None = None) -> str:
    """Escape every control character of ``text``, line breaks included.

    ``codes``: characters that stand for something else, e.g. for a colour.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else _escape_letter(letter, codes or {}) for letter in text
    )


def sanitize_lines(text: str, codes: Mapping[str, str] | None = None) -> str:
    """Escape every control character of ``text``, but keep its line breaks."""
    return "\n".join(sanitize_line(each, codes) for each in text.split("\n"))


def strip_markup(text: str) -> str:
    """Return a docstring as one line without markup."""
    return " ".join(text.replace("``", "").split())


def _escape_letter(letter: str, codes: Mapping[str, str]) -> str:
    if letter in codes:
        return codes[letter]
    return _TAB if letter == "\t" else escape_control_chars(letter)
