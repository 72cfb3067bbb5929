"""The desk: the application as one caller has it, for one project.

It shares plug-ins, loaders and engine with the application of the process; project, user and
reader are the caller's.
"""

from __future__ import annotations

from dataclasses import replace

from zonda.core.app.app import App
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import StackView
from zonda.hooks.errors import NotFound

from ..service.project import Project

#: The parts that all desks share, made once by the application of the process.
_SHARED = ("plugins", "limits", "store", "lock", "lender", "template_loader", "engine")


class Desk(App):
    """The application of one caller. Never closed: nothing of it is its own."""

    def __init__(self, project: Project) -> None:
        app = project.service.app
        super().__init__(replace(app.settings, project=project.id, user=project.caller.user))
        self.project = project
        self.clock, self.ids, self.random = app.clock, app.ids, app.random
        self._tables, self.grants = app._tables, app.grants
        self.__dict__.update({name: getattr(app, name) for name in _SHARED})

    @property
    def reader(self) -> Reader:
        """The reader of this thread."""
        return self.project.reader

    def find_stack(self, stack_id: str) -> StackView:
        """Find a stack of the project by its id, deleted ones too; raises NotFound."""
        try:
            found = self.reader.stack_by_id(stack_id)
        except NotFound:
            found = None
        if found is None or found.project != self.project.id:
            raise NotFound("Stack", stack_id)
        return found
