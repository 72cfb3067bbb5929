"""The plug-in manager finds, checks and gathers plug-ins. There is no global manager.

``make_manager`` registers the built-in plug-ins and, if asked, every entry point of group
``zonda``; ``gather`` asks all hooks once and gives the result as data. A plug-in that fails is
reported in ``Plugins.failures`` and left out. Of two that claim one name neither gets it, unless
one of them is zonda's own; the rest of what they bring is used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from pathlib import PurePath
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import pluggy

from zonda import __version__
from zonda.hooks import specs
from zonda.hooks.errors import PluginError
from zonda.hooks.events import SinkFactory
from zonda.hooks.function import Function
from zonda.hooks.hashes import blake2b
from zonda.hooks.lazy import Classes, Fallback, get_unloaded
from zonda.hooks.markers import PROJECT
from zonda.hooks.policies import Policy
from zonda.hooks.records import dataclass, field
from zonda.hooks.resources import declaration
from zonda.hooks.resources.resource import Resource
from zonda.hooks.runners import RunnerFactory
from zonda.hooks.schema.constraints import BaseCustomConstraint
from zonda.hooks.schema.support import Unavailable
from zonda.hooks.specs import TypeReader
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.sanitize import describe_exception, escape_surrogates, format_raise_place

from . import unavailable
from .installed import list_installed
from .resource_mapping import ModulePlugin, follows_the_guide

if TYPE_CHECKING:  # see ``installed``
    from importlib.metadata import Distribution

#: The kind of what may refuse requests.
POLICY: Final = "policy"

#: Namespaces of OpenStack's services in Heat's types; a similar name of ours does something else.
_OPENSTACK: Final = frozenset(
    f"OS::{service}::"
    for service in (
        *("Aodh", "Barbican", "Blazar", "Cinder", "Designate", "Glance", "Ironic", "Keystone"),
        *("Magnum", "Manila", "Neutron", "Nova", "Octavia", "Swift", "Trove", "Zaqar", "Zun"),
    )
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a plug-in: its name and the distribution that provides it.

    ``built_in``: it is a part of zonda, whose names nobody can take away.
    """

    plugin: str
    distribution: str = ""
    version: str = ""
    built_in: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of a plug-in: its own, and its distribution's."""
        return (self.plugin, self.distribution)

    def make_error(self, message: str, hint: str = "") -> PluginError:
        """Make an error of this plug-in."""
        return PluginError(
            message,
            plugin=self.plugin,
            distribution=self.distribution,
            version=self.version,
            hint=hint,
        )

    def __str__(self) -> str:
        if self.distribution not in ("", self.plugin) and not self.built_in:
            return f"{self.plugin} ({self.distribution} {self.version})".replace(" )", ")")
        return self.plugin


