"""The plug-in of the entry point: runners of kind ``airflow``."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import LazyFactory, hookimpl
from zonda.hooks.runners import RunnerFactory


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kind of runner that this package brings, without requests until one is made."""
    return {"airflow": LazyFactory(__package__, "runner:AirflowRunner", "schema:AIRFLOW")}
