"""What is worked out ahead of its intent: in one turn of the pool, stored by one transaction.

A type that does nothing outside zonda leaves nothing behind that an intent would have to tell of.
So its handler may run before anything is stored: on a *draft* of its row. If that comes to an end
at once, begin and end are one transaction; and whoever waited for this instance alone is worked
out in the same turn, and so on, as long as a turn may take. A draft is worth something only while
its row is what it was made from; else it is dropped, and nothing has happened.

Called by steps: ``Ahead.run`` in the pool; ``heirs`` and ``settle`` in a transaction.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from zonda.core.store.schema.rows import ResourceRow, StackRow, copied

from ..diff.prepare import Preparation
from ..model.lending import Write
from ..model.outcomes import Answer, Final, Prepared, Waiting
from ..model.states import COMPLETE, OPEN, PRESENT
from ..model.unit_of_work import Work
from ..model.work_item import Draft, Seen
from ..operations import transitions
from ..operations.replacement import is_left_alone
from ..plugins.operation import Operation
from ..progress import progress
from ..services import Room

#: How many instances one turn works out at most, and seconds after which it begins no other one.
TOGETHER = 16
TURN = 0.01
#: How many of those that wait for an operation are kept at hand while it runs.
AT_HAND = 2


@dataclass(slots=True)
class Link:
    """One instance as it was seen, what is to be done with it, and how far that was worked out.

    ``fence`` and ``generation`` are those that were seen. ``operation``: the one on the draft, with
    its handle, what it stores (``writes``) and what it has answered.
    """

    seen: Seen
    fence: int
    generation: int
    prepared: Prepared
    operation: Operation | None = None
    handle: transitions.Held | None = None
    answer: Answer | None = None
    writes: list[Write] = field(default_factory=list)

    @property
    def given(self) -> Prepared | None:
        """What an operation is begun with; a deletion needs no definition."""
        return None if self.prepared.op == "DELETE" else self.prepared

    @property
    def begun(self) -> Begun:
        """The operation on the draft, once it is that of the row too."""
        assert self.operation is not None
        return Begun(self.operation.seen, self.operation, self.answer, self.writes)


@dataclass(slots=True)
class Begun:
    """An operation that is begun and to be driven; with what was called ahead, and its answer."""

    seen: Seen
    operation: Operation | None = None
    answer: Answer | None = None
    writes: list[Write] = field(default_factory=list)


class Ahead:
    """Works out what a look has found to be due, and what follows from it."""

    def __init__(self, room: Room, *seen: Seen) -> None:
        self._room = room
        self._todo = deque(seen)
        # Drafts that have come to their end, with their data, for those who read them.
        # None: they are stored already.
        self._done: dict[str, Draft] = {}

    def run(self) -> list[Link]:
        """The instance that was seen, then those that could be worked out after it."""
        clock, links = self._room.clock, list[Link]()
        until = clock.monotonic() + TURN
        while self._todo and (not links or clock.monotonic() < until):
            links.append(self._link(self._reading_drafts(self._todo.popleft())))
        return links

    def after(self, operation: Operation, final: Final) -> list[Link]:
        """Those that wait for an operation that has just ended well, so far as only in memory."""
        row = copied(operation.row)
        row.physical_id = operation.instance.resource_id
        transitions.achieved(row, final)
        self._done[row.id] = (row, None)
        return self.run() if self._todo else []

    def _reading_drafts(self, seen: Seen) -> Seen:
        if not self._done:
            return seen
        known = {row.id: self._done[row.id] for row in seen.required if row.id in self._done}
        if not known:
            return replace(seen, drafts=self._done)
        required = [known[row.id][0] if row.id in known else row for row in seen.required]
        return replace(
            seen,
            required=required,
            drafted={key: data for key, (_, data) in known.items() if data is not None},
            drafts=self._done,
        )

    def _link(self, seen: Seen) -> Link:
        row = seen.row
        link = Link(seen, row.fence, row.generation, self._prepared(seen))
        # what may have to wait, or be tried again, is not worked out ahead
        if seen.stack.policies or not may_be_drafted(self._room, row, link.prepared):
            return link
        rows = _Rows(seen)
        draft: Work = _Draft(self._room, seen.stack, rows)
        transitions.begin(draft, row, link.prepared.op, link.given)
        link.operation = Operation(self._room.instances, replace(seen, fresh=True), link.writes)
        link.handle = transitions.held(row)
        link.answer = self._answer(link.operation)
        if isinstance(link.answer, Final):
            for write in link.writes:
                write(draft)
            transitions.achieved(row, link.answer)
            self._done[row.id] = (row, rows.data)
            self._todo.extend(seen.heirs)
        return link

    def _prepared(self, seen: Seen) -> Prepared:
        if seen.row.want != PRESENT:
            return Prepared("begin", "DELETE", class_type=seen.row.class_type)
        return Preparation(self._room.instances, seen).run()

    def _answer(self, operation: Operation) -> Answer:
        answer = operation.handle()
        if isinstance(answer, Waiting) and answer.delay is None:
            answer = operation.poll()
            if isinstance(answer, Waiting) and answer.delay is None:
                return replace(answer, delay=self._room.poll_delay(operation.started_at))
        return answer


def may_be_drafted(room: Room, row: ResourceRow, prepared: Prepared) -> bool:
    """Whether an operation may run before its intent is stored: its type does nothing outside."""
    return prepared.verdict == "begin" and room.definitions.is_inward_type(prepared.class_type)


class _Rows:
    """The one row of a draft, and its data; stands in for a transaction."""

    def __init__(self, seen: Seen) -> None:
        self._row = seen.row
        self._data = {name: (name, value, redact) for name, value, redact in seen.data}

    @property
    def data(self) -> list[tuple[str, str, int]]:
        return list(self._data.values())

    def resource(self, key: str) -> ResourceRow | None:
        return self._row if key == self._row.id else None

    def put_data(self, key: str, name: str, value: str, redact: bool) -> None:
        self._data[name] = (name, value, int(redact))

    def drop_data(self, key: str, name: str) -> None:
        self._data.pop(name, None)


class _Draft(Work):
    """Work on a draft: nothing of it is stored, nobody is told."""

    __slots__ = ("_stack",)

    def __init__(self, room: Room, stack: StackRow, rows: Any) -> None:
        super().__init__(rows, room.clock.now(), room.ids, room.sealer, "")
        self._stack = stack

    def stack_of(self, row: ResourceRow) -> StackRow:
        return self._stack

    def resource_event(self, row: ResourceRow, action: str, status: str, reason: str) -> None:
        return None


# -- in a transaction -----------------------------------------------------------------------------


def following(room: Room, operation: Operation) -> None:
    """Have an operation work out, when it ends well, those that wait for it alone."""
    if operation.seen.heirs:
        operation.follow = lambda ended, final: Ahead(room, *ended.seen.heirs).after(ended, final)


def heirs(work: Work, room: Room, row: ResourceRow, most: int) -> list[Seen]:
    """Those that wait for ``row`` alone, with theirs: what could be worked out right after it.

    None where policies (breakpoints, limits, protection) ask for a look at each one.
    """
    found: list[Seen] = []
    stack, left = work.stack_of(row), most
    if stack.policies:
        return found
    frontier = deque([(row, found)])
    while frontier and left > 0:
        before, into = frontier.popleft()
        for other in _waiting_for_one(work, stack, before, left):
            seen = _seen(work, stack, other)
            into.append(seen)
            left -= 1
            if room.definitions.seems_inward(other):
                frontier.append((other, seen.heirs))
    return found


def _waiting_for_one(
    work: Work, stack: StackRow, row: ResourceRow, most: int
) -> Iterator[ResourceRow]:
    for other in islice(progress.neighbours(work, stack, row), most):
        if other.waiting != 1 or other.open != OPEN or other.op or other.verb:
            continue
        if other.want == PRESENT or _is_plainly_deleted(other):
            yield other


def _is_plainly_deleted(row: ResourceRow) -> bool:
    """Whether the deletion of an instance needs no look at it before."""
    gone = (row.action, row.status) == ("DELETE", COMPLETE)
    return not (gone or row.protect or is_left_alone(row))


def _seen(work: Work, stack: StackRow, row: ResourceRow) -> Seen:
    required = []
    if row.want == PRESENT:
        required = [copied(other) for other in work.tx.required(row)]
    data = work.tx.data(row.id) if row.fence else []
    return Seen(copied(row), stack, data, required, heirs=[])


def is_as_seen(work: Work, link: Link) -> bool:
    """Whether what a link has read still says the same."""
    return all(_says_the_same(work.tx.resource(other.id), other) for other in link.seen.required)


def _says_the_same(now: ResourceRow | None, then: ResourceRow) -> bool:
    return now is not None and (now.want, now.action, now.outputs_hash, now.physical_id) == (
        then.want,
        then.action,
        then.outputs_hash,
        then.physical_id,
    )
