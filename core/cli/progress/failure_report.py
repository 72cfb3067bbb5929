"""Why a stack failed, in terms of the template that its author wrote. Called by ``follow``."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zonda.core.store.read.views import EventView, FailedView, StackView
from zonda.core.template.source import document as source
from zonda.hooks.errors import Path, Place, ZondaError

from ..console.source_excerpt import excerpt
from ..session import Session

if TYPE_CHECKING:  # imported by the application once it is needed
    from zonda.core.reports.failures import Failure

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Fault:
    """One resource that failed: why, in which template, and where in that."""

    path: tuple[str, ...]
    reason: str
    at: Path
    template_id: str | None = None

    @property
    def told(self) -> str:
        """The reason with the way to the resource."""
        own = f"resources.{self.path[-1]}: "
        whole = f"{'.'.join(f'resources.{name}' for name in self.path)}: "
        if whole in self.reason:
            return self.reason
        return self.reason.replace(own, whole, 1) if own in self.reason else whole + self.reason


def explain(
    session: Session,
    stack: StackView,
    failed: Sequence[EventView],
    since: int,
    shown: Container[str] = (),
) -> Iterator[str]:
    """One line per resource that failed, with its place in the template; nested ones as such.

    ``failed``: the events that tell of it. What was refused before it began has none, and is looked
    for in the generations from ``since`` on. ``shown``: what was told already.
    """
    found = list(_faults(session, stack, failed, since))
    if not found and stack.status_reason and stack.status_reason not in shown:
        yield f"  {stack.status_reason}"
        return
    documents = _Documents(session, stack, since)
    for fault in found[:_SHOWN]:
        place = documents.place(fault)
        where = f"{place}: " if place else ""
        yield f"{where}{session.screen.coloured('error', 'red')}: {fault.told}"
        yield from _excerpt(session, place)
    if len(found) > _SHOWN:
        yield f"  and {len(found) - _SHOWN} more: 'zonda stack event list {stack.name}'"
    if stack.action == "DELETE":
        yield f"'zonda stack abandon {stack.name}' forgets the stack, and leaves all it made alone."


def _faults(
    session: Session, stack: StackView, failed: Sequence[EventView], since: int
) -> Iterator[_Fault]:
    """What has failed, of nested stacks that which made the owner fail."""
    last = {
        event.resource_name: _Fault(
            (event.resource_name,), event.reason, ("resources", event.resource_name)
        )
        for event in failed
    }
    views: dict[str, FailedView] = {}
    for one in session.app.reader.failed(stack.id):
        if one.generation >= since:
            name = one.resource_name
            views[name] = one
            if one.during == "prepare" and name not in last:
                last[name] = _Fault((name,), one.reason, one.path or ("resources", name))
    for name, fault in last.items():
        inner = session.app.telling.innermost(stack, [views[name]] if name in views else [])
        below = [each for each in inner if each.way]
        yield from map(_inner, below)
        if not below:
            yield fault


def _inner(each: Failure) -> _Fault:
    view = each.view
    at = view.path or ("resources", view.resource_name)
    return _Fault((*each.way, view.resource_name), view.reason, at, view.template_id)


def _excerpt(session: Session, place: Place | None) -> list[str]:
    if place is None or not session.screen.on_terminal:
        return []
    return excerpt(session.screen.source(place.file), place)


class _Documents:
    """Templates to point into: an explanation must not hide what it explains by failing."""

    def __init__(self, session: Session, stack: StackView, since: int) -> None:
        self._session = session
        self._stack = stack
        self._since = since
        self._known: dict[str | None, source.Document | None] = {}

    def place(self, fault: _Fault) -> Place | None:
        """Where a fault is; None where its template stands in no file, or cannot be read."""
        key = fault.template_id
        if key not in self._known:
            try:
                self._known[key] = self._own() if key is None else self._stored(key)
            except ZondaError:
                self._known[key] = None
        document = self._known[key]
        return document.place(fault.at, key=True) if document and document.file else None

    def _stored(self, template_id: str) -> source.Document:
        return self._session.app.telling.document(template_id)

    def _own(self) -> source.Document | None:
        """The template that this command has brought, else the one of generation ``since``."""
        given = self._session.template
        if given is not None:
            return source.load_document(given.template, given.template_file)
        reader = self._session.app.reader
        planned = {each.generation: each for each in reader.actions(self._stack.id)}
        # a rollback has another one, or none at all
        since = self._since
        used = planned[since].template_id if since in planned else self._stack.template_id
        return None if used is None else self._stored(used)