class Manager(pluggy.PluginManager):
    """pluggy's manager, which also records the origin of each plug-in."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        self.add_hookspecs(specs)
        self._origins: dict[str, Origin] = {}
        #: Plug-ins that are installed and were left alone.
        self.disabled: list[Origin] = []

    def adopt(
        self,
        plugin: object,
        name: str | None = None,
        distribution: Distribution | None = None,
        *,
        built_in: bool = False,
    ) -> None:
        """Register a plug-in whose hooks match; raises PluginError for one whose hooks do not."""
        try:
            registered = self.register(plugin, name)
            self.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            if self.is_registered(plugin):
                self.unregister(plugin)
            origin = _make_origin(name or str(getattr(plugin, "__name__", plugin)), distribution)
            raise _make_failure(origin, "does not fit the hooks", error) from error
        if registered is not None:
            origin = _make_origin(registered, distribution)
            if built_in:
                origin = Origin(registered, "zonda", __version__, built_in=True)
            self._origins[registered] = origin

    def origin(self, name: str) -> Origin:
        """Return the origin of the plug-in that is registered as ``name``."""
        return self._origins.get(name, Origin(name))

    def origins(self) -> list[Origin]:
        """List the origins of all plug-ins, in the order of registration."""
        return [self.origin(name) for name, _ in self.list_name_plugin()]

    def compute_digest(self) -> str:
        """The digest of the names and versions of what is no part of zonda, 8 digits.

        A file counts by its name, wherever it lies. '' without any.
        """
        names = (
            f"{PurePath(each.plugin).name} {each.distribution} {each.version}"
            for each in self.origins()
            if not each.built_in
        )
        found = "\n".join(sorted(names))
        return blake2b(found.encode(), digest_size=4).hexdigest() if found else ""


@dataclass(slots=True)
class Plugins:
    """Everything that plug-ins provide, by name. ``origins`` maps (kind, name) to its plug-in.

    ``unusable`` maps (kind, name) to why something that is brought cannot be used.
    """

    resource_types: Classes[type[Resource]] = field(default_factory=Classes)
    constraints: Classes[type[BaseCustomConstraint]] = field(default_factory=Classes)
    runners: dict[str, RunnerFactory] = field(default_factory=dict)
    type_readers: dict[str, TypeReader] = field(default_factory=dict)
    #: Types that packages bring as texts: who, the name of the file, the text.
    type_texts: list[tuple[Origin, str, str]] = field(default_factory=list)
    client_plugins: Classes[type[Any]] = field(default_factory=Classes)
    event_sinks: dict[str, SinkFactory] = field(default_factory=dict)
    policies: dict[str, Policy] = field(default_factory=dict)
    origins: dict[tuple[str, str], Origin] = field(default_factory=dict)
    failures: list[PluginError] = field(default_factory=list)
    unusable: dict[tuple[str, str], PluginError] = field(default_factory=dict)
    manager: Manager | None = None
    _functions: dict[str, dict[str, type[Function]]] = field(default_factory=dict)

    def functions(self, version: str) -> Mapping[str, type[Function]]:
        """Return the functions that plug-ins add to ``version``."""
        if version not in self._functions:
            found: dict[str, type[Function]] = {}
            kind = f"function of {version}"
            self._collect("zonda_functions", kind, found, Function, version)
            for name, error in self._list_unusable(kind):
                found[name] = unavailable.make_function(error)
            self._functions[version] = found
        return self._functions[version]

    def _collect(
        self,
        hook: str,
        kind: str,
        target: MutableMapping[str, Any],
        base: type[Any] | None,
        version: str | None = None,
    ) -> None:
        """Collect the results of ``hook`` into ``target``; classes must extend ``base``."""
        if self.manager is None:
            return
        for origin, ask in _list_implementations(self.manager, hook, version):
            try:
                brought = _read_mapping(hook, ask(), built_in=origin.built_in)
            except BaseException as error:  # a stranger's code may even exit; the rest goes on
                raise_interruption(error)
                failure = _make_failure(origin, f"failed in {hook}", error)
                self.add_failure(failure)
                if kind == POLICY:  # what would have refused cannot be left out
                    self.unusable[kind, origin.plugin] = failure
                continue
            for name, thing in brought.items():
                if isinstance(name, str) and name.strip() and escape_surrogates(name) == name:
                    self._add(
                        kind, target, origin, name, declaration.validate_declaration(thing, base)
                    )
                else:
                    self.add_failure(_make_bad_name_error(hook, origin, name))

    def _collect_texts(self) -> None:
        if self.manager is None:
            return
        for origin, ask in _list_implementations(self.manager, "zonda_type_texts", None):
            try:
                self.type_texts += [(origin, str(file), str(text)) for file, text in ask()]
            except BaseException as error:  # a stranger's code may even exit; the rest goes on
                raise_interruption(error)
                self.add_failure(_make_failure(origin, "failed in zonda_type_texts", error))

    def list_summaries(self) -> list[tuple[str, str]]:
        """List what plug-ins say of themselves: (name, one line)."""
        found: list[tuple[str, str]] = []
        if self.manager is None:
            return found
        for each in self.manager.hook.zonda_summary.get_hookimpls():
            origin = self.manager.origin(each.plugin_name)
            types = [
                name
                for (kind, name), by in self.origins.items()
                if (kind, by) == ("resource type", origin)
            ]
            try:
                said = each.function(**dict.fromkeys(each.argnames, types))
                found.append((origin.plugin, str(said)))
            except BaseException as error:  # a stranger's code may even exit; the rest goes on
                raise_interruption(error)
                self.add_failure(_make_failure(origin, "failed in zonda_summary", error))
        return found

    def check_clouds(self, name: str) -> list[tuple[str, str, str]]:
        """Ask the plug-ins about a cloud: (what, verdict, text). Raises what they raise."""
        if self.manager is None:
            return []
        answers = self.manager.hook.zonda_cloud_checks(name=name)
        return [
            (str(what), str(verdict), str(text)) for each in answers for what, verdict, text in each
        ]

    def add_type(self, origin: Origin, name: str, cls: type[Resource]) -> None:
        """Add a declared type, with the rules of all types."""
        self._add(
            "resource type",
            self.resource_types,
            origin,
            name,
            declaration.validate_declaration(cls, Resource),
        )

    def _add(
        self, kind: str, target: MutableMapping[str, Any], origin: Origin, name: str, thing: Any
    ) -> None:
        if isinstance(thing, Unavailable):
            said = (
                f"The {_format_kind(kind)} {name} of {origin} cannot be used here: {thing.reason}"
            )
            error = origin.make_error(said, "Everything else goes on without it.")
            self._mark_unusable(kind, name, error)
        elif isinstance(get_unloaded(target).get(name), Fallback):
            target[name], self.origins[kind, name] = thing, origin
        elif isinstance(thing, Fallback) and name in target:
            pass  # somebody else brings the name
        elif name in target:
            if target[name] is not thing:  # a folder may hand on what its files bring
                self._handle_conflict(kind, target, origin, name)
        elif (kind, name) in self.unusable:
            said = f"{origin} brings the {_format_kind(kind)} {name}, too, which nobody can use."
            self.add_failure(origin.make_error(said, "See the other faults of this name."))
        else:
            target[name] = thing
            self.origins[kind, name] = origin

    def _handle_conflict(
        self, kind: str, target: MutableMapping[str, Any], origin: Origin, name: str
    ) -> None:
        """Handle a second plug-in of the same name: neither gets it, unless one is zonda's own."""
        first = self.origins[kind, name]
        if first.built_in:
            self.add_failure(_make_conflict_error(kind, name, first, origin, origin))
            return
        del target[name], self.origins[kind, name]
        self.add_failure(_make_conflict_error(kind, name, first, origin, first))
        self._mark_unusable(kind, name, _make_conflict_error(kind, name, first, origin, origin))

    def _mark_unusable(self, kind: str, name: str, error: PluginError) -> None:
        self.add_failure(error)
        self.unusable[kind, name] = error

    def add_failure(self, error: PluginError) -> None:
        """Record a failure, once: functions are collected version by version."""
        if not any(
            (each.plugin, str(each)) == (error.plugin, str(error)) for each in self.failures
        ):
            self.failures.append(error)

    def _list_unusable(self, kind: str) -> list[tuple[str, PluginError]]:
        """List the unusable names of one kind, with their errors."""
        return [(name, error) for (of, name), error in self.unusable.items() if of == kind]

    def explain_missing_type(self, name: str) -> str:
        """Explain a missing resource type by a failed plug-in, or by one that is not installed."""
        reason = self.explain_missing("resource type", name)
        service = name[: name.rfind("::") + 2]
        if reason or service not in _OPENSTACK:
            return reason
        if any(each.startswith(service) for each in self.resource_types):
            return ""
        return f"{name} would be a type of OpenStack: pip install 'zonda-heat-compat[openstack]'."

    def explain_missing(self, kind: str, name: str) -> str:
        """Explain a missing name of a kind by the failure of a plug-in; '' where none failed."""
        known = self.unusable.get((kind, name))
        if known is not None:
            return known.message
        broken = [each for each in self.failures if each.__cause__ is not None]
        if not broken:
            return ""
        names = ", ".join(dict.fromkeys(each.distribution or each.plugin for each in broken))
        return f"It may belong to a plug-in that failed ({names}): see 'zonda plugin list'."


