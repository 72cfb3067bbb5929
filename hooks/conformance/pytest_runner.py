"""Conformance suites as a session of pytest, for commands: one item per rule.

Importing it raises UsageError where pytest is not installed. A session reads no settings of the
working directory; ``PYTEST_ADDOPTS`` may hold options of pytest (``-k``, ``--junit-xml``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import UsageError
from .suite import Rule, Suite

try:
    import pytest
except ModuleNotFoundError as error:
    raise UsageError(
        "Conformance suites need pytest, which is not installed.", hint="pip install 'zonda[check]'"
    ) from error

#: The command shows the rows, and plug-ins own the process: their threads, warnings and logs.
_LEFT_OUT: Final = (
    *("cacheprovider", "faulthandler", "logging", "terminal"),
    *("threadexception", "unraisableexception", "warnings"),
)
_OPTIONS: Final = (
    *("-c", os.devnull, "--noconftest", "--disable-plugin-autoload"),
    *("--assert=plain", "--capture=no", *(f"-pno:{name}" for name in _LEFT_OUT)),
)


class _RuleItem(pytest.Item):
    """A rule as an item that pytest runs."""

    def __init__(self, *, rule: Rule, **options: Any) -> None:
        super().__init__(**options)
        self._rule = rule

    def runtest(self) -> None:
        """Try the rule."""
        self._rule()

    def reportinfo(self) -> tuple[Path, None, str]:
        """The name in reports."""
        return self.path, None, self.name


class _Collector:
    """A plug-in of pytest that collects rules instead of files."""

    def __init__(self, suites: Sequence[Suite]) -> None:
        self._suites = suites
        self.interruption: BaseException | None = None

    def pytest_collection(self, session: pytest.Session) -> bool:
        """Collect the rules, as far as ``-k`` chooses them."""
        rules = [rule for suite in self._suites for rule in suite.rules]
        items: list[pytest.Item] = [
            # in brackets, as of a test with parameters: the name of a type holds "::"
            _RuleItem.from_parent(session, name=f"rule[{rule}]", rule=rule)
            for rule in rules
        ]
        hook, config = session.config.hook, session.config
        hook.pytest_collection_modifyitems(session=session, config=config, items=items)
        session.items, session.testscollected = items, len(items)
        hook.pytest_collection_finish(session=session)
        return True

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep the interruption: pytest ends its session only."""
        self.interruption = excinfo.value


def run_with_pytest(suites: Sequence[Suite]) -> None:
    """Run every rule that is chosen; raises UsageError for options that pytest refuses."""
    collector = _Collector(suites)
    code = pytest.main(list(_OPTIONS), plugins=[collector])
    if collector.interruption is not None:
        raise collector.interruption
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR):
        raise UsageError("pytest cannot run the rules.", hint="Look at PYTEST_ADDOPTS.")
    for suite in suites:
        suite.clean_up()
