"""The traceback of an error of a plug-in: file, line and calls, as text.

Made in the pool where a plug-in has failed; kept sealed with the failure (``failing``).
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from zonda import hooks
from zonda.core.template.source.diagnostics import TOO_LARGE
from zonda.hooks.errors import ZondaError
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import escape_surrogates

from .redaction import scrub

#: The number of characters kept; the last ones say most.
LONGEST: Final = 6000
LONGEST_LINE: Final = 400
#: Packages whose frames above a plug-in's are left out: the engine and the plug-in API.
_OURS: Final = tuple(
    f"{folder}/" for folder in (Path(__file__).parents[2], *map(str, hooks.__path__))
)
#: Faults of no plug-in: expressions, and values that would be too large.
_OF_TEMPLATES: Final = ("ZON118", TOO_LARGE)


def format_trace(error: BaseException, secrets: Iterable[Any]) -> str:
    """The traceback of what a plug-in raised, without ``secrets``; '' for a failure it words.

    The same for what a template has asked too much of, or yaql what it cannot do.
    """
    try:
        found: BaseException | None = error
        passed: set[int] = set()
        while isinstance(found, ZondaError):
            if found.code in _OF_TEMPLATES or id(found) in passed:  # a cause may be its own cause
                return ""
            passed.add(id(found))
            found = found.__cause__
        if found is None or (found is not error and _is_raised_by_zonda(found)):
            return ""
        return _format_frames(found, secrets)
    except BaseException as failure:  # what a plug-in has raised may break whoever looks at it
        raise_interruption(failure)
        return ""


def _format_frames(error: BaseException, secrets: Iterable[Any]) -> str:
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None and _is_zonda_frame(frames):
        frames = frames.tb_next
    made = traceback.TracebackException(type(error), error, frames, compact=True)
    whole = scrub(escape_surrogates("".join(made.format())), secrets)
    text = "\n".join(line[:LONGEST_LINE] for line in whole.splitlines())
    return text if len(text) <= LONGEST else f"[...]{text[-LONGEST:]}"


def _is_raised_by_zonda(error: BaseException) -> bool:
    """Whether no plug-in has raised an error: zonda has, and has put it into words."""
    frames = error.__traceback__
    while frames is not None and _is_zonda_frame(frames):
        frames = frames.tb_next
    return frames is None


def _is_zonda_frame(frame: TracebackType) -> bool:
    return frame.tb_frame.f_code.co_filename.startswith(_OURS)
