"""Pages of stacks and events: filtered, sorted and cut in SQL; a part of ``reader.Reader``.

Called by ``core/api``. The statements depend on the filters, so that they are built here and not
compiled before; every value is a parameter.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from zonda.hooks.records import dataclass, field

from ..database.protocols import Connection
from ..schema.rows import EventRow, StackRow, list_columns
from ..values.sealing import Sealer
from .to_view import mask_properties, to_stack_view
from .views import EventView, StackView

#: The columns that stacks can be sorted by, by Heat's names of them.
STACK_KEYS = {
    "stack_name": "stack.name",
    "stack_status": "stack.action || '_' || stack.status",
    "creation_time": "stack.created_at",
    "updated_time": "COALESCE(stack.updated_at, 0)",
}
#: The type of an event as it is shown: that of a stack's own events is not stored.
_EVENT_TYPE = "COALESCE(NULLIF(event.resource_type, ''), 'OS::Heat::Stack')"
EVENT_KEYS = {"event_time": "event.at", "resource_type": _EVENT_TYPE}

_PARENT = "(SELECT owner.stack_id FROM resource AS owner WHERE owner.id = stack.owner_resource_id)"
_STACK = ", ".join(f'stack."{name}"' for name in list_columns(StackRow))
_EVENT = ", ".join(f'event."{name}"' for name in ("seq", *list_columns(EventRow)))


@dataclass(frozen=True, slots=True)
class StackQuery:
    """The stacks that are wanted; an empty filter takes all.

    ``tags``: all of these; ``any_tags``: one of these; ``no_tags``: not all of these;
    ``none_of_tags``: none of these. ``text``: a part of the name, in any case. ``marker``: the id
    of the last stack of the page before.
    """

    project: str
    text: str = ""
    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    any_tags: tuple[str, ...] = ()
    no_tags: tuple[str, ...] = ()
    none_of_tags: tuple[str, ...] = ()
    with_deleted: bool = False
    with_nested: bool = False
    sort_keys: tuple[str, ...] = ()
    descending: bool = True
    limit: int | None = None
    marker: str = ""


@dataclass(frozen=True, slots=True)
class ListedStack:
    """A stack with the user who has created it and the id of the stack that it is nested in."""

    stack: StackView
    user: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class EventQuery:
    """The events that are wanted of some stacks; an empty filter takes all.

    ``resources``: names of resources; the name of the stack itself stands for its own events.
    """

    stacks: tuple[str, ...]
    statuses: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sort_keys: tuple[str, ...] = ()
    descending: bool = True
    limit: int | None = None
    marker: str = ""


@dataclass(slots=True)
class _Conditions:
    """Conditions, joined by AND, with the values of their parameters."""

    connection: Connection
    texts: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, text: str, *values: Any) -> None:
        self.texts.append(text)
        self.values.extend(values)

    def add_choice(self, column: str, choice: Sequence[str]) -> None:
        if choice:
            self.add(self.connection.dialect.is_one_of.format(column), self.make_list(choice))

    def make_list(self, values: Iterable[str]) -> Any:
        return self.connection.make_list(values)

    def __str__(self) -> str:
        return " AND ".join(f"({text})" for text in self.texts) or "1 = 1"


class PageReads:
    """Reads of pages."""

    sealer: Sealer
    _connection: Connection

    def list_stacks(self, query: StackQuery) -> list[ListedStack]:
        """One page of the stacks of a project."""
        where = _build_stack_conditions(self._connection, query)
        keys = [STACK_KEYS[key] for key in query.sort_keys if key in STACK_KEYS]
        keys = [*(keys or [STACK_KEYS["creation_time"]]), "stack.id"]
        mark = self._read_marker("stack", keys, query.marker, "stack.project = ?", query.project)
        rows = self._page(
            f"SELECT {_STACK}, {_PARENT} FROM stack WHERE "
            f"{_format_page(where, keys, mark, descending=query.descending)} LIMIT ?",
            *where.values,
            self._connection.make_limit(query.limit),
        )
        return [_to_listed(row) for row in rows]

    def find_deleted_stack(self, name: str, project: str, since: float) -> StackView | None:
        """The stack of that name that was deleted last, if that was after ``since``."""
        found = self._page(
            f"SELECT {_STACK} FROM stack WHERE stack.project = ? AND stack.name = ?"
            " AND stack.deleted_at >= ? ORDER BY stack.deleted_at DESC LIMIT 1",
            project,
            name,
            since,
        )
        return to_stack_view(StackRow(*found[0])) if found else None

    def read_listed_stack(self, stack_id: str) -> ListedStack | None:
        """One stack of whichever project as a row of a page; None if there is none."""
        found = self._page(f"SELECT {_STACK}, {_PARENT} FROM stack WHERE stack.id = ?", stack_id)
        return _to_listed(found[0]) if found else None

    def find_live_stack(self, name: str, project: str) -> StackView | None:
        """The live stack of a name, nested or not; None if there is none."""
        found = self._ask("stack_by_name", project, name)
        return to_stack_view(StackRow(*found[0])) if found else None

    def count_stacks(self, query: StackQuery) -> int:
        """The number of stacks on all pages together."""
        where = _build_stack_conditions(self._connection, query)
        found = self._page(f"SELECT COUNT(*) FROM stack WHERE {where}", *where.values)
        return int(found[0][0])

    def list_events(self, query: EventQuery) -> list[EventView]:
        """One page of the events of some stacks."""
        where = _build_event_conditions(self._connection, query)
        keys = [EVENT_KEYS[key] for key in query.sort_keys if key in EVENT_KEYS]
        keys = [*keys, "event.seq"]
        own = self._connection.make_list(query.stacks)
        is_own = self._connection.dialect.is_one_of.format("event.stack_id")
        mark = self._read_marker("event", keys, query.marker, is_own, own)
        rows = self._page(
            f"SELECT {_EVENT} FROM event WHERE "
            f"{_format_page(where, keys, mark, descending=query.descending)} LIMIT ?",
            *where.values,
            self._connection.make_limit(query.limit),
        )
        return [EventView(*row) for row in rows]

    def list_events_after(
        self, after: int, project: str, root_id: str, limit: int
    ) -> list[EventView]:
        """The events of a project behind a sequence number, in order.

        None that one of a smaller number may still follow.
        ``root_id``: only those of the tree of this stack, or ''.
        """
        last = self._find_final_event()
        where = _Conditions(self._connection)
        where.add("event.seq > ?", after)
        where.add("stack.project = ?", project)
        if root_id:
            where.add("stack.id = ? OR stack.root_id = ?", root_id, root_id)
        rows = self._page(
            f"SELECT {_EVENT} FROM event JOIN stack ON stack.id = event.stack_id WHERE {where}"
            " ORDER BY event.seq LIMIT ?",
            *where.values,
            self._connection.make_limit(limit),
        )
        found = [EventView(*row) for row in rows]
        return found if last is None else [event for event in found if event.seq <= last]

    def read_event_range(self) -> tuple[int, int]:
        """The first and the last sequence number of the events that are kept; 0 without any.

        No event of a smaller number than the last one is added later.
        """
        last = self._find_final_event()
        found = self._page("SELECT min(seq), max(seq) FROM event")[0]
        return int(found[0] or 0), int(found[1] or 0) if last is None else last

    def find_event(self, stack_id: str, event_id: str) -> EventView | None:
        """One event of a stack; None if there is none."""
        found = self._page(
            f"SELECT {_EVENT} FROM event WHERE event.stack_id = ? AND event.id = ?",
            stack_id,
            event_id,
        )
        return EventView(*found[0]) if found else None

    def read_event_properties(self, event: EventView) -> dict[str, Any] | None:
        """The properties that the resource of an event had by then, hidden ones masked.

        None where nothing is kept of them.
        """
        found = self._page(
            "SELECT kept.properties, kept.hidden, resource.hidden FROM event"
            " JOIN event_properties AS kept ON kept.event_id = event.id"
            " LEFT JOIN resource ON resource.id = event.resource_id"
            " WHERE event.stack_id = ? AND event.resource_id = ? AND event.seq <= ?"
            " ORDER BY event.seq DESC LIMIT 1",
            event.stack_id,
            event.resource_id,
            event.seq,
        )
        if not found:
            return None
        properties, *hidden = found[0]
        return mask_properties(properties, [text for text in hidden if text], self.sealer)

    def _read_marker(
        self, table: str, keys: Sequence[str], marker: str, condition: str, value: Any
    ) -> tuple[Any, ...]:
        """The values of the row that a page begins behind; nothing for an unknown marker.

        ``condition`` and ``value``: whose rows there are; a row of others is unknown.
        """
        if not marker:
            return ()
        columns = ", ".join(keys)
        statement = f"SELECT {columns} FROM {table} WHERE {table}.id = ? AND {condition}"
        found = self._page(statement, marker, value)
        return found[0] if found else ()

    def _page(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement that was made here, with ? for each parameter."""
        return self._all(statement.replace("?", self._connection.dialect.place), *values)

    def _find_final_event(self) -> int | None:
        raise NotImplementedError

    def _ask(self, name: str, *values: Any) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        raise NotImplementedError


