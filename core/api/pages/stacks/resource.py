"""The page of one resource: state, attributes, properties, requirements, events, failures."""

from __future__ import annotations

from typing import Any

from zonda.core.reports.why import Explanation
from zonda.core.store.read.drift_views import DriftNowView
from zonda.core.store.read.pages import EventQuery
from zonda.core.store.read.views import EventView, ResourceView, StackView
from zonda.hooks.cached_property import cached_property
from zonda.hooks.errors import NotFound, ZondaError
from zonda.hooks.records import dataclass
from zonda.hooks.text.suggestions import suggestion

from ...http.calls import Answer, Call
from ..lookup import find_stack
from ..rendering import Page
from ..verbs import Verb, list_resource_verbs
from .overview import EVENTS, Overview


@dataclass(frozen=True)
class ResourcePage:
    """One resource as its page shows it. ``stack``: the one that it is in; ``path``: its address
    from the stack of the page down."""

    call: Call
    top: StackView
    stack: StackView
    view: ResourceView
    path: str

    @property
    def overview(self) -> Overview:
        """The page of the stack."""
        return Overview(self.call, self.top)

    @property
    def verbs(self) -> list[Verb]:
        """The actions that it takes now."""
        view = self.view
        return list_resource_verbs(self.top, hook=view.hook, is_protected=view.protected)

    @property
    def owner(self) -> str:
        """The path of the resource whose nested stack it is in, with a slash, or ''."""
        above, slash, _ = self.path.rpartition("/")
        return above + slash

    @cached_property
    def explanation(self) -> Explanation | None:
        """The reasons of its state; None where nobody can tell."""
        try:
            return self.call.project.inspector.why(self.stack, self.view.name)
        except ZondaError:
            return None

    @cached_property
    def attributes(self) -> dict[str, Any]:
        """The attributes, hidden ones masked; those of the type first."""
        resolved = self.call.project.read_details(self.stack, self.view).attributes
        stored = {k: v for k, v in self.view.attributes.items() if k not in resolved}
        return {**resolved, **stored}

    @cached_property
    def events(self) -> list[EventView]:
        """Its newest events, the newest first."""
        query = EventQuery((self.stack.id,), resources=(self.view.name,), limit=EVENTS)
        return self.call.project.reader.list_events(query)

    @cached_property
    def drift(self) -> DriftNowView | None:
        """The newest verdict on it; None for what no check looks at."""
        found = self.call.project.reader.drift_now(self.stack.root_id)
        return next((each for each in found if each.resource_id == self.view.id), None)

    @cached_property
    def nested(self) -> StackView | None:
        """Its nested stack."""
        child = self.call.project.reader.child_row(self.view.id)
        return None if child is None else self.call.project.find_stack(child.id).stack


def show_resource(call: Call) -> Answer:
    """The page of a resource."""
    newest = call.project.reader.last_event()
    found = find_resource(call)
    return Answer(200, Page("resource.html", {"it": found}, live=found.top.root_id, after=newest))


def find_resource(call: Call) -> ResourcePage:
    """The resource of a page, by the owners above it; raises NotFound with names that are alike."""
    top = stack = find_stack(call)
    reader, path = call.project.reader, call.path["resource"]
    *owners, name = path.split("/")
    for owner in owners:
        child = reader.child_row(_find_view(call, stack, owner).id)
        if child is None:
            raise NotFound("Resource", path, stack=top.name)
        stack = call.project.find_stack(child.id).stack
    return ResourcePage(call, top, stack, _find_view(call, stack, name), path)


def _find_view(call: Call, stack: StackView, name: str) -> ResourceView:
    reader = call.project.reader
    try:
        return reader.resource(stack.id, name)
    except NotFound:
        names = [row.name for row in reader.resource_rows(stack.id)]
        raise NotFound("Resource", name, hint=suggestion(name, names), stack=stack.name) from None
