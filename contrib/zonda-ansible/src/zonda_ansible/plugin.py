"""The plug-in of the entry point: types of modules, the host, and the runner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zonda.hooks import LazyFactory, Resource, generate_types, hookimpl
from zonda.hooks.runners import RunnerFactory

from .index import FORMAT, load_index

_MODULE = f"{__package__}.types"


@hookimpl
def zonda_resource_types() -> Mapping[str, type[Resource]]:
    """The types of all modules of the installed collections, none of which is made yet."""
    index = load_index()

    def make(name: str) -> Any:
        from .types import make_type

        return make_type(index, name)

    names = (f"Ansible::{name}" for name in index.modules)
    types = generate_types(_MODULE, names, make, f"{FORMAT} {index.fingerprint}")
    from .hosts import Host

    types["Zonda::Ansible::Host"] = Host
    return types


@hookimpl
def zonda_runners() -> Mapping[str, RunnerFactory]:
    """The kind of runner that this package brings, imported when one is made."""
    place = f"{__package__}.playbooks"
    return {"ansible": LazyFactory(place, "runner:AnsibleRunner", "schema:ANSIBLE")}
