"""Why a stack failed, in terms of the template that its author wrote. Called by ``follow``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from zonda.core.store.views import EventView, StackView
from zonda.core.template import source
from zonda.core.template.bundle import Bundle
from zonda.hooks.errors import Place, ZondaError

from .excerpts import excerpt
from .session import Session

_SHOWN = 10


def explain(session: Session, stack: StackView, failed: Sequence[EventView]) -> Iterator[str]:
    """One line per resource that failed, with its place in the template."""
    last = {event.resource_name: event for event in failed}
    if not last and stack.status_reason:
        yield f"  {stack.status_reason}"
        return
    document = _document(session, stack)
    for name, event in list(last.items())[:_SHOWN]:
        place = document.place(("resources", name), key=True) if document else None
        where = f"{place}: " if place else ""
        path = f"resources.{name}: "
        reason = event.reason if path in event.reason else path + event.reason
        yield f"{where}{session.screen.coloured('error', 'red')}: {reason}"
        yield from _excerpt(session, place)
    if len(last) > _SHOWN:
        yield f"  and {len(last) - _SHOWN} more: 'zonda stack event list {stack.name}'"


def _excerpt(session: Session, place: Place | None) -> list[str]:
    if place is None or not session.screen.on_terminal:
        return []
    return excerpt(session.screen.source(place.file), place)


def _document(session: Session, stack: StackView) -> source.Document | None:
    """The template that this command has brought, else the stack's."""
    try:
        if session.template is not None:
            return source.load_document(session.template.template, session.template.template_file)
        if stack.template_id is None:
            return None
        body = session.app.reader.template(stack.template_id).body
        bundle = Bundle.from_json(json.loads(body))
        return source.load_document(bundle.template, bundle.template_file)
    except ZondaError:  # an explanation must not hide what it explains
        return None
