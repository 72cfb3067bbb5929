"""The page of one stack. Each part is worked out when the template asks for it.

So a part that is fetched again costs no more than itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from zonda.core.reports.drift import find_last_verdict
from zonda.core.reports.generations import Generation
from zonda.core.reports.outputs import OutputView
from zonda.core.reports.why import Explanation
from zonda.core.store.read import trees
from zonda.core.store.read.drift_views import DriftCheckView
from zonda.core.store.read.pages import EventQuery
from zonda.core.store.read.views import EventView, ResourceSummary, StackView
from zonda.hooks import records
from zonda.hooks.cached_property import cached_property
from zonda.hooks.errors import NotFound, ZondaError
from zonda.hooks.records import dataclass

from ...http.calls import Answer, Call
from ..lookup import build_stack_path, find_stack
from ..rendering import HIDDEN, Page, redirect
from ..stack_graph import StackPicture, draw_stack
from ..verbs import Verb, list_verbs

#: Resources on a page of the list, events, generations.
RESOURCES, EVENTS, GENERATIONS = 200, 25, 10
#: The most of a kind that is told one by one.
MOST = 10


@dataclass(frozen=True, slots=True)
class ResourceLine:
    """One instance of the list. ``path``: with the owners above it."""

    path: str
    row: ResourceSummary

    @property
    def state(self) -> str:
        """The state, as Heat calls it."""
        row = self.row
        return f"{row.op}_IN_PROGRESS" if row.op else f"{row.action}_{row.status}"

    @property
    def is_leaving(self) -> bool:
        """Whether it is to be deleted."""
        return self.row.want != "PRESENT"

    @property
    def hook(self) -> str:
        """The breakpoint that it waits at, or ''."""
        return "" if self.row.hook.startswith("+") else self.row.hook


@dataclass(frozen=True)
class Overview:
    """One stack as its page shows it."""

    call: Call
    stack: StackView

    @property
    def now(self) -> float:
        """The time."""
        return self.call.project.service.app.clock.now()

    @property
    def path(self) -> str:
        """The address of the page."""
        return build_stack_path(self.call, self.stack)

    @cached_property
    def root(self) -> StackView:
        """The stack at the top of the tree."""
        stack = self.stack
        if stack.root_id == stack.id:
            return stack
        return self.call.project.find_stack(stack.root_id).stack

    @cached_property
    def user(self) -> str:
        """The user who has created it."""
        return self.call.project.find_stack(self.stack.id).user

    @cached_property
    def explanation(self) -> Explanation | None:
        """The reasons of its state; None where nobody can tell."""
        try:
            return self.call.project.inspector.why(self.stack)
        except ZondaError:
            return None

    @cached_property
    def _drift(self) -> tuple[str, DriftCheckView | None]:
        return find_last_verdict(self.call.project.reader, self.root)

    @property
    def verdict(self) -> str:
        """The verdict of the last drift check of everything."""
        return self._drift[0]

    @property
    def last_check(self) -> DriftCheckView | None:
        """That check."""
        return self._drift[1]

    @cached_property
    def _all_resources(self) -> list[ResourceLine]:
        found = trees.list_resources(self.call.project.reader, self.stack, trees.ALL_LEVELS)
        return [ResourceLine(trees.format_path(path, row.name), row) for path, row in found]

    @property
    def resource_count(self) -> int:
        """The number of instances, nested ones too."""
        return len(self._all_resources)

    @cached_property
    def states(self) -> Mapping[str, int]:
        """The number of instances in each state, the most frequent first."""
        return dict(Counter(line.state for line in self._all_resources).most_common())

    @cached_property
    def begin(self) -> int:
        """The number of the first resource that is listed."""
        given = self.call.get_first("from") or "0"
        return min(int(given), max(self.resource_count - 1, 0)) if given.isdecimal() else 0

    @property
    def resources(self) -> list[ResourceLine]:
        """One page of the resources."""
        return self._all_resources[self.begin : self.begin + RESOURCES]

    @property
    def page_starts(self) -> list[int]:
        """The numbers of the first resources of the pages."""
        return [*range(0, self.resource_count, RESOURCES)]

    @property
    def verbs(self) -> list[Verb]:
        """The actions that it takes now."""
        return list_verbs(self.stack)

    @cached_property
    def picture(self) -> StackPicture:
        """The graph of the stack."""
        return draw_stack(
            self.call.project,
            self.stack,
            lambda path: build_stack_path(self.call, self.stack, "resources", *path.split("/")),
        )

    @cached_property
    def events(self) -> list[tuple[str, EventView]]:
        """The newest events of the tree, the newest first, with the paths of their resources."""
        return list_events(self.call, self.stack, EVENTS)[0]

    @cached_property
    def outputs(self) -> list[OutputView]:
        """The outputs, hidden ones as asterisks; none where the template cannot be read."""
        try:
            found = self.call.project.resolve_outputs(self.stack)
        except ZondaError:
            return []
        masked = [records.replace(each, value=HIDDEN) for each in found]
        return [
            hidden if each.secrecy == "hidden" else each
            for each, hidden in zip(found, masked, strict=True)
        ]

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The declared parameters, hidden ones masked; none where the template is unreadable."""
        try:
            found = self.call.project.values.parameters(self.stack.id)
            return {name: value for name, value in found.items() if "::" not in name}
        except ZondaError:
            return {}

    @cached_property
    def history(self) -> list[Generation]:
        """All generations, the newest first."""
        return self.call.project.inspector.read_history(self.stack).all()[::-1]

    @property
    def newest(self) -> list[Generation]:
        """The newest generations."""
        return self.history[:GENERATIONS]


