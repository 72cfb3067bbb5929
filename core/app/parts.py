"""The parts of an application: plug-ins, settings, database, locks, each made when first asked for.

A command that only reads must neither pay for an engine nor wait for one. The services of ``App``
are made of these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zonda import __version__
from zonda.core.settings.table import Settings
from zonda.core.store.database.protocols import Database, Lock
from zonda.core.store.file.connection import MEMORY
from zonda.core.store.file.faults import check_reachable
from zonda.core.store.read.opening import POSTGRESQL, find_database, open_reader
from zonda.core.store.read.reader import Reader
from zonda.core.store.values.sealing import Sealer, make_key, make_sealer
from zonda.core.system.clock import SystemClock
from zonda.core.system.folders import find_exposed, make_folder
from zonda.core.system.ids import Ids, make_system_random
from zonda.core.template.source.bundle import Limits
from zonda.hooks.errors import PluginError, StoreError
from zonda.hooks.records import fields
from zonda.hooks.runners.references import StackRef
from zonda.hooks.text.borders import preserve_signals

if TYPE_CHECKING:  # what commands that only read must not import
    from random import Random

    from zonda.core.cluster.membership import Terms
    from zonda.core.engine.actions import Action
    from zonda.core.engine.services import EngineSettings
    from zonda.core.engine.templates.loading import TemplateLoading
    from zonda.core.plugins.manager import Plugins
    from zonda.core.plugins.resource_mapping import ModulePlugin
    from zonda.core.reports.export import StackExporter
    from zonda.core.settings.project_grants import ProjectGrants
    from zonda.core.store.write.database import Store
    from zonda.core.template.evaluation.scope import FunctionTable
    from zonda.hooks.context import ResourceContext

    from .inspection import StackInspector
    from .resource_services import ResourceServices

_SQLITE = "sqlite:///"


class Parts:
    """The parts of one application."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = _make_clock(settings)
        self.ids = Ids(self.clock)
        #: The URL that this process serves, '' where it serves none.
        self.served_url = ""
        #: The runners and secrets of each project; None where no server tells projects apart.
        self.grants: ProjectGrants | None = None
        self._tables: dict[str, FunctionTable] = {}
        self._reader: Reader | None = None
        self._reads_nothing = False
        self._opened: list[Store | Reader] = []

    @cached_property
    def random(self) -> Random:
        """The source of chance for passwords."""
        return make_system_random()

    @cached_property
    def plugins(self) -> Plugins:
        """Everything that built-in, installed and drop-in plug-ins provide."""
        from zonda.core.plugins import files as dropins

        from . import type_files

        disabled = {name.strip() for name in self.settings.disabled_plugins.split(",")} - {""}
        with preserve_signals():
            found = _gather(
                lambda: dropins.load_files(self.settings.plugin_dirs), disabled=disabled
            )
        type_files.add_files(found, type_files.list_yaml_files(self.type_folders))
        if self.settings.runners or self.settings.sinks:
            from zonda.core.settings.section_checks import check_sections

            check_sections(self.settings, found)
        return found

    @property
    def type_folders(self) -> list[Path]:
        """The folders that are searched for manifests."""
        return [*map(Path, self.settings.plugin_dirs), self.settings.home / "types"]

    def load_plugins_from(self, path: Path) -> Plugins:
        """Load the plug-ins of one file or folder, beside zonda's own and no others."""
        from zonda.core.plugins import files as dropins

        from . import type_files

        if path.is_file() and path.suffix in type_files.SUFFIXES:
            plugins = _gather(discover=False)
            type_files.add_files(plugins, [path], must=True)
            return plugins
        _ = self.plugins  # what is installed may provide what a file imports

        def load() -> tuple[list[ModulePlugin], list[PluginError]]:
            return dropins.load_file(path) if path.is_file() else dropins.load_files([str(path)])

        plugins = _gather(load, discover=False)
        type_files.add_files(plugins, type_files.list_yaml_files([path]) if path.is_dir() else ())
        return plugins

    def make_context(self, project: str = "", plugins: Plugins | None = None) -> ResourceContext:
        """Make the context of a resource that is only validated: patterns and constraints.

        ``project``: whose template it is, if not that of the settings.
        """
        from zonda.core.engine.model.lending import BareContext

        nobody = StackRef("", "stack", project or self.settings.project)
        lender = self.make_lender(lenient=True, plugins=plugins)
        most = self.limits.max_resources_per_stack
        return BareContext(lender, self.clock, self.random, nobody, most)

    def function_table(self, version: str) -> FunctionTable:
        """Load the functions of one template version (a date)."""
        if version not in self._tables:
            from zonda.core.functions.versions import build_function_table

            self._tables[version] = build_function_table(version, self.plugins)
        return self._tables[version]

    @cached_property
    def limits(self) -> Limits:
        """The limits that templates must keep."""
        names = Limits.__dataclass_fields__
        return Limits(**{name: getattr(self.settings, name) for name in names})

    @property
    def reader(self) -> Reader:
        """The reader of the database. Takes no lock, writes nothing; empty without a database."""
        if self._reader is None or (self._reads_nothing and self.database.is_made()):
            self._reader, self._reads_nothing = self._open_reader()
        return self._reader

    def _open_reader(self) -> tuple[Reader, bool]:
        if not self.database.is_made():
            return self._open_store(MEMORY, Sealer(make_key())).reader(), True
        reader = open_reader(self.database, self.sealer)
        self._opened.append(reader)
        return reader, False

    def find_last_event(self) -> int:
        """The number of the newest event; 0 before there is a database."""
        if self._reader is None and not self.database.is_made():
            return 0  # a reader of nothing would take a database in memory
        return self.reader.last_event()

    def check_home(self) -> None:
        """Raise StoreError where the folder of the database does not exist."""
        if not self.folder.exists() and not self.database.is_made():
            raise StoreError(
                f"There is no home {self.folder}.",
                hint="Check --home and ZONDA_HOME. 'zonda stack create' and 'zonda demo' make one.",
            )

    @cached_property
    def database(self) -> Database:
        """The database; raises StoreError for a folder, or a URL of another kind."""
        return self.find_database(self.settings.database_url)

    def find_database(self, url: str) -> Database:
        """Find the database of a URL; raises StoreError for a folder, or another kind."""
        if url.startswith(_SQLITE):
            path = Path(url.removeprefix(_SQLITE)).absolute()
            check_reachable(path)
            url = str(path)
        elif not url.startswith(POSTGRESQL):
            raise StoreError(
                f"A database of kind {url.partition(':')[0]} cannot be used.",
                hint="Set database_url to sqlite:///PATH or postgresql://HOST/NAME, or leave it"
                " out.",
            )
        return find_database(url, self.settings.synchronous)

    @property
    def is_clustered(self) -> bool:
        """Whether several engines may share the database, as members of a cluster."""
        return self.settings.database_url.startswith(POSTGRESQL)

    def make_terms(self) -> Terms:
        """Make the terms on which this process is a member of a cluster."""
        from zonda.core.cluster.membership import Terms

        known, manager = self.settings, self.plugins.manager
        return Terms(
            known.lease,
            __version__,
            self.served_url,
            known.trees_at_once,
            manager.compute_digest() if manager is not None else "",
            known.strict_plugins == "yes",
            "" if known.listen_url == "off" else known.listen_url or known.database_url,
        )

    @property
    def folder(self) -> Path:
        """The folder of the database; that of a server is the home."""
        return self.database.folder or self.settings.home

    @property
    def key_file(self) -> Path:
        """The file of the sealing key, used unless a setting holds the key."""
        known = self.settings.key_file
        return Path(known).expanduser() if known else self.folder / "zonda.key"

    @property
    def exposed_paths(self) -> list[Path]:
        """The paths among home, database and key that every user of this machine may open."""
        file = (Path(self.database.where),) if self.database.folder else ()
        return find_exposed((self.settings.home, *file, self.key_file))

    @cached_property
    def sealer(self) -> Sealer:
        """The sealer of the database; its key is made where there is no database yet."""
        return self.make_sealer_of(self.database)

    def make_sealer_of(self, database: Database) -> Sealer:
        """Make the sealer of a database; raises StoreError where that has lost its key."""
        keys = [key.strip() for key in self.settings.key.split(",") if key.strip()]
        return make_sealer(keys or None, self.key_file, database=database)

    @cached_property
    def store(self) -> Store:
        """The database, opened for writing; created if it does not exist."""
        for folder in (self.settings.home, self.folder):
            make_folder(folder)
        return self._open_store(self.database, self.sealer)

    @cached_property
    def lock(self) -> Lock:
        """The engine lock of this database."""
        return self.database.engine_lock()

    @property
    def has_engine(self) -> bool:
        """Whether any process is the engine of this database."""
        return bool(self.find_engine())

    def find_engine(self) -> str:
        """The process that is the engine, or the members of the cluster, for people; or ''."""
        if self.is_clustered:
            return ", ".join(f"process {pid} on {host}" for host, pid in self.reader.list_members())
        return f"process {self.lock.read_holder() or 'unknown'}" if self.lock.is_taken() else ""

    @cached_property
    def lender(self) -> ResourceServices:
        """The services that resources may use: runners, clients, secrets."""
        return self.make_lender(lenient=False)

    def make_lender(self, *, lenient: bool, plugins: Plugins | None = None) -> ResourceServices:
        """Make the services of resources; ``lenient``: workflows are not looked for."""
        from .resource_services import ResourceServices

        plugins = plugins or self.plugins
        return ResourceServices(
            self.settings,
            plugins,
            self.clock,
            self.random,
            lenient=lenient,
            public_url=self.served_url,
            grants=self.grants,
        )

    @cached_property
    def template_loader(self) -> TemplateLoading:
        """The loader that makes definitions from bundles."""
        return self.make_template_loader(self.lender)

    def make_template_loader(self, lender: ResourceServices) -> TemplateLoading:
        """Make a loader of definitions that asks ``lender``."""
        from zonda.core.engine.templates.loading import TemplateLoading

        parts = (self.plugins, self.function_table, self.limits, lender, self.clock, self.random)
        return TemplateLoading(*parts)

    @property
    def inspector(self) -> StackInspector:
        """The inspector of stacks: their history, failures and graphs. Reads only."""
        from .inspection import StackInspector

        return StackInspector(self.reader, lambda: self.template_loader)

    @property
    def exporter(self) -> StackExporter:
        """The exporter, which makes documents of stacks and snapshots. Reads only."""
        from zonda.core.reports.export import StackExporter

        return StackExporter(self.reader, self.inspector.read)

    def open_scratch_reader(self) -> Reader:
        """Open the reader of an empty database in memory that seals with the key of this one."""
        make_folder(self.folder)
        return self._open_store(MEMORY, self.sealer).reader()

    def make_engine_settings(self) -> EngineSettings:
        """Make the settings of an engine from those of the same names."""
        from zonda.core.engine.services import EngineSettings

        names = [row.name for row in fields(EngineSettings) if hasattr(self.settings, row.name)]
        return EngineSettings(**{name: getattr(self.settings, name) for name in names})

    def _open_store(self, database: str | Database, sealer: Sealer) -> Store:
        from zonda.core.store.write.database import open_store

        store = open_store(database, sealer=sealer)
        self._opened.append(store)
        return store

    def close(self) -> None:
        """Close runners and database, release the lock."""
        made = self.__dict__
        if "lender" in made:
            self.lender.close()
        for opened in self._opened:
            opened.close()
        if "lock" in made:
            self.lock.release()
        if "database" in made:
            self.database.close()


