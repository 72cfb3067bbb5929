"""Builds the services that the steps of an engine share. Called by the drivers' constructors."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.write.database import Store
from zonda.hooks.context import Clock
from zonda.hooks.resources.resource import Resource

from ..model.definition import Loading
from ..model.lending import Lender, Lending
from ..model.unit_of_work import UnitOfWork
from ..plugins.instances import Instances
from ..services import EngineServices, EngineSettings
from ..templates.definitions import Definitions

Durable = Callable[[Callable[[UnitOfWork], Any]], Any]


def build_read_services(
    reader: Reader,
    resource_types: Mapping[str, type[Resource]],
    *,
    load: Loading,
    clock: Clock,
    ids: Callable[[], str],
    source: random.Random,
    lender: Lender,
    settings: EngineSettings,
    origins: Mapping[tuple[str, str], object] | None = None,
) -> EngineServices:
    """The services of a process that only reads: its writes are not stored."""
    lending = Lending(lender, clock, source, reader.sealer, lambda run: None, lambda *said: None)
    definitions = Definitions(load, resource_types, lambda: reader, origins)
    return EngineServices(
        definitions,
        Instances(lending, definitions),
        clock,
        ids,
        source.random,
        reader.sealer,
        settings,
        lambda: reader,
    )


def build_services(
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
    drives: Callable[[str], bool],
    origins: Mapping[tuple[str, str], object] | None = None,
) -> EngineServices:
    """The services of one engine. ``origins``: the plug-in of each type (``Plugins.origins``)."""
    lending = Lending(lender, clock, source, store.sealer, durable, progress)
    definitions = Definitions(load, resource_types, reader, origins)
    return EngineServices(
        definitions,
        Instances(lending, definitions),
        clock,
        ids,
        source.random,
        store.sealer,
        settings,
        reader,
        drives=drives,
    )
