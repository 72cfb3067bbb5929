"""One engine for many cases: SQLite in memory, a fake clock, a fake workflow service.

Made anew for every case, so that a case cannot see another's stacks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from harness.mistral import FakeMistral
from zonda.builtin_resources import plugin as built_in
from zonda.core.engine.runtime.inline import InlineEngine
from zonda.core.engine.templates.loading import TemplateLoading
from zonda.core.functions.versions import build_function_table
from zonda.core.plugins.manager import Plugins, gather_plugins, make_manager
from zonda.core.store.values.sealing import Sealer, make_key
from zonda.core.store.write.database import MEMORY, open_store
from zonda.core.system.ids import Ids
from zonda.core.template.evaluation.scope import FunctionTable
from zonda.core.template.source.bundle import Limits
from zonda.hooks.errors import PluginError
from zonda.hooks.testing import FakeClock
from zonda.hooks.text import patterns
from zonda.workflows import plugin as workflows

KEY = make_key()


@cache
def plugins() -> Plugins:
    """What zonda brings; nothing that happens to be installed beside it."""
    return gather_plugins(make_manager(built_in, workflows, discover=False))


@cache
def function_table(version: str) -> FunctionTable:
    """The functions of one template version."""
    return build_function_table(version, plugins())


class FakeLender:
    """Lends the fake workflow service under every name."""

    setup = ""
    is_shared = False

    def __init__(self) -> None:
        self.mistral = FakeMistral()

    def runner(self, workflow: str, project: str) -> tuple[FakeMistral, str]:
        return self.mistral, workflow

    def client(self, name: str) -> Any:
        raise PluginError(f"There is no client {name}.")

    client_plugin = client

    def full_match(self, pattern: str, text: str) -> bool:
        return patterns.full_match(pattern, text, 5.0)

    def constraint(self, name: str) -> Any:
        return plugins().constraints.get(name)


class World:
    """The engine of one case. Close it when done."""

    def __init__(self, mistral: Mapping[str, Any]) -> None:
        self.lender = FakeLender()
        self.lender.mistral.reset(mistral)
        self.clock = FakeClock()
        self.store = open_store(MEMORY, sealer=Sealer(KEY))
        self.engine = InlineEngine(
            self.store,
            plugins(),
            clock=self.clock,
            ids=_ids(self.clock),
            random=random.Random(1),
            lender=self.lender,
            load=TemplateLoading(
                plugins(), function_table, Limits(), self.lender, self.clock, random.Random(1)
            ),
        )
        self.reader = self.engine.reader

    def close(self) -> None:
        self.store.close()


def _ids(clock: FakeClock) -> Callable[[], str]:
    return Ids(clock).new
