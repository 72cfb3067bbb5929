"""The plan of a repair, worked out beside the engine."""

from __future__ import annotations

import random
from typing import Any

from tests.engine.drifting import Drifting

from zonda.core.engine.actions import RepairDrift
from zonda.core.engine.drift.dry_run import as_found
from zonda.core.engine.preview.document import document
from zonda.core.engine.preview.preview import preview
from zonda.core.engine.runtime.building import reading_room
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.functions.versions import functions_for
from zonda.core.template.source.bundle import Limits


def planned(drift: Drifting) -> dict[str, Any]:
    """The plan of a repair, worked out beside the engine."""
    services, bench = drift.engine.services, drift.bench
    found = as_found(services, RepairDrift("s"), lambda seconds: None)
    shown = reading_room(
        found,
        drift.bench.types,
        load=TemplateLoading(
            bench.plugins,
            lambda version: functions_for(version, bench.plugins),
            Limits(),
            bench.lender,
            services.clock,
            random.Random(0),
        ),
        clock=services.clock,
        ids=services.ids,
        source=random.Random(0),
        lender=drift.bench.lender,
        settings=services.settings,
    )
    return document(preview(shown, RepairDrift("s")))
