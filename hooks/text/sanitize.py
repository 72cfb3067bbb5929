"""Makes texts of plug-ins and users fit for storing and showing.

A plug-in's error may have a ``__str__`` that raises, and any text may hold half of a surrogate
pair, which no file, database or terminal takes.
"""

from __future__ import annotations

import json
import math
import sys
import unicodedata
from pathlib import Path
from types import FunctionType
from typing import Any, Final

from ..errors import NotReady, ResourceFailure
from .borders import raise_interruption

#: Characters that are kept of what somebody else says of a failure, or of what is waited for.
LONGEST: Final = 4000
#: The number of last ones among them: the fault is often there.
_END: Final = 1000
#: Packages whose frames belong to no plug-in: zonda and the importer.
_NOT_A_PLUGINS: Final = ("<frozen ", f"{Path(__file__).parents[2]}/", f"{sys.base_prefix}/lib/")
#: Seconds after which somebody who is not ready is asked again at the latest: a year.
LONGEST_DELAY: Final = 366 * 86_400.0


def escape_surrogates(text: str) -> str:
    r"""``text`` with lone surrogates written out (``\ud800``)."""
    return text.encode("utf-8", "backslashreplace").decode()


def escape_control_chars(text: str) -> str:
    r"""``text`` on one line, with every control character spelt out (``\n``), for names."""
    if text.isprintable():
        return text
    return "".join(map(_escape_letter, text))


def _escape_letter(letter: str) -> str:
    if letter.isprintable() or unicodedata.category(letter) == "Zs":
        return letter
    return letter.encode("unicode_escape").decode()


def safe_str(thing: object) -> str:
    """``str(thing)``, encodable, whatever its ``__str__`` does."""
    try:
        return escape_surrogates(str(thing))
    except BaseException as error:  # a stranger's __str__ may raise anything
        raise_interruption(error)
        return f"<{type(thing).__name__} whose text cannot be made: {type(error).__name__}>"


def truncate_middle(text: str) -> str:
    """``text`` with its middle replaced by a note where it is too long to read."""
    lacking = len(text) - LONGEST
    if lacking <= 0:
        return text
    return f"{text[: LONGEST - _END]} [... {lacking:,} characters left out ...] {text[-_END:]}"


def get_retry_delay(error: NotReady) -> float:
    """The seconds until the next attempt: a year at most. Raises ResourceFailure for no time."""
    delay: Any = error.delay
    if isinstance(delay, int | float) and 0 <= delay < math.inf:
        return float(min(delay, LONGEST_DELAY))
    said = f"NotReady was raised with a delay that is no time: {safe_str(delay)}"
    raise ResourceFailure(truncate_middle(said))


def describe_exception(error: BaseException) -> str:
    """``ValueError: text``: an exception of a plug-in as text."""
    return f"{type(error).__name__}: {safe_str(error)}"


def format_raise_place(error: BaseException) -> str:
    """`` (FILE:LINE in CLASS: source)``: the place where plug-in code raised ``error``; or ''."""
    if isinstance(error, ModuleNotFoundError):
        return ""  # what lacks is told by its name
    import traceback  # most programs never show one

    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if not each.filename.startswith(_NOT_A_PLUGINS)]
    if not own:
        return ""
    last = own[-1]
    source = f": {truncate_middle(last.line)}" if last.line else ""
    return f" ({last.filename}:{last.lineno} in {last.name}{source})"


def join_sentences(*texts: str) -> str:
    """The texts as sentences in one text, each with a full stop; empty ones are left out."""
    *front, last = [text.strip() for text in texts if text.strip()] or [""]
    return " ".join([*(text if text[-1] in ".!?" else f"{text}." for text in front), last])


def hint_for_lost_attribute(error: BaseException) -> str:
    """The hint for an ``error`` about an attribute that a plug-in had kept on ``self``."""
    if not isinstance(error, AttributeError) or not _is_stored_by_method(
        type(error.obj), error.name
    ):
        return ""
    return (
        f"What {type(error.obj).__name__} keeps on self ({error.name}) lasts for one operation "
        "at most: keep it in the token, with data_set or with metadata_set."
    )


def _is_stored_by_method(kind: type[Any], name: str | None) -> bool:
    """Whether a method of a plug-in's class assigns to ``self.NAME``."""
    if not hasattr(kind, "handle_create"):
        return False
    import dis  # for this fault only

    methods = (value for cls in kind.__mro__ for value in vars(cls).values())
    return any(
        step.opname == "STORE_ATTR" and step.argval == name
        for method in methods
        if isinstance(method, FunctionType)
        for step in dis.get_instructions(method)
    )


def note_lost_attribute(error: BaseException) -> None:
    """Add the hint for a lost attribute to ``error``, where it shows in a traceback."""
    advice = hint_for_lost_attribute(error)
    if advice:
        error.add_note(advice)


def require_text(what: str, value: object) -> str:
    """``value`` as text. Raises ResourceFailure where it has none that can be stored."""
    if isinstance(value, dict | list | tuple | set | frozenset | bytes) or _has_no_text(value):
        raise ResourceFailure(f"{what} is not text but {type(value).__name__}")
    return require_encodable(what, str(value))


def require_encodable(what: str, text: str) -> str:
    """``text``. Raises ResourceFailure where it holds half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ResourceFailure(f"{what} is not text: it holds half of a surrogate pair") from None
    return text


def _has_no_text(value: object) -> bool:
    kind = type(value)
    return kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__


def require_json(what: str, value: Any, *, strict: bool = False) -> Any:
    """``value`` as JSON has it. Raises ResourceFailure where it has no word for it.

    NaN and the infinities are taken, as Python does, unless ``strict``.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=not strict)
        text.encode()
    except UnicodeEncodeError:
        raise ResourceFailure(f"{what} holds half of a surrogate pair, which is no text") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise ResourceFailure(f"{what} cannot be stored as JSON: {safe_str(error)}") from None
    return json.loads(text)