def make_manager(
    *built_in: object,
    files: Iterable[object] = (),
    discover: bool = True,
    disabled: Collection[str] = (),
    failures: list[PluginError] | None = None,
) -> Manager:
    """Make a manager with the specifications, ``built_in`` and, if asked, installed plug-ins.

    ``files``: plug-ins that are plain files; they come before those that are installed, which are
    imported before the first file is asked for, since a file may use what they provide.
    ``disabled``: installed plug-ins or distributions that are not even imported.

    A plug-in that cannot be imported or registered is appended to ``failures`` and left out.
    """
    manager = Manager()
    failed = [] if failures is None else failures

    def adopt(plugin: object, *origin: Any, built_in: bool = False) -> None:
        try:
            manager.adopt(plugin, *origin, built_in=built_in)
        except PluginError as error:
            failed.append(error)

    for plugin in built_in:
        adopt(plugin, built_in=True)
    installed = [*_import_installed(manager, disabled, failed)] if discover else []
    for plugin in files:
        adopt(plugin)
    for plugin, name, distribution in installed:
        adopt(plugin, name, distribution)
    return manager


def _import_installed(
    manager: Manager, disabled: Collection[str], failed: list[PluginError]
) -> Iterator[tuple[object, str, Distribution | None]]:
    """Import the installed plug-ins that are not disabled: plug-in, name, distribution."""
    for name, load, distribution in list_installed():
        origin = _make_origin(name, distribution)
        if not {*disabled}.isdisjoint(origin.names):
            manager.disabled.append(origin)
            continue
        try:
            plugin = load()
        except BaseException as error:  # importing a stranger's module may raise anything, or exit
            raise_interruption(error)
            failed.append(_make_failure(origin, "cannot be imported", error))
            continue
        if isinstance(plugin, ModuleType) and follows_the_guide(plugin):
            plugin = ModulePlugin(name, plugin)
        yield plugin, name, distribution


