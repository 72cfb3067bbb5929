"""Event sinks of the settings: build, deliver, show and test. For ``core/app/engine_client``.

Not imported where the settings have no sink.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zonda.core.events.delivery import SinkDelivery, format_error, parse_filter
from zonda.core.events.records import Records
from zonda.core.events.workers import DeliveryWorkers
from zonda.core.settings import section_checks
from zonda.core.settings.sections import add_networks, resolve_secrets
from zonda.core.settings.table import Settings
from zonda.core.store.read.reader import Reader
from zonda.core.store.schema.rows import SinkRow
from zonda.core.store.write.database import Store, Transaction
from zonda.hooks.context import Clock
from zonda.hooks.errors import NotFound, StoreError, UsageError
from zonda.hooks.events import EventRecord, EventSink
from zonda.hooks.records import dataclass
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.redaction import redact, secret_texts
from zonda.hooks.text.suggestions import format_suggestion

from .parts import Parts

if TYPE_CHECKING:  # what commands that only read must not import
    from zonda.core.engine.runtime.engine import Engine
    from zonda.core.plugins.manager import Plugins

#: Events that are counted as waiting, at most.
_MOST_COUNTED = 10_000


class SinkFactory:
    """Builds sinks from their sections of the settings."""

    def __init__(
        self, settings: Settings, plugins: Plugins, clock: Clock, source: random.Random
    ) -> None:
        self._settings = settings
        self._sections = settings.sinks
        self._plugins = plugins
        self._added = {"clock": clock, "random": source}

    def sink(self, name: str) -> EventSink:
        """Build the sink of that name; raises UsageError where it cannot be built."""
        section = self._sections[name]
        kind = str(section.get("kind", ""))
        factory = self._plugins.event_sinks.get(kind)
        if factory is None:
            known = sorted(self._plugins.event_sinks)
            blamed = self._plugins.explain_missing("event sink", kind)
            near = format_suggestion(kind, known)
            raise UsageError(
                f"No plug-in brings event sinks of kind {kind}{near}.",
                hint=" ".join(filter(None, (f"There are: {', '.join(known)}.", blamed))),
            )
        own = {
            key: value for key, value in section.items() if key not in section_checks.SINK_ENTRIES
        }
        own = resolve_secrets(own, self._settings)
        schema = section_checks.find_schema(factory)
        if schema and "denied_networks" in schema.entries:
            own = add_networks(own, self._settings)
        return factory({**self._added, **own})

    def redact(self, name: str) -> Callable[[str], str]:
        """Return a function that redacts the values of a section; any of them may be a secret."""
        section = self._sections[name]
        with contextlib.suppress(UsageError):  # then no sink is made, either
            section = resolve_secrets(section, self._settings)
        texts = secret_texts(_list_secret_texts(section))
        return lambda text: redact(text, texts)


def _list_secret_texts(value: Any, name: str = "") -> list[str]:
    """List every text of a section that may be secret; hosts and ports are not."""
    if isinstance(value, str):
        _, slashes, rest = value.partition("://")
        place = re.match(r"(?:([^/?#]*)@)?[^/?#@]*", rest) if slashes else None
        return [value] if place is None else [place[1] or "", rest[place.end() :]]
    if isinstance(value, Mapping):
        shown = {*section_checks.SINK_ENTRIES, "file"}
        return [
            text
            for key, each in value.items()
            if key not in shown
            for text in _list_secret_texts(each)
        ]
    return (
        [text for each in value for text in _list_secret_texts(each)]
        if isinstance(value, list)
        else []
    )


class StoreOutbox:
    """The outbox of one process: reads on its own connection, writes through the engine."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        self._engine = engine
        self._reader = store.reader()
        self._records = Records(self._reader)
        self._closed = False

    def begin(self, names: Sequence[str]) -> None:
        """Add rows of new sinks; a new sink starts with the next event."""
        known = {row.name for row in self._reader.sinks()}
        new = [SinkRow(name, self._reader.last_event()) for name in names if name not in known]

        def add(tx: Transaction) -> None:
            for row in new:
                tx.add_sink(row)

        if new:
            self._engine.keep(add)

    def place(self, name: str) -> SinkRow | None:
        """Return the position of a sink."""
        self._check()
        return self._reader.sink(name)

    def list_after(self, seq: int, limit: int) -> list[EventRecord]:
        """List the events after a sequence number, in order."""
        return self._records.list_after(seq, limit)

    def move(self, row: SinkRow, known: int) -> bool:
        """Store the position of a sink."""
        self._check()
        try:
            return bool(self._engine.keep(lambda tx: tx.move_sink(row, known)))
        except StoreError:
            if self._engine.failure is not None:
                raise
        with self._store.transaction() as tx:  # its thread has ended, the lock is still ours
            return tx.move_sink(row, known)

    def close(self) -> None:
        """Reject later calls of threads that were left behind."""
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise StoreError("The command that delivered has ended.")


