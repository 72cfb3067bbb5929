"""A stack whose resources may wait for signals, or for runs by a runner that follows a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from zonda.core.engine.actions import CreateStack, DeleteStack, SignalResource, UpdateStack
from zonda.core.reports.outputs import StackValues
from zonda.core.store.read.views import ResourceView
from zonda.core.template.source.bundle import Bundle
from zonda.core.testing.stack import InlineStack
from zonda.hooks.testing import FakeRunner

from .lives import Life

VERSION = "heat_template_version: 2018-08-31\n"


class Waiting:
    """One stack that is begun, signalled and brought to its end."""

    def __init__(self, stack: InlineStack, patch: pytest.MonkeyPatch) -> None:
        self.stack = stack
        self._patch = patch

    def bundle(self, template: str, environment: str | None = None, **parameters: Any) -> Bundle:
        return Bundle(VERSION + template, environment=environment, parameters=parameters)

    def begin_create(self, template: str, *waits: str, **more: Any) -> None:
        """Create the stack until all of ``waits`` wait."""
        self.stack.engine.begin(CreateStack(self.stack.name, self.bundle(template, **more)))
        self.until(*waits)

    def begin_update(self, template: str, *waits: str, **more: Any) -> None:
        self.stack.engine.begin(UpdateStack(self.stack.name, self.bundle(template, **more)))
        self.until(*waits)

    def begin_delete(self, *waits: str) -> None:
        self.stack.engine.begin(DeleteStack(self.stack.name))
        self.until(*waits)

    def until(self, *waits: str) -> None:
        def all_wait() -> bool:
            shown = [self.resource(name) for name in waits]
            return all(view.status == "IN_PROGRESS" for view in shown)

        self.until_true(all_wait)
        self.steps(12)

    def until_true(self, reached: Callable[[], bool]) -> None:
        for _ in range(500):
            if reached():
                return
            self.steps(1)
        raise AssertionError(f"never came: {self.states()}")

    def steps(self, number: int) -> None:
        for _ in range(number):
            self.stack.engine._run_once()

    def signal(self, name: str, **details: Any) -> None:
        """Send a signal and go no further than its answer."""
        self.stack.engine.begin(SignalResource(self.stack.name, name, details))

    def end(self) -> str:
        """Bring it to its end; its state."""
        self.settle()
        return self.stack.engine.reader.stack(self.stack.name).state

    def settle(self) -> None:
        """Go on until nothing is left to do, which must not take for ever."""
        for _ in range(5000):
            if not self.stack.engine._run_once():
                return
        raise AssertionError(f"goes on and on: {self.states()}")

    def revealed(self) -> dict[str, Any]:
        """The outputs, hidden ones as well."""
        values = StackValues(self.stack.engine.services.instances, self.stack.engine.reader)
        stack = self.stack.engine.reader.stack(self.stack.name)
        return {each.name: each.value for each in values.outputs(stack.id, reveal=True)}

    def resource(self, name: str) -> ResourceView:
        reader = self.stack.engine.reader
        return reader.resource(reader.stack(self.stack.name).id, name)

    def states(self) -> dict[str, str]:
        return {name: view.state for name, view in self.stack.resources.items()}

    def data(self, name: str) -> dict[str, str]:
        return self.stack.engine.reader.resource_data(self.resource(name).id)

    def give_runner(self, runner: FakeRunner) -> None:
        """Let ``runner`` take every workflow."""
        self._patch.setattr(
            self.stack._lender, "runner", lambda workflow, project: (runner, workflow)
        )


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Waiting]:
    stack = InlineStack(tmp_path)
    yield Waiting(stack, monkeypatch)
    stack.close()


@pytest.fixture
def inline(tmp_path: Path) -> Iterator[InlineStack]:
    stack = InlineStack(tmp_path)
    yield stack
    stack.close()


@pytest.fixture
def life(inline: InlineStack) -> Life:
    return Life(inline)
