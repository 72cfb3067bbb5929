"""An inline engine with types that do what a test tells them."""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine.loading import make_loading

from zonda.core.engine.actions import (
    Action,
    CancelStack,
    CheckStack,
    CreateStack,
    DeleteStack,
    ResumeStack,
    SignalResource,
    SuspendStack,
    UpdateStack,
)
from zonda.core.engine.runtime.engine import Engine
from zonda.core.engine.runtime.inline import InlineEngine
from zonda.core.plugins.manager import Plugins
from zonda.core.reports.outputs import StackValues
from zonda.core.schedule.scheduler import Scheduler
from zonda.core.store.read.views import ResourceView, StackView
from zonda.core.store.schema.rows import ResourceRow
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import Store, open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.ids import Ids
from zonda.core.template.source.bundle import Bundle
from zonda.hooks import attributes, properties
from zonda.hooks.errors import NotReady, ResourceFailure, UpdateReplace
from zonda.hooks.resources.resource import Resource
from zonda.hooks.testing.fakes import FakeClock

KEY = make_key()


def showing(engine: InlineEngine) -> StackValues:
    """Outputs, parameters and resolved properties."""
    return StackValues(engine.services.instances, engine.reader)


class Journal:
    """What was called, and what shall happen when it is: ``(resource, call) -> behaviour``."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.behave: dict[tuple[str, str], Callable[[Resource], Any]] = {}
        self.op_ids: list[str] = []

    def note(self, resource: Resource, call: str) -> Any:
        self.calls.append((resource.name, call))
        if resource.context.operation is not None and call.startswith("handle"):
            self.op_ids.append(resource.context.operation.id)
        behaviour = self.behave.get((resource.name, call))
        return None if behaviour is None else behaviour(resource)

    def of(self, name: str) -> list[str]:
        return [call for resource, call in self.calls if resource == name]


class Box(Resource):
    """Notes every call; ``value`` may change, ``fixed`` replaces, ``frozen`` may not change."""

    journal: Journal
    properties_schema: Mapping[str, Any] = {
        "value": properties.Schema("String", update_allowed=True),
        "fixed": properties.Schema("String"),
        "frozen": properties.Schema("String", immutable=True),
        "secret": properties.Schema("String", update_allowed=True, hidden=True),
    }
    attributes_schema: Mapping[str, Any] = {
        "value": attributes.Schema("the value"),
        "token": attributes.Schema("never shown", hidden=True),
    }

    def handle_create(self) -> Any:
        self.resource_id_set(f"physical-{self.name}-{self.uuid[-4:]}")
        return self.journal.note(self, "handle_create")

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> Any:
        return self.journal.note(self, "handle_update")

    def handle_delete(self) -> Any:
        return self.journal.note(self, "handle_delete")

    def handle_create_cancel(self, token: Any) -> Any:
        return self.journal.note(self, "handle_create_cancel")

    def handle_suspend(self) -> Any:
        return self.journal.note(self, "handle_suspend")

    def handle_resume(self) -> Any:
        return self.journal.note(self, "handle_resume")

    def handle_check(self) -> Any:
        return self.journal.note(self, "handle_check")

    def handle_signal(self, details: Any) -> Any:
        self.data_set("signal", details["word"])
        return self.journal.note(self, "handle_signal")

    def _resolve_attribute(self, name: str) -> Any:
        if name == "token":
            return "hush-hush"
        return self.data().get("signal") or self.properties["value"]


class Slow(Box):
    """Is polled until ``check`` says so."""

    def _check(self, token: Any) -> bool:
        said = self.journal.note(self, "check")
        return True if said is None else bool(said)

    check_create_complete = check_update_complete = check_delete_complete = _check


class Idempotent(Slow):
    start_policy = "idempotent"


class Finder(Slow):
    start_policy = "find"

    def handle_find(self, op_id: str) -> Any:
        return self.journal.note(self, "handle_find")


class Inward(Idempotent):
    """Does nothing outside."""

    has_side_effects = False


class Plain(Resource):
    """Has no handlers but the default ones."""

    def handle_create(self) -> None:
        self.resource_id_set("plain")


class NoLender:
    """Lends nothing but patterns."""

    setup = ""
    is_shared = False

    def runner(self, workflow: str, project: str = "") -> Any:
        raise ResourceFailure("there are no runners")

    client = client_plugin = runner

    def full_match(self, pattern: str, text: str) -> bool:
        return re.fullmatch(pattern, text) is not None

    def constraint(self, name: str) -> Any:
        return None


class Bench:
    """An inline engine, its journal, and shorthand for templates."""

    def __init__(self, store: Store) -> None:
        self.journal = Journal()
        self.store = store
        self.clock = FakeClock()
        classes = (Box, Slow, Idempotent, Finder, Inward)
        self.types: dict[str, type[Resource]] = {
            f"Test::{cls.__name__}": type(cls.__name__, (cls,), {"journal": self.journal})
            for cls in classes
        }
        self.types["Test::Plain"] = type("Plain", (Plain,), {})
        self.plugins = Plugins(resource_types=self.types)
        self.lender = NoLender()
        self._random = random.Random(0)
        self._ids = Ids(self.clock, self._random)
        self.engine = self.restart()

    def restart(self) -> InlineEngine:
        """Another engine on the same database: what was in memory is gone."""
        self.engine = InlineEngine(
            self.store,
            self.plugins,
            clock=self.clock,
            ids=self._ids,
            random=self._random,
            lender=self.lender,
            load=make_loading(self.plugins, self.clock, self.lender),
        )
        return self.engine

    def bundle(self, resources: str, *, rest: str = "", **given: Any) -> Bundle:
        text = "heat_template_version: 2018-08-31\n"
        body = textwrap.indent(textwrap.dedent(resources), "  ")
        text += textwrap.dedent(rest) + ("resources:\n" + body if body.strip() else "")
        return Bundle(text, **given)

    def create(self, resources: str, *, rollback: bool = False, **given: Any) -> StackView:
        return self.engine.run(CreateStack("s", self.bundle(resources, **given), rollback=rollback))

    def update(
        self,
        resources: str,
        *,
        rollback: bool | None = None,
        existing: bool = False,
        **given: Any,
    ) -> StackView:
        bundle = self.bundle(resources, **given)
        return self.engine.run(UpdateStack("s", bundle, existing=existing, rollback=rollback))

    def run(self, action: Action) -> StackView:
        return self.engine.run(action)

    def delete(self) -> StackView:
        return self.run(DeleteStack("s"))

    def suspend(self) -> StackView:
        return self.run(SuspendStack("s"))

    def resume(self) -> StackView:
        return self.run(ResumeStack("s"))

    def check(self) -> StackView:
        return self.run(CheckStack("s"))

    def cancel(self, *, rollback: bool = False) -> StackView:
        return self.run(CancelStack("s", rollback))

    def signal(self, resource: str, **details: Any) -> StackView:
        return self.run(SignalResource("s", resource, details))

    def steps(self, number: int) -> None:
        """Go on for some moves of the engine only."""
        for _ in range(number):
            self.engine._run_once()

    def resource(self, name: str) -> ResourceView:
        return self.engine.reader.resource(self.stack.id, name)

    def resource_rows(self) -> list[ResourceRow]:
        return self.engine.reader.resource_rows(self.stack.id)

    @property
    def stack(self) -> StackView:
        return self.engine.reader.stack("s")

    def states(self) -> dict[str, str]:
        views = self.engine.reader.resources(self.stack.id)
        return {view.name: view.state for view in views}

    def outputs(self) -> dict[str, Any]:
        return {item.name: item.value for item in showing(self.engine).outputs(self.stack.id)}

    def fails(self, name: str, call: str, error: Exception | None = None) -> None:
        """Let a call of a resource raise."""

        def behave(resource: Resource) -> Any:
            raise error or ResourceFailure("no")

        self.journal.behave[name, call] = behave

    def heals(self, name: str, call: str) -> None:
        """Let a call of a resource succeed again."""
        del self.journal.behave[name, call]


@pytest.fixture
def bench() -> Iterator[Bench]:
    store = open_store(":memory:", sealer=Sealer(KEY))
    yield Bench(store)
    store.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A database in a file, for engines with threads."""
    opened = open_store(tmp_path / "z.db", sealer=Sealer(KEY))
    yield opened
    opened.close()


@pytest.fixture
def start(bench: Bench, store: Store) -> Iterator[Callable[..., Engine]]:
    """Starts engines with threads on ``store``, and stops them."""
    engines: list[Engine] = []

    def make(drive: str = "own", clock: SystemClock | None = None, scheduler: Any = None) -> Engine:
        clock = clock or SystemClock()
        engine = Engine(
            store,
            bench.plugins,
            clock=clock,
            scheduler=scheduler or Scheduler(clock),
            ids=Ids(clock),
            random=random.Random(0),
            lender=bench.lender,
            load=make_loading(bench.plugins, clock, bench.lender),
        )
        engine.start(drive)
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.stop(20.0)


__all__ = ["Bench", "NotReady", "UpdateReplace"]
