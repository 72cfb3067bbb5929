"""The application of a server: the same nouns as the application of this machine."""

from __future__ import annotations

from functools import cached_property

from zonda.core.app.app import App
from zonda.core.template.source.bundle import Limits

from .account import choose_account
from .connection import Connection
from .engine import RemoteEngine
from .reader import RemoteReader
from .reports import RemoteExporter, RemoteInspector, RemoteReference, RemoteTemplates
from .stacks import RemoteStacks


class RemoteApp:
    """The application of the server that the settings name (``Application``).

    ``local``: the application of this machine, of which only files and clock are used.
    """

    def __init__(self, local: App) -> None:
        self.clock = local.clock
        self._local = local
        self._connection = Connection(choose_account(local.settings), local.clock)

    @property
    def limits(self) -> Limits:
        """The limits of this machine, for what it reads."""
        return self._local.limits

    @cached_property
    def reader(self) -> RemoteReader:
        """The reads of stacks, resources, events and drift."""
        return RemoteReader(self._connection)

    @cached_property
    def stacks(self) -> RemoteStacks:
        """The stacks of the project."""
        return RemoteStacks(self._connection, self._local)

    @cached_property
    def engine(self) -> RemoteEngine:
        """The way to the engine."""
        ids = self._local.ids
        return RemoteEngine(self._connection, self.stacks, self.reader, self.clock, ids.new)

    @property
    def templates(self) -> RemoteTemplates:
        """The queries on templates."""
        return RemoteTemplates(self._connection)

    @property
    def inspector(self) -> RemoteInspector:
        """The inspector of stacks."""
        return RemoteInspector(self._connection)

    @property
    def reference(self) -> RemoteReference:
        """The reference of resource types and functions."""
        return RemoteReference(self._connection)

    @property
    def exporter(self) -> RemoteExporter:
        """The exporter of documents."""
        return RemoteExporter(self._connection)

    def check_home(self) -> None:
        """The server has a home of its own."""

    def close(self) -> None:
        """Close the connection; what runs goes on."""
        self._connection.close()
