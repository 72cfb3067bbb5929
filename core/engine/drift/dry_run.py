"""The preview of a repair: the process that asks checks the resources itself, without an engine.

Nothing is stored. The looks are those of any check (``Checks``); they are run by this thread, with
a pool, since there may be no engine. ``AsFound`` is a reader that shows what is wrong as the
repair would take it, so that the plan is worked out as any other one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import attrgetter
from queue import Empty, SimpleQueue
from typing import Any

from zonda.core.engine.actions import RepairDrift
from zonda.core.graph.digraph import find_reachable
from zonda.core.store.read import drift_to_view
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import DriftCheckRow, PlanRow, ResourceRow, StackRow
from zonda.core.store.schema.words import DRIFTED, MISSING, REPAIR
from zonda.hooks import records
from zonda.hooks.errors import NotSupported
from zonda.hooks.text.redaction import secret_texts

from ..execution.loop import Loop, Task
from ..execution.pool import Pool
from ..model import row_annotations
from ..model.effects import Call, Step, Tx
from ..model.plan import StackPlan
from ..model.states import DIRTY
from ..services import EngineServices
from . import store
from .check_resources import Checks
from .differences import redact_deep
from .findings import Check, Found
from .repair import build_repair_plan, find_scope, mark_missing

#: The longest that nobody asks whether a look takes too long.
_LOOK_AROUND = 1.0
#: Seconds that what a look has begun has to be cancelled once all is known.
_CANCELLING = 5.0


class DryRun(Loop):
    """Runs one check without storing anything. ``pause`` sleeps for some seconds."""

    def __init__(self, services: EngineServices, pause: Callable[[float], Any]) -> None:
        super().__init__(services, cap=0)
        self._pause = pause
        self._pool = Pool(services.settings.workers, "zonda-look")
        self._inbox: SimpleQueue[tuple[Task, Any, Exception | None]] = SimpleQueue()
        #: Calls that have not come back.
        self._out = 0
        self._checks = Checks(services, self.start, _refuse_repair)
        services.hanging.spare = self._pool.widen

    def call(self, task: Task, effect: Call) -> None:
        """See ``Loop``."""
        self._out += 1
        self._pool.submit(lambda: self._inbox.put((task, *effect.make())))

    def store(self, task: Task, effect: Tx) -> None:
        """Store nothing of the end of a check."""
        self.advance(task, True)

    def run(self, check: Check) -> None:
        """Run the check to its end; ``check.outcome`` says whether that was reached."""
        self._checks.begin(check)
        monotonic = self.services.clock.monotonic
        try:
            while check.outcome is None:
                self._run_once(monotonic())
            until = monotonic() + _CANCELLING
            while self._out > self._checks.hanging and monotonic() < until:
                self._run_once(monotonic())
        finally:
            self._pool.stop()

    def _run_once(self, now: float) -> None:
        self.wake_due(now)
        self._checks.sweep()
        due = self.next_due()
        seconds = _LOOK_AROUND if due is None else min(max(due - now, 0.0), _LOOK_AROUND)
        if not self._out:
            self._pause(seconds)
            return
        with suppress(Empty):
            answer = self._inbox.get(timeout=seconds)
            self._out -= 1
            self.advance(*answer)


def _refuse_repair(check: Check) -> Step:
    """A preview repairs nothing."""
    raise AssertionError(check.row.id)


class AsFound(Reader):
    """A reader of the stored rows, changed by the check results ``wrong``, by instance id."""

    def __init__(self, known: Reader, check: Check) -> None:
        self.__dict__.update(known.__dict__)
        self.wrong: Mapping[str, Found] = {}
        self._dirty = _add_owners(known, check.row.stack_id, check.wrong)
        self.wrong = check.wrong
        #: The observations, in the form of any check's results; they are not stored.
        self.check = drift_to_view.to_check_view(check.row)
        rows = store.list_findings(check, check.found)
        self.findings = sorted(map(drift_to_view.to_finding_view, rows), key=attrgetter("path"))

    def plan_repair(
        self, services: EngineServices, stack: StackRow, action: RepairDrift
    ) -> StackPlan | None:
        """The plan of the repair; the engine itself uses ``repair.repair``."""
        return build_repair_plan(services, stack, self.wrong)

    def resource_rows(self, stack_id: str) -> list[ResourceRow]:
        """See ``Reader``."""
        return [self._apply_result(row) for row in super().resource_rows(stack_id)]

    def tree_resources(self, root_id: str) -> list[ResourceRow]:
        """See ``Reader``."""
        return [self._apply_result(row) for row in super().tree_resources(root_id)]

    def resource_row(self, resource_id: str) -> ResourceRow | None:
        """See ``Reader``."""
        row = super().resource_row(resource_id)
        return None if row is None else self._apply_result(row)

    def plan_rows(self, stack_id: str) -> list[PlanRow]:
        """See ``Reader``."""
        rows = super().plan_rows(stack_id)
        return [records.replace(row, dirty=DIRTY) if row.id in self._dirty else row for row in rows]

    def _apply_result(self, row: ResourceRow) -> ResourceRow:
        found = self.wrong.get(row.id)
        if row.id in self._dirty:
            row.dirty = DIRTY
        if found is None:
            return row
        row.resolved_hash = ""
        if row_annotations.is_owed(row):
            return row
        if found.verdict == MISSING:
            mark_missing(row, found, row.generation)
        else:
            seen = _mask_hidden(found)
            text = row_annotations.seal_observed(self.sealer, seen, row.generation, found.left)
            row_annotations.annotate(row, row_annotations.REPAIR, text)
            if not found.diff and found.verdict == DRIFTED:
                reason = " ".join(found.reason.split())
                row_annotations.annotate(row, row_annotations.WHOLE, reason)
        return row


def _mask_hidden(found: Found) -> dict[str, Any]:
    """The observed values of an instance, with hidden properties masked."""
    hidden = {entry["path"][0] for entry in found.diff if "hidden" in entry}
    texts = secret_texts(found.live[name] for name in hidden if name in found.live)
    return {
        name: value if name in hidden else redact_deep(value, texts)
        for name, value in found.live.items()
    }


def _add_owners(reader: Reader, root_id: str, wrong: Iterable[str]) -> set[str]:
    """The instances ``wrong``, and those that they are nested in."""
    owned = reader.list_owners_below(root_id)
    rows = filter(None, map(reader.resource_row, wrong))
    above = {child: [parent] for child, _, parent, _ in owned}
    stacks = find_reachable((row.stack_id for row in rows), above)
    return {*wrong, *(owner for child, owner, _, _ in owned if child in stacks)}


def check_now(
    services: EngineServices, action: RepairDrift, pause: Callable[[float], Any]
) -> AsFound:
    """Check the resources that a repair would check; ``pause`` sleeps for some seconds."""
    stack, scope = find_scope(services, action)
    now = services.clock.now()
    row = DriftCheckRow(services.ids(), stack.id, stack.generation, REPAIR)
    row.by, row.scope, row.started_at = services.settings.user, json.dumps(list(scope)), now
    check = Check(row)
    DryRun(services, pause).run(check)
    if not check.outcome:
        raise NotSupported(
            f"No repair of stack {stack.name} is planned: the look at what there is has not come "
            "to its end."
        )
    store.conclude(row, check.found, services.clock.now())
    return AsFound(services.reader(), check)
