"""Registers the types, runners and sinks of this package through the public hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from zonda.hooks import LazyFactory, hookimpl, lazy_types

if TYPE_CHECKING:  # 0.05 s for a command that only checks its settings
    from zonda.hooks import BaseCustomConstraint, Resource, TypeDocument, TypeReader
    from zonda.hooks.events import SinkFactory
    from zonda.hooks.runners import RunnerFactory

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
    """The reader of manifests. Its modules are imported only where there is one."""

    def __call__(self, document: TypeDocument) -> type[Resource]:
        from .manifest.parser import read_manifest

        return read_manifest(document)

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of manifests, for editors."""
        from .manifest.json_schema import build_json_schema

        return build_json_schema()


@hookimpl
def zonda_constraints() -> Mapping[str, type[BaseCustomConstraint]]:
    """The custom constraints on workflows."""
    return lazy_types(__package__, {"mistral.workflow": "mistral.constraint:MistralWorkflow"})


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kinds of runner."""
    return {
        "http": _lazy("http_runner.runner:HttpRunner", "http_runner.schema:HTTP"),
        "mistral": _lazy("mistral.runner:MistralRunner", "mistral.schema:MISTRAL"),
    }


@hookimpl
def zonda_event_sinks() -> Mapping[str, SinkFactory]:
    """The kinds of event sink."""
    return {
        "webhook": _lazy("event_sinks.webhook:WebhookSink", "event_sinks.schema:WEBHOOK"),
        "log": _lazy("event_sinks.log:LogSink", "event_sinks.schema:LOG"),
    }


def _lazy(factory: str, schema: str) -> LazyFactory:
    return LazyFactory(__package__, factory, schema)
