"""The reference to a stack that runners and clients are given."""

from __future__ import annotations

from ..records import dataclass


@dataclass(frozen=True, slots=True)
class StackRef:
    """The stack on whose behalf a workflow runs."""

    id: str
    name: str
    project: str
