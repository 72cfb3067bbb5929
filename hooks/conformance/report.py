"""The report of a check: one row per rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from ..resources.resource import Resource
from ..text.sanitize import describe_exception, safe_str

PASSED: Final = "pass"
FAILED: Final = "fail"
NOT_APPLICABLE: Final = "not applicable"


class _Outcome(Exception):
    """``text`` is for everybody; ``advice`` for who writes Python, and not a manifest."""

    def __init__(self, text: str, advice: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.advice = advice

    def reason(self, cls: type[Resource]) -> str:
        """The text for the author of ``cls``."""
        return f"{self.text}: {self.advice}" if self.advice and is_python(cls) else self.text


class Violated(_Outcome):
    """A rule is not kept; the text says how."""


class NotApplicable(_Outcome):
    """A rule does not concern this type, or cannot be tried; the text says why."""


def is_python(cls: type[Resource]) -> bool:
    """Whether the class was written in Python; else it was made from a text."""
    return cls.declared_by is None


def describe_error(cls: type[Resource], error: BaseException) -> str:
    """The error as text for the author of ``cls``: its class means nothing in a manifest."""
    return describe_exception(error) if is_python(cls) else safe_str(error)


@dataclass(frozen=True, slots=True)
class Row:
    """One rule: ``check`` names it, ``subject`` the property or call that it was tried on."""

    type: str
    check: str
    verdict: str
    subject: str = ""
    reason: str = ""

    def __str__(self) -> str:
        what = f"{self.check} ({self.subject})" if self.subject else self.check
        return f"{self.verdict:14}  {self.type}  {what}" + (f": {self.reason}" * bool(self.reason))


@dataclass(slots=True)
class Report:
    """The rows of one type, and the state of the check.

    ``stopped``: why the rest is left out, once a rule passed ``limit``. ``on_row`` gets each row.
    """

    type: str
    rows: list[Row] = field(default_factory=list)
    limit: float = 0.0
    stopped: str = ""
    on_row: Callable[[Row], None] | None = None

    def add(self, check: str, verdict: str, subject: str = "", reason: str = "") -> None:
        """Add a row."""
        row = Row(self.type, check, verdict, subject, reason)
        self.rows.append(row)
        if self.on_row is not None:
            self.on_row(row)

    @property
    def failed(self) -> list[Row]:
        """The rows that failed."""
        return [row for row in self.rows if row.verdict == FAILED]

    def raise_if_failed(self) -> None:
        """Raise AssertionError that lists every rule that is not kept."""
        if self.failed:
            raise AssertionError("\n".join(map(str, self.failed)))

    def to_list(self) -> list[dict[str, Any]]:
        """Plain data."""
        return [asdict(row) for row in self.rows]