def show_stack(call: Call) -> Answer:
    """The page of a stack; the name of a live one leads to it."""
    named = call.project.reader.find_live_stack(call.path["stack_id"], call.project.id)
    if named is not None:
        return redirect(build_stack_path(call, named))
    return _answer(call, "stack.html")


def show_history(call: Call) -> Answer:
    """All generations of a stack."""
    return _answer(call, "history.html")


def _answer(call: Call, template: str) -> Answer:
    newest = call.project.reader.last_event()
    overview = Overview(call, find_stack(call))
    page = Page(template, {"it": overview}, live=overview.stack.root_id, after=newest)
    return Answer(200, page)


def show_reasons(call: Call) -> Answer:
    """All that is known of why a stack is as it is, now or at the end of a generation."""
    stack, at = find_stack(call), call.get_first("at") or ""
    if at and (not at.isdecimal() or len(at) > 9):
        raise NotFound("generation", at)
    found = call.project.inspector.why(stack, None, int(at) if at else None)
    values = {"it": Overview(call, stack), "found": found, "at": at}
    return Answer(200, Page("why.html", values, live="" if at else stack.root_id))


def show_events(call: Call) -> Answer:
    """One page of the events of a stack."""
    stack = find_stack(call)
    found, marker = list_events(call, stack, 4 * EVENTS, call.get_first("before") or "")
    values = {"it": Overview(call, stack), "events": found, "marker": marker}
    return Answer(200, Page("events.html", values))


def list_events(
    call: Call, stack: StackView, limit: int, marker: str = ""
) -> tuple[list[tuple[str, EventView]], str]:
    """Events of a tree, the newest first, with the paths of their resources; the next marker."""
    reader = call.project.reader
    paths = trees.read_tree(reader, stack).list_within(trees.ALL_LEVELS)
    query = EventQuery(tuple(paths), limit=limit + 1, marker=marker)
    found = reader.list_events(query)
    more = found[limit - 1].id if len(found) > limit else ""
    return [*_add_paths(found[:limit], paths)], more


def _add_paths(
    events: list[EventView], paths: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, EventView]]:
    for event in events:
        yield trees.format_path(paths[event.stack_id], event.resource_name), event
