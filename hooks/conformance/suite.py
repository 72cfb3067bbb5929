"""The core of every conformance suite: rules, what they need of each other, and the report.

Extended by ``type_suite``, and for endpoints by ``workflows.endpoint_check``. Rules are tests of
pytest: an author's own test calls each one, and commands run all of them (``pytest_runner``).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Literal

from ..records import asdict, dataclass, field
from ..text.borders import Interruption, interruptible, raise_interruption
from ..text.sanitize import describe_exception, join_sentences

PASSED: Final = "pass"
FAILED: Final = "fail"
NOT_APPLICABLE: Final = "not applicable"
#: The rule is kept; something could be better or safer.
HINT: Final = "hint"
#: Seconds that one try of a rule may take.
DEFAULT_LIMIT: Final = 60.0
#: Seconds between one interruption and the next, for what cleans up without an end.
_AGAIN: Final = 1.0


class Finding(Exception):
    """Ends a rule that does not simply pass. ``advice``: what an author can do about it.

    With ``expected``, ``text`` says what came instead.
    """

    verdict: ClassVar[str]

    def __init__(self, text: str, advice: str = "", expected: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.advice = advice
        self.expected = expected


class Violated(Finding):
    """A rule is not kept; the text says how."""

    verdict = FAILED


class NotApplicable(Finding):
    """A rule does not concern the subject, or cannot be tried; the text says why."""

    verdict = NOT_APPLICABLE


@dataclass(frozen=True, slots=True)
class Row:
    """One rule: ``check`` names it, ``subject`` the property or call that it was tried on.

    ``see``: where the rule is written down.
    """

    type: str
    check: str
    verdict: str
    subject: str = ""
    reason: str = ""
    expected: str = ""
    came: str = ""
    do: str = ""
    see: str = ""

    def text(self) -> str:
        """The text of the row, for people."""
        if not self.expected:
            return self.reason
        return join_sentences(f"Expected: {self.expected}", f"Came: {self.came}", self.do)

    def __str__(self) -> str:
        names = (self.type, f"{self.check} ({self.subject})" if self.subject else self.check)
        text = self.text()
        return f"{self.verdict:14}  {'  '.join(filter(None, names))}" + (f": {text}" * bool(text))


@dataclass(slots=True)
class Report:
    """The rows of a suite."""

    type: str
    rows: list[Row] = field(default_factory=list)

    def count(self, verdict: str) -> int:
        """The number of rows with this verdict."""
        return sum(row.verdict == verdict for row in self.rows)

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


#: basic: the rest is left out where it fails; summary: it looks at what all others have done,
#: whatever became of them; cleanup: it is tried last, chosen or not.
Kind = Literal["plain", "basic", "summary", "cleanup"]


@dataclass(frozen=True, eq=False)
class Rule:
    """One rule of a suite, on one subject. Called by a test of pytest, it is tried.

    ``check`` raises an ``Finding`` unless the rule is kept.
    """

    suite: Suite
    name: str
    check: Callable[[], object]
    subject: str = ""
    kind: Kind = "plain"
    see: str = ""

    def __str__(self) -> str:
        name = f"{self.name} ({self.subject})" if self.subject else self.name
        return f"{self.suite.name}: {name}" if self.suite.name else name

    def __call__(self) -> None:
        """Skip where the rule does not apply; raise AssertionError where it is not kept."""
        import pytest

        row = self.suite.try_rule(self)
        if row.verdict == NOT_APPLICABLE:
            pytest.skip(row.reason)
        if row.verdict == FAILED:
            pytest.fail(row.text(), pytrace=False)


class Suite:
    """The rules for one subject: a resource type, or an endpoint. ``on_row`` gets each row."""

    def __init__(self, name: str, on_row: Callable[[Row], object] | None = None) -> None:
        self.name = name
        self.report = Report(name)
        #: The reason for leaving out the rest; empty while nothing is wrong.
        self.stopped = ""
        self.rules: Sequence[Rule] = ()
        self._on_row = on_row
        self._rows: dict[Rule, Row] = {}

    def try_all(self) -> Report:
        """Try every rule in order."""
        for rule in self.rules:
            self.try_rule(rule)
        return self.report

    def try_rule(self, rule: Rule) -> Row:
        """The row of a rule. It is tried once, after the rules that it needs."""
        if rule not in self._rows:
            for needed in self._list_needed(rule):
                self.try_rule(needed)
            with interruptible(signal.SIGINT):
                row = self._make_row(rule)
            self._rows[rule] = row
            self.report.rows.append(row)
            if self._on_row is not None:
                self._on_row(row)
        return self._rows[rule]

    def clean_up(self) -> None:
        """Try the rules that clean up, after the others."""
        for rule in self.rules:
            if rule.kind == "cleanup":
                self.try_rule(rule)

    def redact(self, text: str) -> str:
        """``text`` without anything secret that is known here."""
        return text

    def describe_advice(self, finding: Finding) -> str:
        """The advice of an finding for the author of the subject."""
        return finding.advice

    def describe_error(self, error: BaseException) -> str:
        """The text of an error that a rule did not expect."""
        return describe_exception(error)

    def _list_needed(self, rule: Rule) -> Iterator[Rule]:
        for earlier in self.rules[: self.rules.index(rule)]:
            if rule.kind == "summary" or (earlier.kind == "basic" and rule.kind != "cleanup"):
                yield earlier

    def _make_row(self, rule: Rule) -> Row:
        try:
            if self.stopped and rule.kind in ("plain", "basic"):
                raise NotApplicable(f"left out: {self.stopped}")
            rule.check()
        except TookTooLong as error:
            subject = f" of {rule.subject}" * bool(rule.subject)
            self.stopped = f"{rule.name}{subject} took too long"
            finding: Finding = Violated(str(error))
        except Finding as error:
            finding = error
        except BaseException as error:  # the border: a plug-in's calls may raise anything
            raise_interruption(error)
            notes = " ".join(getattr(error, "__notes__", ()))
            finding = Violated(f"{self.describe_error(error)} {notes}".rstrip())
        else:
            return Row(self.report.type, rule.name, PASSED, rule.subject, see=rule.see)
        if rule.kind == "basic" and finding.verdict == FAILED:
            self.stopped = self.stopped or f"{rule.name!r} failed"
        return self._format_finding(rule, finding)

    def _format_finding(self, rule: Rule, finding: Finding) -> Row:
        redact, advice = self.redact, self.describe_advice(finding)
        row = (self.report.type, rule.name, finding.verdict, rule.subject)
        text = redact(finding.text)
        if finding.expected:
            return Row(*row, "", redact(finding.expected), text, redact(advice), rule.see)
        return Row(*row, f"{text}: {redact(advice)}" if advice else text, see=rule.see)


class TookTooLong(Interruption):
    """A call took longer than its limit; raised wherever the code is."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TookTooLong where the block takes longer than ``seconds``; 0: no limit.

    It needs the signals of the main thread: elsewhere (another thread, Windows) a call may take as
    long as it likes. A timer that is set already (of a test run) is left alone.
    """
    if not seconds or not _has_signals() or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    def raise_too_long(*_: object) -> None:
        raise TookTooLong(f"it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, raise_too_long)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _has_signals() -> bool:
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")
