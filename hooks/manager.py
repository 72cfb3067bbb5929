"""Plug-ins are found, checked and gathered here. There is no global manager.

``make_manager`` registers the built-in plug-ins and, if asked, every entry point of group
``zonda``; ``gather`` asks all hooks once and gives the result as data. A plug-in that fails is
reported in ``Plugins.failures`` and left out; two that claim one name are an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distributions
from typing import Any

import pluggy

from . import specs
from .constraints import BaseCustomConstraint
from .errors import PluginError
from .function import Function
from .markers import PROJECT
from .resource import Resource
from .specs import RunnerFactory

GROUP = "zonda"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a plug-in comes from: its name and the distribution that brought it."""

    plugin: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        if self.distribution and self.distribution != self.plugin:
            return f"{self.plugin} ({self.distribution} {self.version})".replace(" )", ")")
        return self.plugin


@dataclass(slots=True)
class Plugins:
    """All that the plug-ins bring, by name. ``origins`` maps (kind, name) to who brought it."""

    resource_types: dict[str, type[Resource]] = field(default_factory=dict)
    constraints: dict[str, type[BaseCustomConstraint]] = field(default_factory=dict)
    runners: dict[str, RunnerFactory] = field(default_factory=dict)
    client_plugins: dict[str, type[Any]] = field(default_factory=dict)
    origins: dict[tuple[str, str], Origin] = field(default_factory=dict)
    failures: list[PluginError] = field(default_factory=list)
    manager: pluggy.PluginManager | None = None
    _functions: dict[str, dict[str, type[Function]]] = field(default_factory=dict)

    def functions(self, version: str) -> Mapping[str, type[Function]]:
        """The functions that plug-ins add to ``version``."""
        if version not in self._functions:
            found: dict[str, type[Function]] = {}
            if self.manager is not None:
                for _, brought in _ask(self, self.manager, "zonda_functions", version=version):
                    found.update(brought)
            self._functions[version] = found
        return self._functions[version]


def make_manager(
    *built_in: object, discover: bool = True, failures: list[PluginError] | None = None
) -> pluggy.PluginManager:
    """A manager with the specifications, ``built_in`` plug-ins and, if asked, installed ones.

    A plug-in that cannot be imported or registered is appended to ``failures`` and left out.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    failures = [] if failures is None else failures
    for plugin in built_in:
        _register(manager, plugin, None, failures)
    if discover:
        for name, load, distribution in _installed():
            try:
                plugin = load()
            except Exception as error:
                failures.append(_failure(name, distribution, "cannot be imported", error))
                continue
            _register(manager, plugin, name, failures, distribution)
    return manager


def gather(manager: pluggy.PluginManager, failures: Iterable[PluginError] = ()) -> Plugins:
    """Ask every hook once. Raises PluginError where two plug-ins claim one name."""
    plugins = Plugins(manager=manager, failures=list(failures))
    for hook, kind, target in (
        ("zonda_resource_types", "resource type", plugins.resource_types),
        ("zonda_constraints", "constraint", plugins.constraints),
        ("zonda_runners", "runner", plugins.runners),
        ("zonda_client_plugins", "client plug-in", plugins.client_plugins),
    ):
        for origin, brought in _ask(plugins, manager, hook):
            _add(plugins, kind, target, origin, brought)
    return plugins


def _add(
    plugins: Plugins,
    kind: str,
    target: dict[str, Any],
    origin: Origin,
    brought: Mapping[str, Any],
) -> None:
    for name, thing in brought.items():
        if name in target:
            other = plugins.origins[kind, name]
            raise PluginError(
                f"Two plug-ins bring the {kind} {name}: {other} and {origin}.",
                plugin=origin.plugin,
                distribution=origin.distribution,
                hint="Uninstall one, or take it out of plugin_dirs.",
            )
        target[name] = thing
        plugins.origins[kind, name] = origin


def _ask(
    plugins: Plugins, manager: pluggy.PluginManager, hook: str, **arguments: Any
) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
    """The answers to one hook, plug-in by plug-in, so that one that fails hurts no other."""
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        origin = _origin(manager, implementation.plugin, implementation.plugin_name)
        wanted = {name: arguments[name] for name in implementation.argnames}
        try:
            answer = implementation.function(**wanted)
            if not isinstance(answer, Mapping):
                raise TypeError(f"{hook} must give a mapping, not {type(answer).__name__}")
        except Exception as error:
            plugins.failures.append(
                _failure(origin.plugin, None, f"failed in {hook}", error, origin.distribution)
            )
            continue
        yield origin, answer


def _register(
    manager: pluggy.PluginManager,
    plugin: object,
    name: str | None,
    failures: list[PluginError],
    distribution: Distribution | None = None,
) -> None:
    registered = None
    try:
        registered = manager.register(plugin, name)
        manager.check_pending()
    except (pluggy.PluginValidationError, ValueError) as error:
        shown = name or str(getattr(plugin, "__name__", plugin))
        failures.append(_failure(shown, distribution, "does not fit the hooks", error))
        if manager.is_registered(plugin):
            manager.unregister(plugin)
        return
    if distribution is not None and registered is not None:
        manager._plugin_distinfo.append((plugin, _DistributionFacade(distribution)))


class _DistributionFacade:
    """What pluggy keeps of a distribution, without its private class."""

    def __init__(self, distribution: Distribution) -> None:
        self._distribution = distribution
        self.project_name = str(distribution.metadata["name"])
        self.version = distribution.version


def _origin(manager: pluggy.PluginManager, plugin: object, name: str) -> Origin:
    for registered, distribution in manager.list_plugin_distinfo():
        if registered is plugin:
            return Origin(name, distribution.project_name, distribution.version)
    return Origin(name)


def _installed() -> Iterator[tuple[str, Any, Distribution]]:
    """Entry points of group ``zonda``: name, loader, distribution."""
    for distribution in distributions():
        for entry in distribution.entry_points:
            if entry.group == GROUP:
                yield entry.name, entry.load, distribution


def _failure(
    name: str,
    distribution: Distribution | None,
    what: str,
    error: Exception,
    distribution_name: str = "",
) -> PluginError:
    project = distribution_name or (
        str(distribution.metadata["name"]) if distribution is not None else ""
    )
    failure = PluginError(
        f"Plug-in {name} {what}: {type(error).__name__}: {error}",
        plugin=name,
        distribution=project,
    )
    failure.__cause__ = error
    return failure
