"""Plans for faces: worked out beside whatever engine runs, without a lock; nothing is written.

Used by ``core/app/app.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zonda.core.engine.actions import Action, RepairDrift
from zonda.core.engine.drift.dry_run import as_found
from zonda.core.engine.preview.document import document
from zonda.core.engine.preview.plan_file import text_of
from zonda.core.engine.preview.preview import preview
from zonda.core.engine.runtime.building import reading_room
from zonda.core.engine.services import EngineServices, EngineSettings
from zonda.core.store.read.drift_views import DriftCheckView, DriftFindingView
from zonda.core.store.read.reader import Reader

from .engine_client import Parts


@dataclass(frozen=True, slots=True)
class Planned:
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
        """Whether it is known to fail."""
        return bool(self.document["fails"])

    @property
    def does_something(self) -> bool:
        """Whether anything would, or might, change."""
        return bool(self.document["does_something"])


def plan(parts: Parts, reader: Reader, action: Action, *, keep: bool) -> Planned:
    """What ``action`` would do; ``keep``: with the text of a plan file."""
    services = _services(parts, reader)
    seen = None
    if isinstance(action, RepairDrift):
        there = as_found(services, action, parts.clock.pause)
        services, seen = _services(parts, there), (there.check, there.findings)
    found = preview(services, action)
    text = text_of(found, reader.sealer, services.definitions) if keep else None
    shown = document(found)
    if seen is not None:
        shown["notes"] += [f"{each.path}: {note}." for each in seen[1] for note in each.notes]
    return Planned(shown, text, seen)


def _services(parts: Parts, reader: Reader) -> EngineServices:
    known, plugins = parts.settings, parts.plugins
    return reading_room(
        reader,
        plugins.resource_types,
        load=parts.loading,
        clock=parts.clock,
        ids=parts.ids.new,
        source=parts.random,
        lender=parts.lender,
        settings=EngineSettings(
            project=known.project,
            user=known.user,
            workers=known.workers,
            drift_workers=known.drift_workers,
            drift_rate=known.drift_rate,
            drift_timeout=known.drift_timeout,
        ),
        origins=plugins.origins,
    )
