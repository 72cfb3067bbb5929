"""One finding of a command that looks for what is wrong: ``zonda doctor``, ``zonda db check``."""

from __future__ import annotations

from zonda.hooks.records import dataclass

OK, WARNING, FAULT = "ok", "warning", "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: the part that was checked, its status, and a hint."""

    check: str
    status: str
    text: str
    hint: str = ""
