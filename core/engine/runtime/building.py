"""Builds the services that the steps of an engine share, and the error of an engine that ends."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from zonda.core.store.read.reader import Reader
from zonda.core.store.values.sealing import Sealer
from zonda.hooks.context import Clock
from zonda.hooks.errors import StoreError
from zonda.hooks.resources.resource import Resource

from ..model.definition import Loading
from ..model.lending import Lender, Lending
from ..model.tracing import Tracing
from ..model.unit_of_work import UnitOfWork
from ..plugins.instances import Instances
from ..services import EngineServices, EngineSettings
from ..templates.definitions import Definitions

Durable = Callable[[Callable[[UnitOfWork], Any]], Any]


def build_services(
    sealer: Sealer,
    resource_types: Mapping[str, type[Resource]],
    *,
    load: Loading,
    clock: Clock,
    ids: Callable[[], str],
    source: random.Random,
    lender: Lender,
    settings: EngineSettings,
    reader: Callable[[], Reader],
    durable: Durable = lambda run: None,
    progress: Callable[[str, str, str, float | None], None] = lambda *said: None,
    wake: Callable[[str], None] = lambda key: None,
    get_load: Callable[[], float] = lambda: 0.0,
    drives: Callable[[str], bool] = lambda root_id: False,
    origins: Mapping[tuple[str, str], object] | None = None,
) -> EngineServices:
    """The services of one engine, or of a process that only reads: its writes are not stored.

    ``origins``: the plug-in of each type (``Plugins.origins``).
    """
    tracing = Tracing(lambda stack_id: reader().last_action(stack_id))
    lending = Lending(lender, clock, source, sealer, durable, progress, tracing, wake, get_load)
    definitions = Definitions(load, resource_types, reader, origins)
    return EngineServices(
        definitions,
        Instances(lending, definitions),
        clock,
        ids,
        source.random,
        sealer,
        settings,
        reader,
        drives=drives,
    )


class EngineEnded(StoreError):
    """The engine has ended before it has answered."""


def build_stop_error(error: BaseException) -> StoreError:
    """The error for all who wait for an engine that has ended by ``error``."""
    if isinstance(error, StoreError):
        return error
    return EngineEnded(
        f"The engine has stopped: {type(error).__name__}: {error}.",
        hint="Start it again: what was running is taken up where it was.",
    )
