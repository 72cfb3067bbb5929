"""The progress of operations, as one member tells it to the others. Nothing of it is stored."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence

from zonda.core.engine.model.unit_of_work import Notice

#: Stack and resource; '' for all of the stack.
_Place = tuple[str, str]
_LONGEST_MESSAGE = 300
#: Characters of a text, all ASCII; PostgreSQL's notifications have less than 8,000 bytes.
_LONGEST_TEXT = 7500


class ProgressNews:
    """The messages that have changed since the others were told."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: dict[_Place, str] = {}
        self._changed: dict[_Place, tuple[str, float | None]] = {}

    def take_notices(self, notices: Sequence[Notice]) -> None:
        """Take what an engine has to tell. Called in its threads."""
        with self._lock:
            for notice in notices:
                self._take(notice)

    def _take(self, notice: Notice) -> None:
        event = notice.event
        if event is None:
            place = notice.stack_id, notice.resource
            message = notice.message[:_LONGEST_MESSAGE]
            if self._told.get(place) != message:
                self._told[place] = message
                self._changed[place] = message, notice.since
        elif event.status != "IN_PROGRESS":
            name = event.resource_name
            ended = [key for key in self._told if key[0] == notice.stack_id]
            for key in ended if not name else [(notice.stack_id, name)]:
                if self._told.pop(key, None) is not None:
                    self._changed[key] = "", None

    def write(self) -> Iterator[str]:
        """Write what has changed since the last call, as texts of less than 8,000 bytes."""
        with self._lock:
            changed, self._changed = self._changed, {}
        text = ""
        for place, (message, since) in changed.items():
            row = json.dumps([*place, message, since])
            if text and len(text) + len(row) > _LONGEST_TEXT:
                yield f"[{text}]"
                text = ""
            text = f"{text},{row}" if text else row
        if text:
            yield f"[{text}]"


def parse_progress(text: str) -> list[Notice]:
    """The notices in a text of ``write``; one without a message ends what was told."""
    return [
        Notice(stack_id, None, resource, message, since)
        for stack_id, resource, message, since in json.loads(text)
    ]
