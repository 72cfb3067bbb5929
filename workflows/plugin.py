"""Registers what this room brings, through the same hooks that a stranger uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from zonda.hooks import (
    BaseCustomConstraint,
    EventSink,
    Resource,
    TypeDocument,
    TypeReader,
    hookimpl,
    lazy_types,
)
from zonda.hooks.events import SinkFactory
from zonda.hooks.runners import RunnerFactory, WorkflowRunner

_TYPES: Final[Mapping[str, str]] = {
    "OS::Mistral::CronTrigger": "mistral.cron_trigger:CronTrigger",
    "OS::Mistral::ExternalResource": "resources.external_resource:ExternalResource",
    "OS::Mistral::Workflow": "mistral.workflow:Workflow",
    "Zonda::Workflow::ExternalResource": "resources.zonda_external_resource:ZondaExternalResource",
}


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The resource types made of workflows."""
    return lazy_types(__package__, _TYPES)


@hookimpl
def zonda_type_readers() -> Mapping[str, TypeReader]:
    """Types that manifests declare."""
    return {"zonda_type": _Manifests()}


class _Manifests:
    """Reads manifests. Only those who have one need to import what does."""

    def __call__(self, document: TypeDocument) -> type[Resource]:
        from .manifest.parser import read

        return read(document)

    def json_schema(self) -> dict[str, Any]:
        """What editors check a manifest by."""
        from .manifest.json_schema import json_schema

        return json_schema()


@hookimpl
def zonda_constraints() -> Mapping[str, type[BaseCustomConstraint]]:
    """The custom constraints on workflows."""
    return lazy_types(__package__, {"mistral.workflow": "mistral.constraint:MistralWorkflow"})


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kinds of runner."""
    return {"http": _http, "mistral": _mistral}


def _http(settings: Mapping[str, Any]) -> WorkflowRunner:
    from .http_runner.runner import (
        HttpRunner,  # 0.07 s that a command without workflows need not spend
    )

    return HttpRunner(settings)


@hookimpl
def zonda_event_sinks() -> Mapping[str, SinkFactory]:
    """The kinds of event sink."""
    return {"webhook": _webhook, "log": _log}


def _webhook(settings: Mapping[str, Any]) -> EventSink:
    from .event_sinks.webhook import WebhookSink  # as above

    return WebhookSink(settings)


def _log(settings: Mapping[str, Any]) -> EventSink:
    from .event_sinks.log import LogSink

    return LogSink(settings)


def _mistral(settings: Mapping[str, Any]) -> WorkflowRunner:
    from .mistral.runner import MistralRunner

    return MistralRunner(settings)
