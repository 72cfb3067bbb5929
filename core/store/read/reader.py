"""Reads on a connection of their own: no lock is taken, nothing is ever written.

One reader serves one thread at a time (a lock sees to it). Gives views (``views.py``) to faces
and rows to the engine's pool.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, TypeVar

from zonda.core.graph.digraph import map_dependents
from zonda.core.template.environment import policies
from zonda.core.template.environment.policies import Policies
from zonda.hooks.errors import NotFound
from zonda.hooks.text.suggestions import suggestion

from ..database.placement import TREE
from ..database.protocols import Connection
from ..schema.rows import FailedRow, PlanRow, ResourceRow, SinkRow, SnapshotRow, StackRow
from ..values.sealing import Sealer
from .drift import DriftReads
from .pages import PageReads
from .software import SoftwareReads
from .stack_reads import ALL as ALL
from .to_view import (
    to_action_view,
    to_failed_view,
    to_resource_summary,
    to_resource_view,
    to_stack_view,
)
from .views import (
    ActionView,
    EventView,
    FailedView,
    RequestView,
    ResourceSummary,
    ResourceView,
    StackView,
    TemplateView,
    format_deletion_time,
)

Row = TypeVar("Row")


class Reader(DriftReads, PageReads, SoftwareReads):
    """All reads of the database."""

    def __init__(self, connection: Connection, sealer: Sealer) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self.sealer = sealer

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads inside see one state of the database."""
        with self._lock:
            fresh = not self._connection.in_transaction
            if fresh:
                with self._telling():
                    self._connection.begin_snapshot()
            try:
                yield
            finally:
                if fresh and self._connection.in_transaction:
                    with self._telling():
                        self._connection.rollback()

    def stacks(self, project: str = "default", *, nested: bool = False) -> list[StackView]:
        """Every live stack of a project, the oldest first; nested ones only where asked for."""
        rows = (StackRow(*found) for found in self._ask("stacks_live"))
        shown = (row for row in rows if nested or row.owner_resource_id is None)
        return [to_stack_view(row) for row in shown if row.project == project]

    def child_row(self, resource_id: str) -> StackRow | None:
        """The nested stack of an instance, if it has one that is not deleted."""
        found = self._ask("child_of", resource_id)
        return StackRow(*found[0]) if found else None

    def tree(self, root_id: str) -> list[StackRow]:
        """A stack and all that is nested in it, as rows, the oldest first."""
        return [StackRow(*found) for found in self._ask("stacks_of_root", root_id)]

    def list_promised(self, root_id: str) -> list[ResourceRow]:
        """The instances of a tree that are promised to another stack of it, as rows."""
        return [ResourceRow(*found) for found in self._ask("promised_of_tree", root_id)]

    def list_owners_below(self, root_id: str | None = None) -> list[tuple[str, str, str, str]]:
        """(nested stack, its owner, the owner's stack, its name) of a tree, or of all live ones."""
        if root_id is None:
            return self._ask("owners_live")
        return self._ask("owners_of_root", root_id)

    def names_of_tree(self, root_id: str) -> list[tuple[str, str, str | None]]:
        """(stack, its name, the instance that owns it) of a tree, also what is deleted of it."""
        return self._ask("names_of_root", root_id)

    def tree_resources(self, root_id: str) -> list[ResourceRow]:
        """Every instance of every stack of a tree, as rows."""
        found = (ResourceRow(*each) for each in self._ask("resources_of_root", root_id))
        return sorted(found, key=attrgetter("id"))

    def list_resources(self, stack_id: str) -> list[ResourceSummary]:
        """Every instance of a stack."""
        return [*map(to_resource_summary, self.resource_rows(stack_id))]

    def list_tree_resources(self, root_id: str) -> list[ResourceSummary]:
        """Every instance of a stack and of its nested stacks."""
        return [*map(to_resource_summary, self.tree_resources(root_id))]

    def find_nested_stack(self, resource_id: str) -> StackView | None:
        """The live nested stack of a resource, if it has one."""
        row = self.child_row(resource_id)
        return None if row is None else to_stack_view(row)

    def has_protected(self, root_id: str) -> bool:
        """Whether a command protects anything in a tree."""
        return bool(self._ask("protected_of_tree", root_id))

    def tree_size(self, root_id: str, *, wanted: bool = False) -> int:
        """The number of instances of a stack with all that is nested in it.

        ``wanted``: without those that are to go, which takes longer.
        """
        name = "wanted_of_root" if wanted else "size_of_root"
        return int(self._ask(name, root_id)[0][0])

    def tree_events(self, root_id: str, after: int = 0, limit: int = ALL) -> list[EventView]:
        """Like ``events``, of a stack and all that is or was nested in it."""
        found = self._ask("events_of_root", root_id, after, limit, 0)
        return [EventView(*item) for item in found]

    def tree_facts(self, root_id: str) -> list[tuple[Any, ...]]:
        """The columns that change with every change of a stack, or of anything in or below it."""
        return sorted(self._ask("tree_facts", root_id, root_id))

    def is_tree_busy(self, root_id: str) -> bool:
        """Whether anything is planned or running in a stack or below it."""
        return bool(self._ask("tree_busy", root_id))

    def stack(self, name_or_id: str, project: str = "default") -> StackView:
        """A stack of a project by name (live ones) or id (deleted ones too); raises NotFound.

        ``ROOT/OWNER/...`` is the nested stack of a resource.
        """
        try:
            return to_stack_view(self.stack_named(name_or_id, project))
        except NotFound as error:
            error.hint = error.hint or self.hint(name_or_id, project)
            raise

    def stack_or_deleted(self, name_or_id: str, project: str) -> StackView:
        """Like ``stack``, else the last deleted one of this name; raises NotFound."""
        try:
            return self.stack(name_or_id, project)
        except NotFound as missing:
            try:
                return self.get_deleted_stack(name_or_id, project)
            except NotFound:
                raise missing from None

    def hint(self, name: str, project: str) -> str:
        """The fate of the stack of this name, or the closest name, or ''."""
        try:
            gone = self.get_deleted_stack(name, project)
        except NotFound:
            return suggestion(name, (stack.name for stack in self.stacks(project)))
        return f"One of this name was deleted at {format_deletion_time(gone)}; its id is {gone.id}."

    def get_deleted_stack(self, name: str, project: str = "default") -> StackView:
        """The stack of this name that was deleted last; raises NotFound."""
        found = self._find("Stack", name, "stack_deleted_by_name", project, name)
        return to_stack_view(StackRow(*found))

    def stack_named(self, name_or_id: str, project: str) -> StackRow:
        """Like ``stack``, as a row."""
        found = self._ask("stack_by_name", project, name_or_id)
        found = found or self._ask("stack_by_id", name_or_id)
        row = StackRow(*found[0]) if found else self._find_nested_row(name_or_id, project)
        if row.project != project:
            raise NotFound("Stack", name_or_id)
        return row

    def stack_row(self, stack_id: str) -> StackRow:
        """The stack of that id, of any project, as a row.

        Raises NotFound.
        """
        return StackRow(*self._find("Stack", stack_id, "stack_by_id", stack_id))

    def stack_by_id(self, stack_id: str) -> StackView:
        """Like ``stack_row``, as a view."""
        return to_stack_view(self.stack_row(stack_id))

    def _find_nested_row(self, path: str, project: str) -> StackRow:
        """The nested stack at the end of a path; no name of a stack or a resource has a slash."""
        above, slash, name = path.rpartition("/")
        if not slash:
            raise NotFound("Stack", path)
        rows = self.resource_rows(self.stack_named(above, project).id)
        there = {row.name: row for row in rows if row.want == "PRESENT"}
        if name not in there:
            raise NotFound("Resource", path, hint=suggestion(name, there))
        child = self.child_row(there[name].id)
        if child is None:
            raise NotFound("Stack", path, hint=f"The resource {name} has no nested stack.")
        return child

    def resources(self, stack_id: str, *, absent: bool = False) -> list[ResourceView]:
        """The resources of a stack; with ``absent`` also instances that are to be deleted."""
        rows = self.resource_rows(stack_id)
        present = [row for row in rows if row.want == "PRESENT"]
        users = map_dependents({row.name: json.loads(row.requires) for row in present})
        known = self._policies(stack_id)
        shown = rows if absent else present
        return [to_resource_view(row, users.get(row.name, ()), self.sealer, known) for row in shown]

    def _policies(self, stack_id: str) -> Policies:
        found = self._ask("stack_by_id", stack_id)
        return policies.parse_policies(StackRow(*found[0]).policies if found else "")

    def resource(self, stack_id: str, name: str) -> ResourceView:
        """One resource by name, else the newest that is about to go, or by id; raises NotFound."""
        views = self.resources(stack_id, absent=True)
        found = [view for view in views if name in (view.name, view.id)]
        if not found:
            raise NotFound("Resource", name, hint=suggestion(name, {view.name for view in views}))
        return max(found, key=lambda view: (view.name == name, view.present, view.id))

    def resource_rows(self, stack_id: str) -> list[ResourceRow]:
        """Every instance of a stack, as rows."""
        return self._make_rows(ResourceRow, "resources_of_stack", stack_id)

    def plan_rows(self, stack_id: str) -> list[PlanRow]:
        """The rows of every instance of a stack, as a plan needs them."""
        return self._make_rows(PlanRow, "plan_rows", stack_id)

    def resource_row(self, resource_id: str) -> ResourceRow | None:
        """One instance by its id, of whichever stack, as a row."""
        found = self._ask("resource_by_id", resource_id)
        return ResourceRow(*found[0]) if found else None

    def owners(self, ids: Iterable[str]) -> list[tuple[ResourceRow, str]]:
        """Every instance that has one of ``ids`` as its own, and the name of its stack.

        Of a row only what identifies it, its type, its physical id and what it was handed is there.
        """
        found = []
        given_ids = self._connection.make_list(ids)
        for key, stack_id, name, kind, class_type, physical, given, stack in self._ask(
            "resources_with_ids", given_ids
        ):
            row = ResourceRow(key, stack_id, name, kind, class_type=class_type, given=given)
            row.physical_id = physical
            found.append((row, stack))
        return found

    def find_referred(self, root_id: str, reference: str) -> str | None:
        """The present instance of a tree that has that id, physical id or reference, if any."""
        plain = self.sealer.dump(reference, sealed=False)
        given = (root_id, reference, reference, plain)
        for key, physical_id, kept in self._ask("referred_in_tree", *given):
            if reference in (key, physical_id) or self.sealer.load(kept) == reference:
                return str(key)
        return None

    def list_required(self, resource_id: str) -> list[ResourceRow]:
        """The instances that one requires, as rows."""
        return [ResourceRow(*found) for found in self._ask("required_by", resource_id)]

    def edges(self, stack_id: str) -> list[tuple[str, str]]:
        """The instances that each instance requires, by their ids."""
        return [(src, dst) for src, dst in self._ask("edges_of_stack", stack_id)]

    def read_sealed_data(self, resource_id: str) -> list[tuple[str, str, int]]:
        """(name, sealed value, redact) of the entries of ``data_set``."""
        return [(name, value, redact) for name, value, redact in self._data(resource_id)]

    def _data(self, resource_id: str) -> list[tuple[Any, ...]]:
        return self._ask("data_of", resource_id)

    def resource_data(self, resource_id: str) -> dict[str, str]:
        """The entries of ``data_set``, opened."""
        return {name: self.sealer.open(value) for name, value, _ in self._data(resource_id)}

    def events(self, stack_id: str, after: int = 0, limit: int = 1000) -> list[EventView]:
        """Events with a ``seq`` above ``after``, in order."""
        found = self._ask("events_of_stack", stack_id, after, limit, 0)
        return [EventView(*item) for item in found]

    def actions(self, stack_id: str) -> list[ActionView]:
        """The plans of a stack, and how they ended; the oldest first."""
        return [to_action_view(*found) for found in self._ask("actions_of_stack", stack_id)]

    def last_action(self, stack_id: str) -> ActionView | None:
        """The last plan of a stack."""
        found = self._ask("last_action", stack_id)
        return to_action_view(*found[0]) if found else None

    def last_change(self, stack_id: str) -> ActionView | None:
        """The last plan of a template, or of nothing, for a stack."""
        found = self._ask("last_change", stack_id)
        return to_action_view(*found[0]) if found else None

    def list_failed(self, stack_id: str) -> list[FailedView]:
        """The operations of a stack that failed, the oldest first, hidden values redacted."""
        rows = [FailedRow(*found) for found in self._ask("failed_of_stack", stack_id)]
        return [to_failed_view(row, self.sealer) for row in rows]

    def count_events(self, stack_id: str) -> list[tuple[int, str, str, int]]:
        """(generation, action, status, how many) of the events of a stack's resources."""
        return self._ask("events_counted", stack_id)

    def count_states(self) -> list[tuple[str, str, int]]:
        """(action, status, how many) of the stacks of all projects that are there."""
        return self._ask("stacks_counted")

    def last_event(self) -> int:
        """The ``seq`` of the newest event of any stack; 0 before the first."""
        return int(self._ask("last_event")[0][0] or 0)

    def find_damage(self) -> str:
        """The database's report of damage in it, '' where it is whole."""
        with self._telling():
            return self._connection.find_damage()

    def events_after(self, after: int, limit: int) -> list[EventView]:
        """Like ``events``, of all stacks; none that one of a smaller number may still follow."""
        last = self._find_final_event()
        found = [EventView(*item) for item in self._ask("events_after", after, limit, 0)]
        return found if last is None else [event for event in found if event.seq <= last]

    def sinks(self) -> list[SinkRow]:
        """The position up to which events are delivered, by the names of the sinks."""
        return [SinkRow(*found) for found in self._ask("sinks")]

    def sink(self, name: str) -> SinkRow | None:
        """The position up to which one sink has the events; None if nothing was begun."""
        found = self._ask("sink_by_name", name)
        return SinkRow(*found[0]) if found else None

    def snapshots(self, stack_id: str) -> list[SnapshotRow]:
        """The snapshots of a stack, the oldest first; their data is sealed."""
        return [SnapshotRow(*found) for found in self._ask("snapshots_of_stack", stack_id)]

    def template(self, template_id: str) -> TemplateView:
        """A template; raises NotFound."""
        found = self._find("Template", template_id, "template_by_id", template_id)
        key, stack_id, body, created_at, base_id = found
        return TemplateView(key, stack_id, self.sealer.load(body), created_at, base_id)

    def read_checked(self, template_id: str) -> list[str]:
        """The hashes of the valid parts of a checked template."""
        found = self._ask("template_checked", template_id)
        return str(found[0][0]).split() if found else []

    def list_members(self) -> list[tuple[str, int]]:
        """(host, process id) of the members of the cluster, the oldest first."""
        return [(host, pid) for _, host, pid in self._ask("members")]

    def find_owner(self, root_id: str) -> tuple[str, int] | None:
        """(host, process id) of the member that looks after a tree; None for nobody."""
        found = self._ask("duty_holder", f"{TREE}{root_id}")
        return found[0] if found else None

    def is_member(self, member: str) -> bool:
        """Whether a member of the cluster has not been removed."""
        return any(key == member for key, *_ in self._ask("members"))

    def request(self, request_id: str) -> RequestView:
        """A command left for the engine; raises NotFound."""
        found = self._find("Request", request_id, "request_by_id", request_id)
        key, action, created_at, answer, answered_at, _ = found
        load = self.sealer.load
        return RequestView(key, load(action), created_at, load(answer), answered_at)

    def find_page_state(self, key: str, kind: str, now: float, project: str = "") -> Any:
        """The JSON value that pages keep under a key; None for none, or one that has ended."""
        found = self._ask("page_state", key, kind, project, now)
        return self.sealer.open(found[0][0]) if found else None

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def _find(self, kind: str, key: str, name: str, *values: Any) -> tuple[Any, ...]:
        """One row of a prepared statement; raises NotFound."""
        found = self._ask(name, *values)
        if not found:
            raise NotFound(kind, key)
        return found[0]

    def _ask(self, name: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a prepared statement."""
        return self._all(self._connection.dialect.sql[name], *values)

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, self._telling():
            return self._connection.execute(statement, values).fetchall()

    def _make_rows(self, kind: Callable[..., Row], name: str, *values: Any) -> list[Row]:
        """The rows of a prepared statement as records, one by one, and each text once.

        A database gives a text for each column of each row: of 10,000 instances a quarter of all.
        """
        known: dict[str, str] = {}
        share = known.setdefault
        with self._lock, self._telling():
            cursor = self._connection.execute(self._connection.dialect.sql[name], values)
            return [
                kind(*[share(each, each) if each.__class__ is str else each for each in found])
                for found in iter(cursor.fetchone, None)
            ]

    def _find_final_event(self) -> int | None:
        with self._lock, self._telling():
            return self._connection.find_final_event()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except self._connection.Error as error:
            raise self._connection.to_store_error(error) from error