def gather_plugins(manager: Manager, failures: Iterable[PluginError] = ()) -> Plugins:
    """Call every hook once and gather the results, with ``failures``."""
    plugins = Plugins(manager=manager, failures=list(failures))
    collect = plugins._collect
    collect("zonda_resource_types", "resource type", plugins.resource_types, Resource)
    collect("zonda_constraints", "constraint", plugins.constraints, BaseCustomConstraint)
    collect("zonda_runners", "runner", plugins.runners, None)
    collect("zonda_type_readers", "reader of types", plugins.type_readers, None)
    plugins._collect_texts()
    collect("zonda_client_plugins", "client plug-in", plugins.client_plugins, None)
    collect("zonda_event_sinks", "event sink", plugins.event_sinks, None)
    collect("zonda_policies", POLICY, plugins.policies, Policy)
    for name, error in plugins._list_unusable("constraint"):
        plugins.constraints[name] = unavailable.make_constraint(error)
    return plugins


def _list_implementations(
    manager: Manager, hook: str, version: str | None
) -> Iterator[tuple[Origin, Callable[[], Any]]]:
    """List the implementations of ``hook``, each as a call, so that a failure affects no other."""
    for implementation in getattr(manager.hook, hook).get_hookimpls():
        arguments = {"version": version} if "version" in implementation.argnames else {}

        def ask(function: Any = implementation.function, given: Any = arguments) -> Any:
            return function(**given)

        yield manager.origin(implementation.plugin_name), ask


def _read_mapping(hook: str, answer: Any, *, built_in: bool) -> Mapping[Any, Any]:
    """Read the mapping that a hook returned; import the classes of others, but no ``Fallback``."""
    if not isinstance(answer, Mapping):
        raise TypeError(f"{hook} must give a mapping, not {type(answer).__name__}")
    known = get_unloaded(answer)
    if built_in:
        return known
    return {
        name: each if isinstance(each, Fallback) else answer[name] for name, each in known.items()
    }


def _make_origin(name: str, distribution: Distribution | None) -> Origin:
    if distribution is None:
        return Origin(name)
    return Origin(name, str(distribution.metadata["Name"]), distribution.version)


def _make_failure(origin: Origin, what: str, error: BaseException) -> PluginError:
    where = f"{describe_exception(error)}{format_raise_place(error)}"
    failure = origin.make_error(f"Plug-in {origin} {what}: {where}", format_import_hint(error))
    failure.__cause__ = error
    return failure


def format_import_hint(error: BaseException) -> str:
    """Format the hint about a plug-in that cannot be imported or used."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        library = error.name if top in sys.modules else top
        if error.name == "heat":
            return "It was written for OpenStack Heat: pip install zonda-heat-compat."
        return f"It needs {library}, which is not installed. Everything else goes on without it."
    return "It is left out; everything else goes on."


def _make_bad_name_error(hook: str, origin: Origin, name: object) -> PluginError:
    fault = TypeError(f"{hook} gives {name!r} as a name, which is not text")
    return _make_failure(origin, f"failed in {hook}", fault)


def _make_conflict_error(
    kind: str, name: str, first: Origin, second: Origin, told: Origin
) -> PluginError:
    """Make the error of a name that two plug-ins bring, for ``told``, one of the two."""
    return told.make_error(
        f"Two plug-ins bring the {_format_kind(kind)} {name}: {first} and {second}; "
        + (f"that of {first} is used." if first.built_in else "neither is used."),
        "Uninstall one of them, name it in the setting disabled_plugins, or take its file "
        "out of plugin_dirs.",
    )


def _format_kind(kind: str) -> str:
    """Format a kind for users: without the version that a function belongs to."""
    return kind.partition(" of ")[0]
