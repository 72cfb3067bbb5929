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
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.plugins.manager import Plugins
from zonda.core.reports.outputs import StackValues
from zonda.core.schedule.timing import Timing
from zonda.core.settings.settings import load_settings
from zonda.core.store.read.drift_views import DriftFindingView
from zonda.core.store.read.views import ResourceView, StackView
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import MEMORY, open_store
from zonda.core.system.ids import Ids
from zonda.core.template.source.bundle import Bundle
from zonda.hooks.testing import FakeClock


class InlineStack:
    """A stack in memory. Each action runs to its end; a failed one shows in its ``state``.

    Raises ValidationErrors for a faulty template, as the command line would show it.
    """

    def __init__(self, home: Path, plugin_dirs: Sequence[Path] = (), name: str = "test") -> None:
        folders = os.pathsep.join(map(str, plugin_dirs))
        self._app = build_app(load_settings({"home": str(home), "plugin_dirs": folders}, {}))
        self.name = name
        self.clock = FakeClock()
        self._random = random.Random(0)
        self._lender = ResourceServices(self._app.settings, self.plugins, self.clock, self._random)
        self._store = open_store(MEMORY, sealer=Sealer(make_key()))
        self.engine = self._make_engine()

    @property
    def plugins(self) -> Plugins:
        """The loaded plug-ins; ``failures`` are those that could not be used."""
        return self._app.plugins

    def restart(self) -> None:
        """Restart with a new engine, which has only the stored state."""
        self.engine = self._make_engine()

    def _make_engine(self) -> InlineEngine:
        return InlineEngine(
            self._store,
            self.plugins,
            clock=self.clock,
            ids=Ids(self.clock, self._random).new,
            random=self._random,
            lender=self._lender,
            load=TemplateLoading(
                self.plugins,
                self._app.function_table,
                self._app.limits,
                self._lender,
                self.clock,
                self._random,
            ),
            settings=EngineSettings(timing=Timing()),
        )

    def create(self, template: str, **parameters: Any) -> StackView:
        """Create the stack from the text of a template."""
        return self.engine.run(CreateStack(self.name, _make_bundle(template, parameters)))

    def update(self, template: str, **parameters: Any) -> StackView:
        """Update the stack; parameters that are not given have their defaults again."""
        return self.engine.run(UpdateStack(self.name, _make_bundle(template, parameters)))

    def suspend(self) -> StackView:
        """Suspend the stack."""
        return self.engine.run(SuspendStack(self.name))

    def resume(self) -> StackView:
        """Resume the stack."""
        return self.engine.run(ResumeStack(self.name))

    def check(self) -> StackView:
        """Check the stack."""
        return self.engine.run(CheckStack(self.name))

    def drift(self, *resources: str) -> dict[str, DriftFindingView]:
        """Run a drift check; return findings by path, without those that are in sync."""
        accepted = self.engine.begin(CheckDrift(self.name, resources))
        self.engine.settle()
        return self._read_findings(accepted.check_id)

    def repair(self, *resources: str) -> StackView:
        """Repair the drift."""
        return self.engine.run(RepairDrift(self.name, resources))

    def schedule_drift(self, schedule: str, policy: str = "report") -> None:
        """Schedule drift checks, which run as time passes."""
        self.engine.run(SetDrift(self.name, schedule, policy))

    def pass_time(self, seconds: float) -> dict[str, DriftFindingView] | None:
        """Let time pass; return the findings of the drift check that was due, None without one."""
        known = self._read_last_check()
        self.clock.advance(seconds)
        self.engine.sweep_drift()
        self.engine.settle()
        last = self._read_last_check()
        return None if last is None or last == known else self._read_findings(last)

    def _read_last_check(self) -> str | None:
        checks = self.engine.reader.drift_checks(self._stack_id, 1)
        return checks[0].id if checks else None

    def _read_findings(self, check_id: str) -> dict[str, DriftFindingView]:
        return {found.path: found for found in self.engine.reader.drift_findings(check_id)}

    def delete(self) -> StackView:
        """Delete the stack."""
        return self.engine.run(DeleteStack(self.name))

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs by name; a hidden one is ``(hidden)``."""
        showing = StackValues(self.engine.services.instances, self.engine.reader)
        found = showing.outputs(self._stack_id)
        return {output.name: output.value for output in found}

    @property
    def resources(self) -> dict[str, ResourceView]:
        """The resources by name."""
        found = self.engine.reader.resources(self._stack_id)
        return {resource.name: resource for resource in found}

    def close(self) -> None:
        """Close runners and database."""
        self._lender.close()
        self._store.close()

    @property
    def _stack_id(self) -> str:
        return self.engine.reader.stack(self.name).id


def _make_bundle(template: str, parameters: Mapping[str, Any]) -> Bundle:
    return Bundle(template, parameters=parameters, parameters_win=True)
