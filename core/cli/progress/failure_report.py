"""The report of a stack's failure, in terms of its template. Called by ``follow``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from zonda.core.store.read.views import EventView, StackView
from zonda.core.template.source import document as source
from zonda.hooks.errors import Path, Place, ZondaError
from zonda.hooks.records import dataclass

from ..console.source_excerpt import format_excerpt
from ..session import Session

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.failures import Failure

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Fault:
    """One failed resource: the reason, its template, and its place there."""

    path: tuple[str, ...]
    reason: str
    at: Path
    template_id: str | None = None

    @property
    def told(self) -> str:
        """The reason with the path of the resource."""
        own = f"resources.{self.path[-1]}: "
        whole = f"{'.'.join(f'resources.{name}' for name in self.path)}: "
        if whole in self.reason:
            return self.reason
        return self.reason.replace(own, whole, 1) if own in self.reason else whole + self.reason


def explain_failures(
    session: Session,
    stack: StackView,
    failed: Sequence[EventView],
    since: int,
    shown: Container[str] = (),
) -> Iterator[str]:
    """Format one line per failed resource, with its place in the template, also nested ones.

    ``failed``: the events that tell of it. What was refused before it began has none, and is looked
    for in the generations from ``since`` on. ``shown``: what was told already.
    """
    found = list(_list_faults(session, stack, failed, since))
    if not found and stack.status_reason and stack.status_reason not in shown:
        yield f"  {stack.status_reason}"
        return
    places = _Places(session, stack, since)
    for fault in found[:_SHOWN]:
        place = places.find(fault)
        where = f"{place}: " if place else ""
        yield f"{where}{session.screen.colour_message('error', 'red')}: {fault.told}"
        if place is not None and session.screen.on_terminal:
            yield from format_excerpt(session.screen.source(place.file), place)
    if len(found) > _SHOWN:
        yield f"  and {len(found) - _SHOWN} more: 'zonda stack event list {stack.name}'"
    if stack.action == "DELETE":
        yield f"'zonda stack abandon {stack.name}' forgets the stack, and leaves all it made alone."


def _list_faults(
    session: Session, stack: StackView, failed: Sequence[EventView], since: int
) -> Iterator[_Fault]:
    """List the failed resources; of nested stacks those that made the owner fail."""
    last = {
        event.resource_name: _Fault(
            (event.resource_name,), event.reason, ("resources", event.resource_name)
        )
        for event in failed
    }
    for one in session.app.reader.list_failed(stack.id):
        if one.generation >= since:
            name = one.resource_name
            if one.during == "prepare" and name not in last:
                last[name] = _Fault((name,), one.reason, one.path or ("resources", name))
    inner = session.app.inspector.list_innermost_failures(stack, since, last) if last else {}
    for name, fault in last.items():
        below = [each for each in inner.get(name, ()) if each.way]
        yield from map(_build_nested_fault, below)
        if not below:
            yield fault


def _build_nested_fault(each: Failure) -> _Fault:
    view = each.view
    at = view.path or ("resources", view.resource_name)
    return _Fault((*each.way, view.resource_name), view.reason, at, view.template_id)


class _Places:
    """Places of failures in templates; a template that cannot be read raises nothing."""

    def __init__(self, session: Session, stack: StackView, since: int) -> None:
        self._session = session
        self._stack = stack
        self._since = since
        self._inspector = session.app.inspector

    def find(self, fault: _Fault) -> Place | None:
        """Find the place of a failure; None where its template has no file, or cannot be read."""
        try:
            if fault.template_id is not None:
                return self._inspector.find_place(fault.template_id, fault.at)
            if self._session.template is not None:
                document = self._own_document
                return document.place(fault.at, key=True) if document.file else None
            used = self._stored_template_id
            return None if used is None else self._inspector.find_place(used, fault.at)
        except ZondaError:
            return None

    @cached_property
    def _own_document(self) -> source.Document:
        """The template of this command."""
        given = self._session.template
        assert given is not None
        return source.load_document(given.template, given.template_file)

    @cached_property
    def _stored_template_id(self) -> str | None:
        """The template of generation ``since``: a rollback has another one, or none at all."""
        actions = self._session.app.reader.actions(self._stack.id)
        planned = {each.generation: each for each in actions}
        since = self._since
        return planned[since].template_id if since in planned else self._stack.template_id