class Delivery:
    """Delivers the events that the engine of this process commits."""

    def __init__(self, parts: Parts, engine: Engine) -> None:
        settings, clock, source = parts.settings, parts.clock, parts.random
        making = SinkFactory(settings, parts.plugins, clock, source)
        self._post = StoreOutbox(parts.store, engine)
        self._post.begin(list(settings.sinks))
        self._couriers = DeliveryWorkers(
            [
                SinkDelivery(
                    name,
                    lambda name=name: making.sink(name),  # type: ignore[misc]
                    parse_filter(section),
                    self._post,
                    clock,
                    source,
                    making.redact(name),
                )
                for name, section in settings.sinks.items()
            ],
            clock,
        )
        self._couriers.start()
        self._grace = settings.sink_grace
        self.news = self._couriers.news

    def finish(self) -> None:
        """Deliver what is left within ``sink_grace``; the next engine delivers the rest."""
        self._couriers.finish(self._grace)
        self._post.close()

    def abandon(self) -> None:
        """End without a wait: the database is lost, or another member delivers by now."""
        self._post.close()
        self._couriers.abandon()


@dataclass(frozen=True, slots=True)
class SinkView:
    """One sink for display. ``row``: None before an engine has seen it.

    ``waiting``: events that are to be delivered, at most ``_MOST_COUNTED``. ``kind`` is '' for one
    that the settings have no more.
    """

    name: str
    kind: str
    row: SinkRow | None
    waiting: int
    last_event: int


class EventSinks:
    """The event sinks of the settings: list, test, skip."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list_views(self) -> list[SinkView]:
        """List the sinks of the settings, and those that the database remembers."""
        reader, sinks = self._parts.reader, self._parts.settings.sinks
        with reader.snapshot():
            rows = {row.name: row for row in reader.sinks()}
            return [_build_view(reader, n, sinks.get(n), rows.get(n)) for n in {**sinks, **rows}]

    def test(self, name: str) -> str:
        """Deliver a test event to a sink; return the error text, or ''. Raises NotFound."""
        parts, sinks = self._parts, self._parts.settings.sinks
        if name not in sinks:
            there = ", ".join(sinks) or "none"
            hint = f"Sections [sinks.NAME] of the settings: {there}."
            raise NotFound("event sink", name, hint=hint)
        making = SinkFactory(parts.settings, parts.plugins, parts.clock, parts.random)
        sink = None
        try:
            sink = making.sink(name)
            sink.deliver([_build_test_event(parts)])
        except UsageError:
            raise
        except BaseException as error:  # border: a plug-in's sink is called
            raise_interruption(error)
            return making.redact(name)(format_error(error))
        finally:
            if sink is not None:
                sink.close()
        return ""

    def skip(self, name: str) -> int:
        """Drop the events that wait for a sink; return the last one dropped. Raises NotFound."""
        reader = self._parts.reader
        last = reader.last_event()
        while True:
            row = reader.sink(name)
            if row is None:
                raise NotFound("event sink", name, hint="See 'zonda sink list'.")
            done = SinkRow(name, max(last, row.seq), row.delivered, row.delivered_at)
            with self._parts.store.transaction() as tx:
                if tx.move_sink(done, row.seq):
                    return done.seq


def _build_view(
    reader: Reader, name: str, section: Mapping[str, Any] | None, row: SinkRow | None
) -> SinkView:
    waiting = 0
    if row is not None and section is not None:
        wants = parse_filter(section)
        waiting = sum(each in wants for each in Records(reader).list_after(row.seq, _MOST_COUNTED))
    kind = "" if section is None else str(section.get("kind", ""))
    return SinkView(name, kind, row, waiting, reader.last_event())


def _build_test_event(parts: Parts) -> EventRecord:
    return EventRecord(
        id=parts.ids.new(),
        seq=0,
        at=parts.clock.now(),
        project=parts.settings.project,
        stack_id="",
        stack_name="test",
        path="",
        resource_name="",
        resource_type="",
        physical_id=None,
        action="TEST",
        status="COMPLETE",
        reason="Sent by 'zonda sink test'; nothing has happened.",
    )
