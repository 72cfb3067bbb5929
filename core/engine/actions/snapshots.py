"""Actions on snapshots."""

from __future__ import annotations

from zonda.hooks.records import dataclass

from .base import Action


@dataclass(frozen=True, slots=True)
class SnapshotStack(Action):
    """Take a snapshot of every resource."""

    stack: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class DeleteSnapshot(Action):
    """Delete a snapshot; ``snapshot``: its id or name."""

    stack: str
    snapshot: str


@dataclass(frozen=True, slots=True)
class RestoreSnapshot(Action):
    """Restore the stack from a snapshot."""

    stack: str
    snapshot: str
