"""The checks of a driver, made when the first one begins: most engines need none.

Called by the drivers, in their thread. Nothing of what a check takes is imported before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..services import EngineServices

if TYPE_CHECKING:  # what comes with the first check
    from .check_resources import Checks, Start
    from .findings import Check


class ChecksOnDemand:
    """The same interface as ``check_resources.Checks``."""

    def __init__(self, services: EngineServices, start: Start) -> None:
        self._services = services
        self._start = start
        self._made: Checks | None = None
        self._is_closed = False

    @property
    def made(self) -> Checks:
        """The checks themselves."""
        if self._made is None:
            from .check_resources import Checks
            from .repair import repair_after_check

            self._made = Checks(
                self._services, self._start, lambda it: repair_after_check(self._services, it)
            )
        return self._made

    def begin(self, check: Check) -> None:
        """Run a check that is stored."""
        if not self._is_closed:
            self.made.begin(check)

    def sweep(self) -> None:
        """Give up the observations that are past their time limit."""
        if self._made is not None:
            self._made.sweep()

    def close(self) -> None:
        """Begin nothing more."""
        self._is_closed = True
        if self._made is not None:
            self._made.close()
