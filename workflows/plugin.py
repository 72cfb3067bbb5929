"""Registers what this room brings, through the same hooks that a stranger uses."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks.markers import hookimpl
from zonda.hooks.resource import Resource
from zonda.hooks.specs import RunnerFactory

from .external_resource import ExternalResource
from .http_runner import HttpRunner


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The resource types made of workflows."""
    return {"OS::Mistral::ExternalResource": ExternalResource}


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kinds of runner."""
    return {"http": HttpRunner}
