"""Text from outside as a person may see it: nothing in it steers the terminal.

Called wherever something is shown for people. Data for programs is not changed.
"""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks.text.sanitize import escape_control_chars

_TAB = "    "


def line(text: str, codes: Mapping[str, str] | None = None) -> str:
    """``text`` with every control character spelt out, line breaks included.

    ``codes``: characters that stand for something else, e.g. for a colour.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else _shown(letter, codes or {}) for letter in text
    )


def lines(text: str, codes: Mapping[str, str] | None = None) -> str:
    """Like ``line``, with line breaks left as they are."""
    return "\n".join(line(each, codes) for each in text.split("\n"))


def prose(text: str) -> str:
    """A docstring as one line without markup."""
    return " ".join(text.replace("``", "").split())


def _shown(letter: str, codes: Mapping[str, str]) -> str:
    if letter in codes:
        return codes[letter]
    return _TAB if letter == "\t" else escape_control_chars(letter)