def _build_stack_conditions(connection: Connection, query: StackQuery) -> _Conditions:
    where = _Conditions(connection)
    where.add("stack.project = ?", query.project)
    if not query.with_deleted:
        where.add("stack.deleted_at IS NULL")
    if not query.with_nested and not query.parents:
        where.add("stack.owner_resource_id IS NULL")
    if query.text:
        where.add(connection.dialect.contains.format("stack.name"), query.text)
    where.add_choice("stack.id", query.ids)
    where.add_choice("stack.name", query.names)
    where.add_choice("stack.status", query.statuses)
    where.add_choice("stack.action", query.actions)
    where.add_choice(STACK_KEYS["stack_status"], query.states)
    where.add_choice("stack.created_by", query.users)
    where.add_choice(_PARENT, query.parents)
    tagged = connection.dialect.has_tag.format("stack.tags")
    for tag in query.tags:
        where.add(tagged, where.make_list([json.dumps(tag)]))
    if query.any_tags:
        where.add(tagged, where.make_list(map(json.dumps, query.any_tags)))
    if query.none_of_tags:
        where.add(f"NOT {tagged}", where.make_list(map(json.dumps, query.none_of_tags)))
    if query.no_tags:
        each = [f"NOT {tagged}" for _ in query.no_tags]
        where.add(" OR ".join(each), *(where.make_list([json.dumps(tag)]) for tag in query.no_tags))
    return where


def _build_event_conditions(connection: Connection, query: EventQuery) -> _Conditions:
    where = _Conditions(connection)
    where.add_choice("event.stack_id", query.stacks)
    where.add_choice("event.status", query.statuses)
    where.add_choice("event.action", query.actions)
    where.add_choice(
        "CASE WHEN event.resource_name = '' THEN event.stack_name ELSE event.resource_name END",
        query.resources,
    )
    where.add_choice(_EVENT_TYPE, query.types)
    return where


def _format_page(
    where: _Conditions, keys: Sequence[str], mark: tuple[Any, ...], *, descending: bool
) -> str:
    """The conditions with that of the page, and the order; adds the values of ``mark``."""
    if mark:
        places = ", ".join("?" for _ in keys)
        where.add(f"({', '.join(keys)}) {'<' if descending else '>'} ({places})", *mark)
    way = "DESC" if descending else "ASC"
    return f"{where} ORDER BY {', '.join(f'{key} {way}' for key in keys)}"


def _to_listed(row: tuple[Any, ...]) -> ListedStack:
    *columns, parent = row
    stack = StackRow(*columns)
    return ListedStack(to_stack_view(stack), stack.created_by, parent)
