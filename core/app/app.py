"""The application: everything that a face (command line, HTTP API) may ask for, by noun.

``stacks`` reads stacks and previews actions, ``engine`` sends actions to the engine wherever it
runs, ``templates`` validates and explains files, ``inspector`` and ``exporter`` report, ``sinks``
and ``runners`` are for event sinks and workflow services. Each is made when first asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from zonda.core.settings.table import Kinds, Settings

from .parts import Parts
from .stacks import Stacks

if TYPE_CHECKING:  # what commands that only read must not import
    from zonda.core.reference.installed import Reference

    from .engine_client import EngineClient
    from .event_sinks import EventSinks
    from .runners.callbacks import RunnerCallbacks
    from .templates import Templates
    from .workflow_services import Runners


class App(Parts):
    """The zonda application. Close it when done; whatever still runs can be continued later."""

    @cached_property
    def engine(self) -> EngineClient:
        """The client that sends actions to the engine, wherever the engine runs."""
        from .engine_client import EngineClient

        return EngineClient(self, self.stacks)

    @cached_property
    def stacks(self) -> Stacks:
        """The stacks of this project. Reads only."""
        return Stacks(self, lambda: self.engine.definitions)

    @property
    def reference(self) -> Reference:
        """The reference of resource types and functions."""
        from zonda.core.reference.installed import Reference

        return Reference(self.plugins, self.function_table, self.make_context)

    @property
    def templates(self) -> Templates:
        """The queries on templates and environments that need no stack."""
        from .templates import Templates

        return Templates(self, self.settings.project)

    @property
    def sinks(self) -> EventSinks:
        """The event sinks of the settings."""
        from .event_sinks import EventSinks

        return EventSinks(self)

    @property
    def runners(self) -> Runners:
        """The workflow services of this home, and the check of an endpoint."""
        from .workflow_services import Runners

        return Runners(self)

    @cached_property
    def callbacks(self) -> RunnerCallbacks:
        """The callbacks of workflow runners; raises UsageError for keys that cannot be read."""
        from .runners.callbacks import RunnerCallbacks

        return RunnerCallbacks(self.settings, self.clock)

    def close(self) -> None:
        """Stop engine and scheduler, close runners and database, release the lock."""
        if "engine" in self.__dict__:
            self.engine.close()
        super().close()


def builtin_kinds() -> Kinds:
    """Give zonda's own kinds of runners and sinks, by the group of their sections."""
    from zonda.workflows import plugin

    return {"runners": plugin.zonda_runners(), "sinks": plugin.zonda_event_sinks()}


def build_app(settings: Settings) -> App:
    """Build the application for these settings. Opens and imports nothing yet."""
    return App(settings)
