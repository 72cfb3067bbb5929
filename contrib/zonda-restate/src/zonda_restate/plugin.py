"""The plug-in of the entry point: runners of kind ``restate``."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import LazyFactory, hookimpl
from zonda.hooks.runners import RunnerFactory


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kind of runner that this package brings, without requests until one is made."""
    return {"restate": LazyFactory(__package__, "runner:RestateRunner", "schema:RESTATE")}