def _make_clock(settings: Settings) -> SystemClock:
    if not settings.database_url.startswith(POSTGRESQL):
        return SystemClock()
    from zonda.core.cluster.clock import ClusterClock

    return ClusterClock()


def _gather(
    load_files: Callable[[], tuple[list[ModulePlugin], list[PluginError]]] | None = None,
    *,
    discover: bool = True,
    disabled: Collection[str] = (),
) -> Plugins:
    from zonda.builtin_resources import plugin as built_in
    from zonda.core.plugins.manager import gather_plugins, make_manager
    from zonda.workflows import plugin as workflows

    failures: list[PluginError] = []

    def files() -> Iterator[ModulePlugin]:
        plugins, failed = load_files() if load_files is not None else ([], [])
        failures.extend(failed)
        yield from plugins

    manager = make_manager(
        built_in,
        workflows,
        files=files(),
        discover=discover,
        disabled=disabled,
        failures=failures,
    )
    plugins = gather_plugins(manager, failures)
    if plugins.type_texts:
        from .type_files import add_packages

        add_packages(plugins)
    return plugins


def add_declared_types(action: Action, parts: Parts) -> Action:
    """Add to ``action`` the manifests of its types, which a running engine may not know.

    The folders are read just now, so that a text that was changed a minute ago counts, whoever is
    the engine. Without such files nothing is read.
    """
    from zonda.core.engine.actions.base import Templated

    if not isinstance(action, Templated) or not action.bundle.template:
        return action
    if not any(folder.exists() for folder in parts.type_folders):
        return action
    from zonda.core.template.types.declared_types import with_declared_types

    from . import type_files

    if next(iter(type_files.list_yaml_files(parts.type_folders)), None) is None:
        return action
    kept = with_declared_types(action.bundle, parts.plugins.resource_types)
    return action if kept is action.bundle else action.with_bundle(kept)
