"""One transaction: rows are loaded once, changed in place, and written by ``flush``.

Called by the engine thread (through ``Store.transaction``). A row that was changed is written
``WHERE id AND fence`` with the fence it was loaded with: if somebody took it over, nothing is
written and ``Fenced`` undoes the transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..database.protocols import Connection, Cursor
from ..schema.rows import (
    EventRow,
    PlanRow,
    ResourceRow,
    StackRow,
    event_values,
    resource_changes,
    resource_values,
    stack_changes,
    stack_values,
)
from .drift import DriftTables
from .duties import Duties, Foreign, Ownership
from .edges import STACKS_KEPT, Edge, Edges
from .known_rows import KnownRows
from .page_states import PageStates
from .resource_data import ResourceData
from .software import SoftwareTables

#: The age at which history is deleted.
_OF_THE_PAST = tuple(
    f"delete_old_{what}"
    for what in ("events", "event_properties", "actions", "failed", "drift_checks")
)

#: A row, its values now and as they were loaded.
_Changed = tuple[ResourceRow, tuple[Any, ...], tuple[Any, ...]]


class Fenced(Exception):
    """Another process has taken a row over since it was loaded."""


class Transaction(ResourceData):
    """Reads and writes between begin and commit."""

    def __init__(
        self,
        connection: Connection,
        known: KnownRows | None = None,
        edges: Edges | None = None,
        ownership: Ownership | None = None,
    ) -> None:
        super().__init__(connection)
        self._known = known or KnownRows()
        self._edges = edges or Edges()
        # Instances that were deleted, and those of them that still stand in the table.
        self._gone: set[str] = set()
        self._going: list[tuple[str, int]] = []
        # Statements that wrote, each with the ids of the rows that it has to have changed.
        self._written: list[tuple[Cursor, list[str]]] = []
        # Stacks that were made here, and have no instances yet.
        self._empty: set[str] = set()
        # Instances whose rows were changed by a statement.
        self._stale: set[str] = set()
        if ownership is not None:
            self.duties = Duties(connection, ownership)
        #: Checks of drift, what they have found, and what is ignored of it.
        self.drift = DriftTables(connection, self.duties)
        #: Configurations and deployments by API.
        self.software = SoftwareTables(connection)
        #: Sign-ins of the pages, and plans that they have shown.
        self.page_states = PageStates(connection)
        self._resources: dict[str, tuple[ResourceRow, tuple[Any, ...]]] = {}
        self._stacks: dict[str, tuple[StackRow, tuple[Any, ...]]] = {}
        self._events: list[EventRow] = []
        self._event_properties: list[tuple[str, str, str, float]] = []
        self.event_seqs: list[int] = []

    # -- stacks ---------------------------------------------------------------------------------

    def stack(self, stack_id: str) -> StackRow | None:
        """The stack of that id."""
        known = self._stacks.get(stack_id)
        if known is not None:
            return known[0]
        found = self._known.stacks.get(stack_id)
        if found is None:
            found = self._execute(self._sql["stack_by_id"], (stack_id,)).fetchone()
        return None if found is None else self._track_stack(found)

    def live_stack_named(self, project: str, name: str) -> StackRow | None:
        """The stack of that name that is not deleted."""
        self.flush()
        found = self._execute(self._sql["stack_by_name"], (project, name)).fetchone()
        return None if found is None else self._track_stack(found)

    def add_stack(self, row: StackRow) -> None:
        """Insert a stack: it has no instances yet."""
        row.root_id = row.root
        if self.duties is not None and row.root == row.id:
            self.duties.add(row.id, is_new=True)
        values = stack_values(row)
        self._execute(self._sql["insert_stack"], values)
        self._stacks[row.id] = (row, values)
        self._empty.add(row.id)
        self._edges.begin(row.id)

    def _track_stack(self, found: tuple[Any, ...]) -> StackRow:
        known = self._stacks.get(found[0])
        if known is not None:
            return known[0]
        row = StackRow(*found)
        self._stacks[row.id] = (row, found)
        return row

    def child_of(self, resource_id: str) -> StackRow | None:
        """The nested stack of an instance, if it has one that is not deleted."""
        # Nothing is written for that: what is known here is newer than what was found.
        found = self._execute(self._sql["child_of"], (resource_id,)).fetchall()
        rows = (self._track_stack(each) for each in found)
        return next(
            (row for row in rows if (row.owner_resource_id, row.deleted_at) == (resource_id, None)),
            None,
        )

    def tree(self, root_id: str) -> list[StackRow]:
        """The stacks of one tree that are not deleted, the root first."""
        self._flush_stacks()
        found = self._execute(self._sql["stacks_of_root"], (root_id,)).fetchall()
        return [self._track_stack(each) for each in found]

    def add_template(
        self,
        template_id: str,
        stack_id: str,
        body: str,
        at: float,
        base_id: str | None = None,
        checked: str = "",
    ) -> None:
        """Insert a template; ``base_id``: the one that it builds on."""
        self._execute(
            self._sql["insert_template"], (template_id, stack_id, body, at, base_id, checked)
        )

    # -- resources ------------------------------------------------------------------------------

    def resource(self, resource_id: str) -> ResourceRow | None:
        """The instance of that id."""
        known = self._resources.get(resource_id)
        if known is not None:
            return known[0]
        if resource_id in self._gone:
            return None
        found = None if resource_id in self._stale else self._known.resources.get(resource_id)
        if found is None:
            found = self._execute(self._sql["resource_by_id"], (resource_id,)).fetchone()
        return None if found is None else self._track(found)

    def add_resources(self, rows: Sequence[ResourceRow]) -> None:
        """Insert instances."""
        self._empty.difference_update(row.stack_id for row in rows)
        values = [resource_values(row) for row in rows]
        self._connection.executemany(self._sql["insert_resource"], values)
        for row, value in zip(rows, values, strict=True):
            self._resources[row.id] = (row, value)

    def remove_resource(self, row: ResourceRow) -> None:
        """Delete an instance and its edges; ``flush`` does it."""
        original = self._resources.pop(row.id)[1]
        self._going.append((row.id, original[_FENCE]))
        self._gone.add(row.id)
        self._edges.drop_all_of(row.stack_id, row.id)

    def move_resource(self, row: ResourceRow, stack_id: str) -> None:
        """Move an instance to another stack; nothing requires it yet."""
        self.flush(row.stack_id)
        self._empty.discard(stack_id)
        edges = [(row.id, other) for other in self.requirements(row)]
        edges += [(other, row.id) for other in self.dependants(row)]
        self.drop_edges(row.stack_id, edges)
        self._execute(self._sql["rehome_resource"], (stack_id, row.id))
        row.stack_id = stack_id
        self._resources[row.id] = (row, resource_values(row))

    def list_of_tree(self, kind: str, root_id: str) -> list[ResourceRow]:
        """The instances of a tree ``promised`` to another stack of it, or ``signalled`` (busy)."""
        self.flush()
        return self._load_resources(f"{kind}_of_tree", root_id)

    def _track(self, found: tuple[Any, ...]) -> ResourceRow:
        known = self._resources.get(found[0])
        if known is not None:
            return known[0]
        row = ResourceRow(*found)
        self._resources[row.id] = (row, found)
        return row

    def plan_rows(self, stack_id: str) -> list[PlanRow]:
        """The rows of every instance of a stack, as a plan needs them."""
        if stack_id in self._empty:
            return []
        self.flush(stack_id)
        return [PlanRow(*found) for found in self._execute(self._sql["plan_rows"], (stack_id,))]

    def resources_of(self, stack_id: str) -> list[ResourceRow]:
        """Every instance of a stack."""
        self.flush(stack_id)
        return self._load_resources("resources_of_stack", stack_id)

    def resources_named(self, stack_id: str, name: str) -> list[ResourceRow]:
        """Every instance of that name, the oldest first."""
        self.flush(stack_id)
        return self._load_resources("resources_named", stack_id, name)

    def list_required(self, row: ResourceRow) -> list[ResourceRow]:
        """The present instances that an instance requires."""
        found = map(self.resource, self.requirements(row))
        return [other for other in found if other is not None and other.want == "PRESENT"]

    def running(self, stack_id: str) -> list[str]:
        """Instances of a stack with an operation."""
        return self._list_ids("running_ids", stack_id, of=stack_id)

    def list_absent(self, stack_id: str) -> list[str]:
        """Instances of a stack that are to be deleted."""
        # What is changed here is known here: a plan need not write every row twice.
        found = {key for (key,) in self._execute(self._sql["absent_ids"], (stack_id,))}
        for key, (row, _) in self._resources.items():
            if row.stack_id == stack_id:
                (found.add if row.want == "ABSENT" else found.discard)(key)
        return sorted(found - self._gone)

    def list_paused(self, stack_id: str) -> list[str]:
        """Instances of a stack that wait at a breakpoint, or have just left one."""
        return self._list_ids("paused_ids", stack_id, of=stack_id)

    def find_by_physical_id(self, physical_id: str) -> list[tuple[str, str, str | None]]:
        """(id, type, annotations) of the instances that own an object of that id."""
        self.flush()
        found = self._execute(self._sql["resources_with_id"], (physical_id,))
        return [(key, class_type or kind, given) for key, kind, class_type, given in found]

    def has_protected(self, root_id: str) -> bool:
        """Whether a command protects anything in a tree."""
        return bool(self._list_ids("protected_of_tree", root_id))

    def tree_size(self, root_id: str, *, wanted: bool = False) -> int:
        """As ``Reader.tree_size``, with what this transaction has written."""
        return int(self._list_ids("wanted_of_root" if wanted else "size_of_root", root_id)[0])

    def count_of_project(self, kind: str, project: str) -> int:
        """The ``stacks``, ``resources``, running ``actions`` or ``snapshots`` of a project."""
        return int(self._list_ids(f"{kind}_of_project", project)[0])

    def tree_facts(self, root_id: str) -> list[tuple[Any, ...]]:
        """As ``Reader.tree_facts``, with what this transaction has written."""
        self.flush()
        return sorted(self._execute(self._sql["tree_facts"], (root_id, root_id)))

    def close_idle(self, stack_id: str) -> list[str]:
        """Take every instance without an operation out of the running plan.

        Returns the ids of all that are in it.
        """
        return self._close("close_idle", stack_id, lambda row: not row.op)

    def close_all(self, stack_id: str) -> list[str]:
        """Take every instance out of the running plan; returns their ids."""
        return self._close("close_all", stack_id, lambda row: True)

    def _close(self, name: str, stack_id: str, which: Callable[[ResourceRow], bool]) -> list[str]:
        if stack_id in self._empty:
            return []
        changed = self._list_ids("open_ids", stack_id, of=stack_id)
        if not changed:
            return []
        self._execute(self._sql[name], (stack_id,))
        self._stale.update(key for key in changed if key not in self._resources)
        for key, (row, _) in list(self._resources.items()):
            if row.stack_id == stack_id and row.open and which(row):
                row.open = 0
                self._resources[key] = (row, resource_values(row))
        return changed

    # -- edges ----------------------------------------------------------------------------------

    def add_edges(self, stack_id: str, edges: Collection[Edge]) -> None:
        """Insert edges (dependant, requirement); those that exist stay."""
        if edges:
            self._connection.executemany(
                self._sql["insert_edge"], [(src, dst, stack_id) for src, dst in edges]
            )
            self._edges.add(stack_id, edges)

    def edges(self, stack_id: str) -> list[Edge]:
        """Every edge of a stack: (dependant, requirement)."""
        return self._edges.list_edges(stack_id, self._load_edges)

    def _load_edges(self, stack_id: str) -> list[Edge]:
        self._flush_removed()  # edges go with their instances
        return self._execute(self._sql["edges_of_stack"], (stack_id,)).fetchall()

    def dependants(self, row: ResourceRow) -> Sequence[str]:
        """Instances that require this one."""
        return self._edges.dependants(row.stack_id, row.id, self._load_edges)

    def requirements(self, row: ResourceRow) -> Sequence[str]:
        """Instances that this one requires."""
        return self._edges.requirements(row.stack_id, row.id, self._load_edges)

    def drop_edges(self, stack_id: str, edges: Collection[Edge]) -> None:
        """Delete edges."""
        if edges:
            self._connection.executemany(self._sql["delete_edge"], edges)
            self._edges.drop(stack_id, edges)

    def drop_edges_to_absent(self, row: ResourceRow) -> None:
        """Delete the edges to former requirements of an instance."""
        others = map(self.resource, self.requirements(row))
        self.drop_edges(
            row.stack_id,
            [(row.id, other.id) for other in others if other and other.want == "ABSENT"],
        )

    # -- data, events, requests, facts ----------------------------------------------------------

    def add_event(self, event: EventRow) -> None:
        """Append an event."""
        self._events.append(event)

    def add_event_properties(self, event: EventRow, properties: str, hidden: str) -> None:
        """Keep the properties with which the operation begins that ``event`` tells of."""
        self._event_properties.append((event.id, properties, hidden, event.at))

    def forget(self, events_before: float, others_before: float, keyed_before: float) -> None:
        """Delete old events, history and requests, stacks long gone, templates nobody uses.

        ``keyed_before``: for requests that may be sent again, see ``keep_answer``.
        """
        self.flush()
        for name in _OF_THE_PAST:
            self._execute(self._sql[name], (events_before,))
        self._execute(self._sql["delete_old_requests"], (others_before, keyed_before))
        self._execute(self._sql["delete_old_page_states"], (others_before,))
        kept = (events_before, events_before, others_before, events_before)
        self._execute(self._sql["delete_unused_templates"], kept)
        self._execute(self._sql["delete_old_stacks"], (events_before,))

    # -- writing --------------------------------------------------------------------------------

    def flush(self, stack_id: str | None = None) -> None:
        """Write every changed row, or those of the instances of one stack; see ``finish``.

        A large tree asks for the instances of many stacks in one transaction: each time to compare
        all that was read would be quadratic.
        """
        if stack_id is None:
            self._flush_stacks()
        self._flush_data()
        self._flush_removed()
        changed = [
            (row, values, original)
            for row, original in self._resources.values()
            if (stack_id is None or row.stack_id == stack_id)
            and (values := resource_values(row)) != original
        ]
        if changed:
            self._write(changed)
            for row, values, _ in changed:
                self._resources[row.id] = (row, values)

    def check_owned(self, stack_id: str) -> None:
        """Raise Foreign for a stack in the tree of another member.

        A stack that was not at the top of a tree has a duty of its own from then on.
        """
        stack = self.stack(stack_id)
        if self.duties is None or stack is None or self.duties.may_write(stack.root):
            return
        before = self._stacks[stack_id][1][_ROOT]
        if stack.id != stack.root or stack.id == before:
            raise Foreign(stack.root)
        self.duties.check_writable(before)
        self.duties.add(stack.id, must=True)

    def _write(self, changed: list[_Changed]) -> None:
        if self.duties is not None:
            for stack_id in {row.stack_id for row, _, _ in changed}:
                self.check_owned(stack_id)
        updates = [(*resource_changes(row), row.id, old[_FENCE]) for row, _, old in changed]
        done = self._connection.executemany(self._sql["update_resource"], updates)
        self._written.append((done, [row.id for row, _, _ in changed]))

    def _flush_removed(self) -> None:
        if self._going:
            self._flush_data()  # of an instance that still stands
            going, self._going = self._going, []
            done = self._connection.executemany(self._sql["delete_resource"], going)
            self._written.append((done, [key for key, _ in going]))

    def _check_written(self) -> None:
        """Raise Fenced where a row was taken over: it was not written."""
        for done, keys in self._written:
            if done.rowcount != len(keys):
                raise Fenced(",".join(keys))

    def _flush_stacks(self) -> None:
        for row, original in list(self._stacks.values()):
            values = stack_values(row)
            if values != original:
                self.check_owned(row.id)
                self._execute(self._sql["update_stack"], (*stack_changes(row), row.id))
                self._stacks[row.id] = (row, values)

    def finish(self) -> None:
        """Write all that is left, events last; raises Fenced."""
        self.flush()
        if self.duties is not None:
            self.duties.finish()
        if self._events:
            self.event_seqs = self._connection.add_events([*map(event_values, self._events)])
        if self._event_properties:
            self._connection.executemany(
                self._sql["insert_event_properties"], self._event_properties
            )
        self._read_requested_data()
        self._check_written()  # last: it waits for what is on its way

    def remember(self) -> None:
        """After the commit: keep the rows as they are now for the next transaction."""
        stacks = {key: values for key, (_, values) in self._stacks.items()}
        resources = {key: values for key, (_, values) in self._resources.items()}
        known = self._known
        known.drop(self._stale | self._gone)
        if self.duties is not None:  # others change the rest
            self.duties.remember()
            owned = {key for key in known.stacks if key not in stacks}
            owned.update(key for key, found in stacks.items() if self.duties.owns(found[_ROOT]))
            stacks = {key: found for key, found in stacks.items() if key in owned}
            resources = {key: found for key, found in resources.items() if found[_STACK] in owned}
        known.keep(stacks, resources)

    def forget_trees(self, roots: Sequence[str]) -> None:
        """Read every row of trees again: other members have had them meanwhile."""
        self.flush()
        known = {key for key, found in self._known.stacks.items() if found[_ROOT] in roots}
        known.update(key for key, (_, found) in self._stacks.items() if found[_ROOT] in roots)
        for root_id in roots:
            self._known.drop_tree(root_id)
        for key in [key for key, (row, _) in self._resources.items() if row.stack_id in known]:
            del self._resources[key]
        for key in known:
            self._stacks.pop(key, None)
        asked = [self._execute(self._sql["stacks_of_root"], (root_id,)) for root_id in roots]
        for found in (found for each in asked for found in each.fetchall()):
            stack = self._track_stack(found)  # edges outlive the rows of their stacks here
            self._edges.forget(stack.id)

    def load_work(self, keys: Collection[str]) -> None:
        """Read instances that will be looked at, with what they require.

        A server is waited for three times, and not for each of them.
        """
        rows = self._load_all(keys)
        edges, stacks = self._sql["edges_of_stack"], dict.fromkeys(row.stack_id for row in rows)
        asked = [(key, self._execute(edges, (key,))) for key in [*stacks][:STACKS_KEPT]]
        for key, found in asked:
            self._edges.keep(key, found.fetchall())
        self._load_all({other for row in rows if not row.op for other in self.requirements(row)})

    # -- small helpers --------------------------------------------------------------------------

    def _load_resources(self, statement: str, *values: Any) -> list[ResourceRow]:
        return [
            self._track(found) for found in self._execute(self._sql[statement], values).fetchall()
        ]

    def _load_all(self, keys: Collection[str]) -> list[ResourceRow]:
        known = self._resources.keys() | self._known.resources.keys() | self._gone
        wanted = [key for key in keys if key not in known]
        if not wanted:
            return []
        return self._load_resources("resources_by_id", self._connection.make_list(wanted))

    def _list_ids(self, statement: str, *values: Any, of: str | None = None) -> list[str]:
        self.flush(of)
        return [found[0] for found in self._execute(self._sql[statement], values)]


_FENCE = [*ResourceRow.__dataclass_fields__].index("fence")
_STACK = [*ResourceRow.__dataclass_fields__].index("stack_id")
_ROOT = [*StackRow.__dataclass_fields__].index("root_id")
