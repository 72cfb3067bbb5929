"""The plan of a repair, worked out beside the engine."""

from __future__ import annotations

import random
from typing import Any

from tests.engine.drifting import Drifting

from zonda.core.engine.actions import RepairDrift
from zonda.core.engine.drift.dry_run import check_now
from zonda.core.engine.preview.document import build_document
from zonda.core.engine.preview.preview import build_preview
from zonda.core.engine.runtime.building import build_services
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.functions.versions import build_function_table
from zonda.core.template.source.bundle import Limits


def planned(drift: Drifting) -> dict[str, Any]:
    """The plan of a repair, worked out beside the engine."""
    services, bench = drift.engine.services, drift.bench
    found = check_now(services, RepairDrift("s"), lambda seconds: None)
    shown = build_services(
        found.sealer,
        drift.bench.types,
        load=TemplateLoading(
            bench.plugins,
            lambda version: build_function_table(version, bench.plugins),
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
        reader=lambda: found,
    )
    return build_document(build_preview(shown, RepairDrift("s"), found.plan_repair))
