"""The libraries of OpenStack by their names until 2014: ``oslo.config`` for ``oslo_config``.

Only where the library is installed by its name of today and nobody else owns the name ``oslo``.
"""

from __future__ import annotations

import importlib
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType


class _Alias:
    """Gives the module of today's name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has put the alias there


class _Empty:
    """Makes the package ``oslo``, in which nothing is but its parts."""

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


def spec_for(name: str) -> ModuleSpec | None:
    """The import of ``oslo`` or a part of it; None where that is not ours to say."""
    if PathFinder.find_spec("oslo") is not None:
        return None
    if name == "oslo":
        return ModuleSpec(name, _Empty(), is_package=True)  # type: ignore[arg-type]
    today = name.replace("oslo.", "oslo_", 1)
    try:
        found = find_spec(today)
    except ModuleNotFoundError:
        return None
    if found is None:
        return None
    is_package = found.submodule_search_locations is not None
    return ModuleSpec(name, _Alias(today), is_package=is_package)  # type: ignore[arg-type]
