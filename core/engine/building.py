"""Puts together what the steps of an engine share. Called by the drivers' constructors."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.functions.yaql_function import evaluator
from zonda.core.store.reads import Reader
from zonda.core.store.store import Store
from zonda.core.template.bundle import Bundle, Identity, Limits
from zonda.core.template.scope import FunctionTable
from zonda.core.template.stack import load as load_stack
from zonda.hooks.context import Clock
from zonda.hooks.manager import Plugins
from zonda.hooks.resource import Resource
from zonda.hooks.runner import StackRef

from .context import Lender, Lending, LentContext
from .definitions import Definition, Definitions, Loading
from .instances import Instances
from .room import EngineSettings, Room
from .work import Work

Durable = Callable[[Callable[[Work], Any]], Any]


def build_room(
    store: Store,
    resource_types: Mapping[str, type[Resource]],
    *,
    load: Loading,
    clock: Clock,
    ids: Callable[[], str],
    source: random.Random,
    lender: Lender,
    settings: EngineSettings,
    durable: Durable,
    progress: Callable[[str, str, str, float | None], None],
    reader: Callable[[], Reader],
) -> Room:
    """The room of one engine."""
    lending = Lending(lender, clock, source, store.sealer, durable, progress)
    definitions = Definitions(load, resource_types, reader)
    return Room(
        definitions,
        Instances(lending, definitions),
        clock,
        ids,
        source.random,
        store.sealer,
        settings,
        reader,
    )


class TemplateLoading:
    """``Loading`` by the template room; validates with contexts that store nothing."""

    def __init__(
        self,
        store: Store,
        plugins: Plugins,
        lender: Lender,
        clock: Clock,
        source: random.Random,
        functions: Callable[[str], FunctionTable],
        limits: Limits | None = None,
    ) -> None:
        self._lending = Lending(lender, clock, source, store.sealer, _nothing, _silent)
        self._plugins = plugins
        self._functions = functions
        self._limits = limits
        self._yaql = evaluator(limits or Limits())

    def __call__(
        self, bundle: Bundle, identity: Identity, previous: Mapping[str, Any] | None, check: bool
    ) -> Definition:
        """The definition; with ``check`` the resources are validated as well."""
        stack = StackRef(identity.stack_id, identity.stack_name, identity.project_id)

        def context_for(node: Any) -> LentContext:
            return LentContext(self._lending, stack, 3600.0, "", node.name)

        definition: Any = load_stack(
            bundle,
            identity=identity,
            plugins=self._plugins,
            functions=self._functions,
            limits=self._limits,
            previous=previous,
            context_for=context_for if check else None,
            yaql=self._yaql,
        )
        made: Definition = definition
        return made


def _nothing(run: Callable[[Work], Any]) -> None:
    return None


def _silent(*said: Any) -> None:
    return None
