"""The plug-in of the entry point."""

from __future__ import annotations

from collections.abc import Mapping

from zonda.hooks import LazyFactory, hookimpl
from zonda.hooks.runners import RunnerFactory


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kind of runner that this package brings, imported when one is made."""
    place = f"{__package__}.playbooks"
    return {"ansible": LazyFactory(place, "runner:AnsibleRunner", "schema:ANSIBLE")}
