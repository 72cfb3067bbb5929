"""The stack that a command is about, where one that is deleted will do, too."""

from __future__ import annotations

from zonda.core.store.views import StackView
from zonda.hooks.errors import NotFound

from . import output
from .session import Session


def find(session: Session, name_or_id: str) -> StackView:
    """A stack by name, or any by id; raises NotFound, which names one that was deleted."""
    app = session.app
    try:
        return app.stack(name_or_id)
    except NotFound as missing:
        try:
            gone = app.reader.deleted_stack(name_or_id, session.settings.project)
        except NotFound:
            raise missing from None
        when = output.moment(gone.deleted_at)
        missing.hint = f"One of this name was deleted at {when}; its id is {gone.id}."
        raise
