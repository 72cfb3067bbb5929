"""Why a stack failed, in terms of the template that its author wrote. Called by ``follow``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from zonda.core.store.views import EventView, StackView
from zonda.core.template import source
from zonda.core.template.bundle import Bundle
from zonda.hooks.errors import Path, Place, ZondaError

from .excerpts import excerpt
from .session import Session

_SHOWN = 10


def explain(
    session: Session, stack: StackView, failed: Sequence[EventView], since: int
) -> Iterator[str]:
    """One line per resource that failed, with its place in the template.

    ``failed``: the events that tell of it. What was refused before it began has none, and is looked
    for in the generations from ``since`` on.
    """
    last: dict[str, tuple[str, Path]] = {}
    for event in failed:
        if event.resource_name is not None:
            last[event.resource_name] = (event.reason, ("resources", event.resource_name))
    for one in session.app.reader.failed(stack.id):
        if one.generation >= since and one.during == "prepare" and one.resource_name not in last:
            path = one.path or ("resources", one.resource_name)
            last[one.resource_name] = (one.reason, path)
    if not last and stack.status_reason:
        yield f"  {stack.status_reason}"
        return
    document = _document(session, stack, since)
    for name, (said, path) in list(last.items())[:_SHOWN]:
        place = document.place(path, key=True) if document else None
        where = f"{place}: " if place else ""
        own = f"resources.{name}: "
        reason = said if own in said else own + said
        yield f"{where}{session.screen.coloured('error', 'red')}: {reason}"
        yield from _excerpt(session, place)
    if len(last) > _SHOWN:
        yield f"  and {len(last) - _SHOWN} more: 'zonda stack event list {stack.name}'"


def _excerpt(session: Session, place: Place | None) -> list[str]:
    if place is None or not session.screen.on_terminal:
        return []
    return excerpt(session.screen.source(place.file), place)


def _document(session: Session, stack: StackView, since: int) -> source.Document | None:
    """The template that this command has brought, else the one of generation ``since``."""
    try:
        if session.template is not None:
            return source.load_document(session.template.template, session.template.template_file)
        planned = {each.generation: each for each in session.app.reader.actions(stack.id)}
        # a rollback has another one, or none at all
        used = planned[since].template_id if since in planned else stack.template_id
        if used is None:
            return None
        body = session.app.reader.template(used).body
        bundle = Bundle.from_json(json.loads(body))
        return source.load_document(bundle.template, bundle.template_file)
    except ZondaError:  # an explanation must not hide what it explains
        return None
