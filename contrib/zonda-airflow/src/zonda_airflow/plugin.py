"""What the entry point names: runners of kind ``airflow``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import hookimpl
from zonda.hooks.runners import RunnerFactory, WorkflowRunner


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kind of runner that this package brings."""
    return {"airflow": _airflow}


def _airflow(settings: Mapping[str, Any]) -> WorkflowRunner:
    from .runner import AirflowRunner  # loads requests, which most commands do without

    return AirflowRunner(settings)
