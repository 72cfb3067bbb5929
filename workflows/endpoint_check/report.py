"""The report of an endpoint check: one row per rule of the ``http`` contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from zonda.hooks import join_sentences
from zonda.hooks.conformance import FAILED, NOT_APPLICABLE, PASSED

#: Allowed, and worth knowing: what would make the endpoint better or safer.
HINT: Final = "hint"
#: Where the rules are written down.
DOCUMENT = "docs/reference/http-contract.md"


@dataclass(frozen=True, slots=True)
class Found:
    """The details of a finding: expected by the contract, came instead, what to do."""

    expected: str
    came: str
    do: str


class Finding(Exception):
    """A rule is not kept, or has a hint."""

    def __init__(self, expected: str, came: str, do: str) -> None:
        super().__init__(came)
        self.found = Found(expected, came, do)


class Violated(Finding):
    """A rule is not kept."""


class Hint(Finding):
    """A rule is kept; something could be better."""


@dataclass(frozen=True, slots=True)
class Row:
    """One rule. ``see``: the section of the documents; ``reason``: why it does not apply."""

    check: str
    verdict: str
    see: str
    reason: str = ""
    expected: str = ""
    came: str = ""
    do: str = ""

    def text(self) -> str:
        """The text of the row, for people."""
        if not self.came:
            return self.reason
        return join_sentences(f"Expected: {self.expected}", f"Came: {self.came}", self.do)

    def __str__(self) -> str:
        said = self.text()
        return f"{self.verdict:14}  {self.check}" + (f": {said}" if said else "")


@dataclass(slots=True)
class Report:
    """The rows of one endpoint. ``told`` gets each; ``stopped``: why the rest is left out."""

    told: Callable[[Row], None] = lambda row: None
    clean: Callable[[str], str] = lambda text: text
    rows: list[Row] = field(default_factory=list)
    stopped: str = ""

    def add(self, check: str, verdict: str, see: str, reason: str = "") -> None:
        """Add the row of a rule that is kept, or that does not apply."""
        self._add_row(Row(check, verdict, f"{DOCUMENT}#{see}", self.clean(reason)))

    def found(self, check: str, verdict: str, see: str, found: Found) -> None:
        """Add the row of a rule with a finding."""
        said = [self.clean(text) for text in (found.expected, found.came, found.do)]
        self._add_row(Row(check, verdict, f"{DOCUMENT}#{see}", "", *said))

    def _add_row(self, row: Row) -> None:
        self.rows.append(row)
        self.told(row)

    def count(self, verdict: str) -> int:
        """The number of rows with this verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def failed(self) -> list[Row]:
        """The rules that are not kept."""
        return [row for row in self.rows if row.verdict == FAILED]


__all__ = [
    "FAILED",
    "HINT",
    "NOT_APPLICABLE",
    "PASSED",
    "Finding",
    "Found",
    "Hint",
    "Report",
    "Row",
    "Violated",
]
