"""``--drift-schedule`` and ``--drift-policy``: of creations and updates."""

from __future__ import annotations

import argparse
from typing import Any

from zonda.core.store.read.views import StackView

from ..console import formats

POLICIES = ("report", "repair")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--drift-schedule`` and ``--drift-policy`` of a creation or an update."""
    group = parser.add_argument_group("drift")
    group.add_argument(
        "--drift-schedule",
        metavar="EXPR",
        help="look for drift then: '*/15 * * * *' (cron, UTC), 15m, 1h30m; off: never; "
        "environment: as that says",
    )
    group.add_argument(
        "--drift-policy", choices=POLICIES, help="what to do about it (default: report)"
    )


def build_fields(stack: StackView) -> dict[str, Any]:
    """Build the fields of a stack's drift settings."""
    return {
        "drift_schedule": stack.drift_schedule,
        "drift_policy": stack.drift_policy,
        "drift_next_check": formats.format_time(stack.drift_next),
    }
