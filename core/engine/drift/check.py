"""A check that is running in this process. Pure data, owned by the driver's thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zonda.core.store.rows import DriftCheckRow, DriftRow

from .found import Found


@dataclass(slots=True, eq=False)
class Check:
    """``found``: what there is so far, by the ids of instances; ``rows`` and ``paths`` likewise.

    ``repairs``: what is wrong is put right once it is complete. ``observer``: who looks.
    """

    row: DriftCheckRow
    repairs: bool = False
    paths: dict[str, str] = field(default_factory=dict)
    rows: dict[str, DriftRow] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)
    observer: Any = None
    left: int = 0
    #: Whether anything may still be found.
    is_open: bool = True
    #: None while it runs, then whether it is complete.
    outcome: bool | None = None

    @property
    def wrong(self) -> dict[str, Found]:
        """What a repair would put right, by the ids of instances."""
        return {key: found for key, found in self.found.items() if found.is_wrong}
