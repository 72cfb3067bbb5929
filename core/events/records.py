"""From stored events to the records that sinks get, with the path from the root stack."""

from __future__ import annotations

from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import EventView
from zonda.hooks.errors import NotFound
from zonda.hooks.events import EventRecord
from zonda.hooks.records import dataclass

#: Ways that are kept. They are forgotten together: few trees are worked on at a time.
_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class TreePath:
    """The position of a stack in its tree; ``root_id`` '' for a stack that is not there any more.

    ``path``: the names of the resources that it is nested in, from the root's on.
    """

    project: str
    root_id: str
    root_name: str
    path: str


class Records:
    """Makes records. Used by several threads: at worst a path is read twice."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ways: dict[str, TreePath] = {}

    def list_after(self, seq: int, limit: int) -> list[EventRecord]:
        """List the records of the events after a sequence number, in order, of all stacks."""
        return [self.of(event) for event in self._reader.events_after(seq, limit)]

    def of(self, event: EventView) -> EventRecord:
        """Make the record of an event."""
        way = self._ways.get(event.stack_id)
        if way is None:
            if len(self._ways) >= _KEPT:
                self._ways.clear()
            way = read_tree_path(self._reader, event.stack_id, event.stack_name)
            self._ways[event.stack_id] = way
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


def read_tree_path(reader: Reader, stack_id: str, name: str = "") -> TreePath:
    """The position of a stack; of a deleted one as much as is known. ``name``: if nothing is."""
    names: list[str] = []
    project = root_id = ""
    try:
        stack = reader.stack_by_id(stack_id)
        project, name, root_id = stack.project, stack.name, stack.root_id or stack.id
        while stack.owner_resource_id is not None:
            owner = reader.resource_row(stack.owner_resource_id)
            if owner is None:  # deleted meanwhile: the stack's own name says where it was
                names.append(stack.name)
                break
            names.append(owner.name)
            stack = reader.stack_by_id(owner.stack_id)
        name = reader.stack_by_id(root_id).name
    except NotFound:
        pass
    return TreePath(project, root_id, name, "/".join(reversed(names)))
