"""A repair that is only shown: what has drifted is looked at by whoever asks, without an engine.

Nothing is stored (``unstored`` looks). ``AsFound`` is a reader that shows what is wrong as the
repair would take it, so that the plan is worked out as any other one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from zonda.core.engine.actions import RepairDrift
from zonda.core.graph.digraph import cone
from zonda.core.store.read import drift_to_view
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import DriftCheckRow, PlanRow, ResourceRow, StackRow
from zonda.core.store.schema.words import DRIFTED, MISSING, REPAIR
from zonda.hooks.errors import NotSupported
from zonda.hooks.text.redaction import secret_texts

from ..model import row_annotations
from ..model.plan import StackPlan
from ..model.states import DIRTY
from ..services import EngineServices
from . import store
from .differences import without
from .findings import Check, Found
from .repair import as_missing, proposal, to_repair
from .unstored import Unstored


class AsFound(Reader):
    """What is stored, with what was found ``wrong`` of instances, by their ids."""

    def __init__(self, known: Reader, check: Check) -> None:
        self.__dict__.update(known.__dict__)
        self.wrong: Mapping[str, Found] = {}
        self._dirty = _with_owners(known, check.row.stack_id, check.wrong)
        self.wrong = check.wrong
        #: What was seen, as readers are told of any check; it is stored nowhere.
        self.check = drift_to_view.check(check.row)
        rows = store.findings(check, check.found)
        self.findings = sorted(map(drift_to_view.finding, rows), key=attrgetter("path"))

    def resource_rows(self, stack_id: str) -> list[ResourceRow]:
        """See ``Reader``."""
        return [self._seen(row) for row in super().resource_rows(stack_id)]

    def tree_resources(self, root_id: str) -> list[ResourceRow]:
        """See ``Reader``."""
        return [self._seen(row) for row in super().tree_resources(root_id)]

    def resource_row(self, resource_id: str) -> ResourceRow | None:
        """See ``Reader``."""
        row = super().resource_row(resource_id)
        return None if row is None else self._seen(row)

    def plan_rows(self, stack_id: str) -> list[PlanRow]:
        """See ``Reader``."""
        rows = super().plan_rows(stack_id)
        return [
            dataclasses.replace(row, dirty=DIRTY) if row.id in self._dirty else row for row in rows
        ]

    def _seen(self, row: ResourceRow) -> ResourceRow:
        found = self.wrong.get(row.id)
        if row.id in self._dirty:
            row.dirty = DIRTY
        if found is None:
            return row
        row.resolved_hash = ""
        if row_annotations.is_owed(row):
            return row
        if found.verdict == MISSING:
            as_missing(row, found, row.generation)
        else:
            seen = _masked(found)
            row_annotations.hand(
                row, row_annotations.observed(self.sealer, seen, row.generation, found.left)
            )
            if not found.diff and found.verdict == DRIFTED:
                row_annotations.hand(row, row_annotations.as_a_whole(found.reason))
        return row


def _masked(found: Found) -> dict[str, Any]:
    """What was observed, where others do not repeat what a hidden property was found to be."""
    hidden = {entry["path"][0] for entry in found.diff if "hidden" in entry}
    texts = secret_texts(found.live[name] for name in hidden if name in found.live)
    return {
        name: value if name in hidden else without(value, texts)
        for name, value in found.live.items()
    }


def _with_owners(reader: Reader, root_id: str, wrong: Iterable[str]) -> set[str]:
    """The instances ``wrong``, and those that they are nested in."""
    owned = reader.owners_below(root_id)
    rows = filter(None, map(reader.resource_row, wrong))
    above = {child: [parent] for child, _, parent, _ in owned}
    stacks = cone((row.stack_id for row in rows), above)
    return {*wrong, *(owner for child, owner, _, _ in owned if child in stacks)}


def as_found(
    services: EngineServices, action: RepairDrift, pause: Callable[[float], Any]
) -> AsFound:
    """Look at what a repair would look at; ``pause`` does nothing for some seconds."""
    stack, scope = to_repair(services, action)
    now = services.clock.now()
    row = DriftCheckRow(services.ids(), stack.id, stack.generation, REPAIR)
    row.by, row.scope, row.started_at = services.settings.user, json.dumps(list(scope)), now
    check = Check(row)
    Unstored(services, pause).run(check)
    if not check.outcome:
        raise NotSupported(
            f"No repair of stack {stack.name} is planned: the look at what there is has not come "
            "to its end."
        )
    store.conclude(row, check.found, services.clock.now())
    return AsFound(services.reader(), check)


def propose(services: EngineServices, stack: StackRow, action: RepairDrift) -> StackPlan | None:
    """The plan for what the reader shows; the engine's own way is ``repairing.repair``."""
    reader = services.reader()
    return proposal(services, stack, reader.wrong) if isinstance(reader, AsFound) else None
