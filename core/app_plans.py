"""Plans for faces: worked out beside whatever engine runs, without a lock; nothing is written.

Used by ``core/app.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .app_commands import Parts
from .engine.actions import Action
from .engine.building import reading_room
from .engine.preview.document import document
from .engine.preview.making import preview
from .engine.preview.promise import text_of
from .engine.room import EngineSettings
from .store.reads import Reader


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan. ``document``: what is shown of it, see docs/plans.md; ``file``: the text to keep."""

    document: dict[str, Any]
    file: str | None = None

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
    known = parts.settings
    plugins = parts.plugins
    room = reading_room(
        reader,
        plugins.resource_types,
        load=parts.loading,
        clock=parts.clock,
        ids=parts.ids.new,
        source=parts.random,
        lender=parts.lender,
        settings=EngineSettings(project=known.project, user=known.user),
        origins=plugins.origins,
    )
    found = preview(room, action)
    text = text_of(found, reader.sealer, room.definitions) if keep else None
    return Planned(document(found), text)
