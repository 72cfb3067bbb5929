"""What ``get_live_state`` may give beside plain properties. Part of the API of plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AsAWhole(dict[str, Any]):
    """The live state of something of which only is known whether it is as it should be.

    What differs, where it is not (``in_sync``), nobody can tell: no property is shown for it.
    ``reason``: a sentence for people. ``stands_for``: properties in a state from which an update
    would lead to what the template says; a repair hands them to the type as what was observed.
    """

    def __init__(self, stands_for: Mapping[str, Any], *, in_sync: bool, reason: str = "") -> None:
        super().__init__(stands_for)
        self.in_sync = in_sync
        self.reason = reason or "it is not as it should be, and nothing tells in what"
