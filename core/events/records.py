"""From stored events to the records that sinks get, with the path from the root stack."""

from __future__ import annotations

from dataclasses import dataclass

from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import EventView
from zonda.hooks.errors import NotFound
from zonda.hooks.events import EventRecord

#: Ways that are kept. They are forgotten together: few trees are worked on at a time.
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class _TreePath:
    """The position of a stack in its tree."""

    project: str
    root_name: str
    path: str


class Records:
    """Makes records. Used by several threads: at worst a path is read twice."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ways: dict[str, _TreePath] = {}

    def list_after(self, seq: int, limit: int) -> list[EventRecord]:
        """List the records of the events after a sequence number, in order, of all stacks."""
        return [self.of(event) for event in self._reader.events_after(seq, limit)]

    def of(self, event: EventView) -> EventRecord:
        """Make the record of an event."""
        way = self._ways.get(event.stack_id)
        if way is None:
            if len(self._ways) >= _KEPT:
                self._ways.clear()
            way = self._ways[event.stack_id] = self._read_path(event.stack_id, event.stack_name)
        return EventRecord(
            id=event.id,
            seq=event.seq,
            at=event.at,
            project=way.project,
            stack_id=event.stack_id,
            stack_name=way.root_name,
            path="/".join(filter(None, (way.path, event.resource_name))),
            resource_name=event.resource_name,
            resource_type=event.resource_type,
            physical_id=event.physical_id,
            action=event.action,
            status=event.status,
            reason=event.reason,
            generation=event.generation,
        )

    def _read_path(self, stack_id: str, name: str) -> _TreePath:
        """Read the path of a stack; of a deleted one as much as is known."""
        names: list[str] = []
        project = ""
        try:
            stack = self._reader.stack_by_id(stack_id)
            project, name = stack.project, stack.name
            while stack.owner_resource_id is not None:
                owner = self._reader.resource_row(stack.owner_resource_id)
                if owner is None:  # deleted meanwhile: the stack's own name says where it was
                    names.append(stack.name)
                    break
                names.append(owner.name)
                stack = self._reader.stack_by_id(owner.stack_id)
            name = self._reader.stack_by_id(stack.root_id or stack.id).name
        except NotFound:
            pass
        return _TreePath(project, name, "/".join(reversed(names)))
