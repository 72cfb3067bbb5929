"""Plans for display: computed beside a running engine, without a lock; nothing is written.

Used by ``stacks``.
"""

from __future__ import annotations

from typing import Any

from zonda.core.engine.actions import Action, Caller, RepairDrift
from zonda.core.engine.drift.dry_run import check_now
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.plan_file import format_plan
from zonda.core.engine.preview.preview import build_preview
from zonda.core.engine.runtime.building import build_services
from zonda.core.engine.services import EngineServices
from zonda.core.store.read.drift_views import DriftCheckView, DriftFindingView
from zonda.core.store.read.reader import Reader
from zonda.hooks.records import dataclass

from .parts import Parts


@dataclass(frozen=True, slots=True)
class PlanResult:
    """A plan. ``document``: the data that is shown (docs/reference/plan-json.md);
    ``file``: the text to keep.

    ``seen``: of a repair, what was seen of what it is for: a check that is stored nowhere, and what
    that has found.
    """

    document: dict[str, Any]
    file: str | None = None
    seen: tuple[DriftCheckView, list[DriftFindingView]] | None = None

    @property
    def fails(self) -> bool:
        """Whether the plan is known to fail."""
        return bool(self.document["fails"])

    @property
    def does_something(self) -> bool:
        """Whether anything would, or might, change."""
        return bool(self.document["does_something"])


def make_plan(
    parts: Parts, reader: Reader, action: Action, *, keep: bool, caller: Caller | None = None
) -> PlanResult:
    """Preview ``action``; ``keep``: with the text of a plan file. ``caller``: who asks."""
    services = make_read_services(parts, reader, caller)
    seen = planner = None
    if isinstance(action, RepairDrift):
        there = check_now(services, action, parts.clock.pause)
        services, seen = make_read_services(parts, there, caller), (there.check, there.findings)
        planner = there.plan_repair
    found = build_preview(services, action, planner)
    text = format_plan(found, reader.sealer, services.definitions) if keep else None
    shown = build_document(found)
    if seen is not None:
        shown["notes"] += [f"{each.path}: {note}." for each in seen[1] for note in each.notes]
    return PlanResult(shown, text, seen)


def make_read_services(
    parts: Parts, reader: Reader, caller: Caller | None = None
) -> EngineServices:
    """Make the services of a preview; ``caller``: who asks, if not the user of the settings."""
    services = build_services(
        reader.sealer,
        parts.plugins.resource_types,
        load=parts.template_loader,
        clock=parts.clock,
        ids=parts.ids.new,
        source=parts.random,
        lender=parts.lender,
        settings=parts.make_engine_settings(),
        reader=lambda: reader,
        origins=parts.plugins.origins,
    )
    return services if caller is None else services.for_caller(caller)
