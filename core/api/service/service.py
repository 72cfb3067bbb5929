"""The service behind all requests: the application, its options, and a reader per thread."""

from __future__ import annotations

import threading
from functools import cached_property

from zonda.core.app.app import App
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.settings.table import Settings
from zonda.core.store.read.reader import Reader
from zonda.core.template.definition.stack_definition import StackDefinition

from ..identity.policy import PolicyTable, make_policy_table
from ..live.hub import Hub
from ..telemetry.counts import Counts
from ..telemetry.traces import Traces
from .memo import Memo
from .quotas import Quotas

#: Seconds until an action must be planned and committed.
PATIENCE = 30.0
_MEMORISED = 2048


class Service:
    """One engine with what is read of it. Many threads ask at once."""

    def __init__(self, app: App) -> None:
        self.app = app
        self._readers = threading.local()
        #: The counters and histograms of this process.
        self.counts = Counts()
        self.policies: PolicyTable = make_policy_table(app.settings, app.plugins)
        #: The spans of requests and plans; of nothing unless a server traces.
        self.tracing = Traces()
        self.quotas = Quotas(app.settings, app.clock)
        #: The streams of live events.
        self.hub = Hub(app)
        #: Outputs and parameters that were resolved, by stack and what they depend on.
        self.values: Memo[str, object] = Memo(_MEMORISED)

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.app.settings

    @property
    def reader(self) -> Reader:
        """The reader of this thread."""
        reader: Reader | None = getattr(self._readers, "reader", None)
        if reader is None:
            reader = self._readers.reader = self.app.store.reader()
        return reader

    @cached_property
    def checker(self) -> TemplateLoading:
        """The loader of templates that are only checked: no workflow is looked for."""
        return self.app.make_template_loader(self.app.make_lender(lenient=True))

    def find_definition(self, template_id: str) -> StackDefinition:
        """The definition of a stored template, from the engine's cache; raises ZondaError."""
        known = self.app.engine.definitions
        assert known is not None, "the engine runs in this process"
        found: StackDefinition = known.get(template_id)  # type: ignore[assignment]
        return found

    @cached_property
    def hidden_tags(self) -> tuple[str, ...]:
        """The tags of stacks that lists leave out."""
        return split_words(self.settings.hidden_stack_tags)


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())
