"""One stack for a test: engine in one thread, database in memory, a clock that jumps when idle.

The same steps and transitions as everywhere; a minute of polling takes no time. Used by the
fixture ``zonda_stack``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zonda.core.app.app import build_app
from zonda.core.app.resource_services import ResourceServices
from zonda.core.engine.actions import (
    Action,
    CheckDrift,
    CheckStack,
    CreateStack,
    DeleteStack,
    RepairDrift,
    ResumeStack,
    SetDrift,
    SuspendStack,
    UpdateStack,
)
from zonda.core.engine.runtime.inline import InlineEngine
from zonda.core.engine.services import EngineSettings
from zonda.core.plugins.manager import Plugins
from zonda.core.reports.outputs import Showing
from zonda.core.schedule.timing import Timing
from zonda.core.settings.settings import load
from zonda.core.store.read.drift_views import DriftFindingView
from zonda.core.store.read.views import ResourceView, StackView
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import MEMORY, open_store
from zonda.core.system.ids import Ids
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.testing import FakeClock


class InlineStack:
    """Each action runs to its end and gives the stack; a failed one shows in its ``state``.

    Raises ValidationErrors for a faulty template, as the command line would show it.
    """

    def __init__(self, home: Path, plugin_dirs: Sequence[Path] = (), name: str = "test") -> None:
        folders = os.pathsep.join(map(str, plugin_dirs))
        self._app = build_app(load({"home": str(home), "plugin_dirs": folders}, {}))
        self.name = name
        self.clock = FakeClock()
        self._random = random.Random(0)
        self._lender = ResourceServices(self._app.settings, self.plugins, self.clock, self._random)
        self._store = open_store(MEMORY, sealer=Sealer(make_key()))
        self.engine = self._new_engine()

    @property
    def plugins(self) -> Plugins:
        """What the plug-ins bring; ``failures`` are those that could not be used."""
        return self._app.plugins

    def restart(self) -> None:
        """Go on with a new engine, which knows what is stored and nothing else."""
        self.engine = self._new_engine()

    def _new_engine(self) -> InlineEngine:
        return InlineEngine(
            self._store,
            self.plugins,
            clock=self.clock,
            ids=Ids(self.clock, self._random).new,
            random=self._random,
            lender=self._lender,
            functions=self._app.function_table,
            limits=self._app.limits,
            settings=EngineSettings(timing=Timing()),
        )

    def create(self, template: str, **parameters: Any) -> StackView:
        """Create the stack from the text of a template."""
        return self._run(CreateStack(self.name, _bundle(template, parameters)))

    def update(self, template: str, **parameters: Any) -> StackView:
        """Update it; parameters that are not given have their defaults again."""
        return self._run(UpdateStack(self.name, _bundle(template, parameters)))

    def suspend(self) -> StackView:
        """Suspend it."""
        return self._run(SuspendStack(self.name))

    def resume(self) -> StackView:
        """Resume it."""
        return self._run(ResumeStack(self.name))

    def check(self) -> StackView:
        """Check it."""
        return self._run(CheckStack(self.name))

    def drift(self, *resources: str) -> dict[str, DriftFindingView]:
        """What a drift check finds, by path: what is not in sync, or only by an exception."""
        accepted = self.engine.begin(CheckDrift(self.name, resources))
        self.engine.settle()
        return self._findings(accepted.check_id)

    def repair(self, *resources: str) -> StackView:
        """Put right what has drifted."""
        return self._run(RepairDrift(self.name, resources))

    def schedule_drift(self, schedule: str, policy: str = "report") -> None:
        """Have drift looked for as time passes."""
        self._run(SetDrift(self.name, schedule, policy))

    def pass_time(self, seconds: float) -> dict[str, DriftFindingView] | None:
        """Let time pass; what a drift check has found that was due then, None where none was."""
        known = self._last_check()
        self.clock.advance(seconds)
        self.engine.sweep_drift()
        self.engine.settle()
        last = self._last_check()
        return None if last is None or last == known else self._findings(last)

    def _last_check(self) -> str | None:
        checks = self.engine.reader.drift_checks(self._stack_id, 1)
        return checks[0].id if checks else None

    def _findings(self, check_id: str) -> dict[str, DriftFindingView]:
        return {found.path: found for found in self.engine.reader.drift_findings(check_id)}

    def delete(self) -> StackView:
        """Delete it."""
        return self._run(DeleteStack(self.name))

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs by name; what is hidden is ``(hidden)``."""
        showing = Showing(self.engine.services.instances, self.engine.reader)
        found = showing.outputs(self._stack_id)
        return {output.name: output.value for output in found}

    @property
    def resources(self) -> dict[str, ResourceView]:
        """The resources by name."""
        found = self.engine.reader.resources(self._stack_id)
        return {resource.name: resource for resource in found}

    def close(self) -> None:
        """Let go of everything."""
        self._lender.close()
        self._store.close()

    @property
    def _stack_id(self) -> str:
        return self.engine.reader.stack(self.name).id

    def _run(self, action: Action) -> StackView:
        return self.engine.run(action)


def _bundle(template: str, parameters: Mapping[str, Any]) -> Bundle:
    return Bundle(template, parameters=parameters, parameters_win=True)
