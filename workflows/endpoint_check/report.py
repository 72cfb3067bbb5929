"""What a check of an endpoint has found: one row per rule of the ``http`` contract."""

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
    """What was looked at: what the contract wants, what came instead, what to do."""

    expected: str
    came: str
    do: str


class Finding(Exception):
    """A rule has something to say."""

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
        """All that is to be said, for people."""
        if not self.came:
            return self.reason
        return join_sentences(f"Expected: {self.expected}", f"Came: {self.came}", self.do)

    def __str__(self) -> str:
        said = self.text()
        return f"{self.verdict:14}  {self.check}" + (f": {said}" if said else "")


@dataclass(slots=True)
class Report:
    """All rows of one endpoint. ``told`` gets each; ``stopped``: why the rest is left out."""

    told: Callable[[Row], None] = lambda row: None
    clean: Callable[[str], str] = lambda text: text
    rows: list[Row] = field(default_factory=list)
    stopped: str = ""

    def add(self, check: str, verdict: str, see: str, reason: str = "") -> None:
        """A rule that is kept, or that does not apply."""
        self._keep(Row(check, verdict, f"{DOCUMENT}#{see}", self.clean(reason)))

    def found(self, check: str, verdict: str, see: str, found: Found) -> None:
        """A rule that has something to say."""
        said = [self.clean(text) for text in (found.expected, found.came, found.do)]
        self._keep(Row(check, verdict, f"{DOCUMENT}#{see}", "", *said))

    def _keep(self, row: Row) -> None:
        self.rows.append(row)
        self.told(row)

    def count(self, verdict: str) -> int:
        """How many rows say that."""
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
