"""The stack that something is done for, as runners and clients are told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StackRef:
    """The stack on whose behalf a workflow runs."""

    id: str
    name: str
    project: str
