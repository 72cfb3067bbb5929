"""The engine in one thread: calls are made at once, time is a fake clock.

For conformance, unit tests and the pytest fixture ``zonda_stack``. The same steps and transitions
as everywhere.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from zonda.core.plugins.manager import Plugins
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import StackView
from zonda.core.store.write.database import Store
from zonda.hooks import records
from zonda.hooks.context import Clock

from ..actions import Accepted, Action
from ..drift.interrupting import interrupt_all
from ..drift.schedule import DueChecks
from ..execution.loop import Task
from ..handlers.runners import act
from ..model.definition import Loading
from ..model.effects import Call
from ..model.lending import Lender
from ..services import EngineSettings
from .building import build_services
from .driver import Driver
from .lateness import Lateness
from .sweeps import take_up_after_end


class InlineEngine:
    """Runs actions to their end. ``clock`` must offer ``advance(seconds)``."""

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        *,
        clock: Any,
        ids: Callable[[], str],
        random: Random,
        lender: Lender,
        load: Loading,
        settings: EngineSettings | None = None,
    ) -> None:
        self.clock: Clock = clock
        self.reader: Reader = store.reader()
        # nobody but this engine ends a nested stack: its owner is told, or there is a fault
        self.settings = records.replace(settings or EngineSettings(), backstop=math.inf)
        self._calls: deque[tuple[Task, Call]] = deque()
        self.services = build_services(
            store.sealer,
            plugins.resource_types,
            load=load,
            clock=clock,
            ids=ids,
            source=random,
            lender=lender,
            settings=self.settings,
            durable=lambda run: self.driver.run_in_transaction(run),
            progress=lambda *said: self.driver.listeners.progress(*said),
            reader=lambda: self.reader,
            drives=lambda root_id: True,
            origins=plugins.origins,
        )
        self.driver = _InlineDriver(store, self.services, self._calls, self.settings)
        self._fire = DueChecks(self.services)
        self._lateness = Lateness(self.driver, clock)

    def run(self, action: Action) -> StackView:
        """Carry out an action until everything has settled; raises errors of the caller."""
        accepted = self.begin(action)
        self.settle()
        return self.reader.stack_by_id(accepted.stack_id)

    def begin(self, action: Action) -> Accepted:
        """Plan an action and go no further."""
        answers: list[tuple[Any, BaseException | None]] = []
        self.driver.start(act(self.services, action), lambda *said: answers.append(said))
        while not answers:
            self._run_once()
        value, error = answers[0]
        if error is not None:
            raise error
        accepted: Accepted = value
        return accepted

    def settle(self) -> None:
        """Go on until nothing is left to do; the clock is moved to the next poll when idle."""
        while self._run_once():
            pass

    def recover(self) -> None:
        """Take up all that is unfinished in the database."""
        self.driver.run_in_transaction(interrupt_all)
        self.driver.run_in_transaction(take_up_after_end)

    def sweep_drift(self) -> None:
        """Begin the drift checks that are due by now."""
        self.driver.run_in_transaction(self._fire)

    def sweep_deadlines(self) -> None:
        """Poll late operations; fail those that have not ended by that. No time passes."""
        for _ in range(2):
            self.driver.start(self._lateness.sweep())
            while self._is_busy_now:
                self._run_once()

    @property
    def _is_busy_now(self) -> bool:
        due = self.driver.next_due()
        is_due = due is not None and due <= self.clock.monotonic()
        return bool(self._calls) or self.driver.has_units or self.driver.has_ready or is_due

    def _run_once(self) -> bool:
        driver = self.driver
        driver.admit()
        if self._calls:
            driver.make(*self._calls.popleft())
        elif driver.has_units:
            self.clock.advance(max(driver.retry_in() or 0.0, 0.0))  # type: ignore[attr-defined]
            driver.commit()
        else:
            due = driver.next_due()
            if due is None or due == math.inf:
                return driver.has_ready
            now = self.clock.monotonic()
            if due > now:
                self.clock.advance(due - now)  # type: ignore[attr-defined]
            driver.wake_due(self.clock.monotonic())
        return True


class _InlineDriver(Driver):
    def __init__(
        self,
        store: Store,
        services: Any,
        calls: deque[tuple[Task, Call]],
        settings: EngineSettings,
    ) -> None:
        super().__init__(store, services, cap=2 * settings.workers, owner="inline")
        self._calls = calls

    def call(self, task: Task, effect: Call) -> None:
        self._calls.append((task, effect))

    def make(self, task: Task, effect: Call) -> None:
        self.advance(task, *effect.make())
