"""The composition root: builds plug-ins, store, engine and scheduler from the settings.

The one place that knows everybody. Each part is made when first asked for, because a command that
only reads must neither pay for an engine nor wait for one. Faces (``cli``, ``api``) get an ``App``
and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from zonda.core.engine.actions import Action
from zonda.core.settings.table import Kinds, Settings
from zonda.core.store.file.faults import check_reachable
from zonda.core.store.file.lock import EngineLock
from zonda.core.store.read.reader import Reader
from zonda.core.store.read.views import StackView
from zonda.core.store.values.sealing import Sealer, make_key, make_sealer
from zonda.core.store.write.database import MEMORY, Store, has_database, open_store
from zonda.core.system.clock import SystemClock
from zonda.core.system.folders import find_exposed, make_folder
from zonda.core.system.ids import Ids, make_system_random
from zonda.core.template.source.bundle import Bundle, Identity, Limits
from zonda.hooks.errors import NotFound, PluginError, StoreError, TemplateWarning, ZondaError
from zonda.hooks.runners.references import StackRef
from zonda.hooks.text.borders import preserve_signals

from .details import Details, ValidationResult
from .engine_client import EngineClient, PendingRequest, RunningAction

if TYPE_CHECKING:  # what commands that only read must not import
    from zonda.core.engine.templates.loading import TemplateLoading
    from zonda.core.functions.versions import FunctionTable
    from zonda.core.plugins.files import DropIn
    from zonda.core.plugins.manager import Plugins
    from zonda.core.reports.export import StackExporter
    from zonda.core.store.read.drift_views import DriftCheckView
    from zonda.hooks.conformance import Report, Row
    from zonda.hooks.context import ResourceContext

    from .inspection import StackInspector
    from .introspection import Introspection
    from .planning import PlanResult
    from .resource_services import ResourceServices
    from .runner_endpoint import EndpointCheckOptions
    from .runner_service import Publish, Service

__all__ = ["App", "Details", "PendingRequest", "RunningAction", "ValidationResult", "build_app"]

_SQLITE = "sqlite:///"


class App:
    """The zonda application. Close it when done; whatever still runs can be continued later."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = SystemClock()
        self.ids = Ids(self.clock)
        self.random = make_system_random()
        self._tables: dict[str, FunctionTable] = {}
        self._reader: Reader | None = None
        self._reads_nothing = False
        self._opened: list[Store] = []

    # -- what can be used without an engine -----------------------------------------------------

    @cached_property
    def plugins(self) -> Plugins:
        """Everything that built-in, installed and drop-in plug-ins provide."""
        from zonda.core.plugins import files as dropins
        from zonda.core.settings.section_checks import check_sections

        from . import type_files

        disabled = {name.strip() for name in self.settings.disabled_plugins.split(",")} - {""}
        with preserve_signals():
            found = _gather(*dropins.load_files(self.settings.plugin_dirs), disabled=disabled)
        type_files.add_files(found, type_files.list_yaml_files(self._type_folders))
        check_sections(self.settings, found)
        return found

    @property
    def _type_folders(self) -> list[Path]:
        """The folders that are searched for manifests."""
        return [*map(Path, self.settings.plugin_dirs), self.settings.home / "types"]

    def load_plugins_from(self, path: Path) -> Plugins:
        """Load the plug-ins of one file or folder, beside zonda's own and no others."""
        from zonda.core.plugins import files as dropins

        from . import type_files

        if path.is_file() and path.suffix in type_files.SUFFIXES:
            plugins = _gather([], [], discover=False)
            type_files.add_files(plugins, [path], must=True)
            return plugins
        found = dropins.load_file(path) if path.is_file() else dropins.load_files([str(path)])
        plugins = _gather(*found, discover=False)
        type_files.add_files(plugins, type_files.list_yaml_files([path]) if path.is_dir() else ())
        return plugins

    def make_context(self, plugins: Plugins | None = None) -> ResourceContext:
        """Make the context of a resource that is only validated: patterns and constraints."""
        from zonda.core.engine.model.lending import BareContext

        nobody = StackRef("", "stack", self.settings.project)
        lender = self._make_lender(lenient=True, plugins=plugins)
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
        if self._reader is None or (self._reads_nothing and has_database(self.database)):
            self._reader, self._reads_nothing = self._open_reader()
        return self._reader

    def _open_reader(self) -> tuple[Reader, bool]:
        if not has_database(self.database):
            return self._keep(open_store(MEMORY, sealer=Sealer(make_key()))).reader(), True
        store = open_store(self.database, sealer=self._sealer, read_only=True)
        return self._keep(store).reader(), False

    def check_home(self) -> None:
        """Raise StoreError where the folder of the database does not exist."""
        home = self.database.parent
        if not home.exists():
            raise StoreError(
                f"There is no home {home}.",
                hint="Check --home and ZONDA_HOME. 'zonda stack create' and 'zonda demo' make one.",
            )

    def stack(self, name_or_id: str) -> StackView:
        """Read a stack of this project by name, or any stack by id; raises NotFound."""
        return self.reader.stack(name_or_id, self.settings.project)

    def read_stack_or_deleted(self, name_or_id: str) -> StackView:
        """Read a stack, else the last deleted one of this name; raises NotFound."""
        try:
            return self.stack(name_or_id)
        except NotFound as missing:
            try:
                return self.reader.deleted_stack(name_or_id, self.settings.project)
            except NotFound:
                raise missing from None

    def details(self, stack: StackView, *, refresh: bool = False, reveal: bool = False) -> Details:
        """Resolve a stack's parameters and outputs, for which its template is loaded.

        ``refresh``: ask the resources for their attributes instead of reading what is stored.
        ``reveal``: outputs show hidden values, since the user has asked for that.
        """
        from zonda.core.reports.outputs import make_stack_values

        shown = make_stack_values(
            self.reader,
            self.plugins.resource_types,
            load=self.template_loader,
            lender=self.lender,
            clock=self.clock,
            source=self.random,
            definitions=self.commands.definitions,
        )
        outputs = shown.outputs(stack.id, refresh=refresh, reveal=reveal)
        return Details(shown.parameters(stack.id), outputs)

    def plan(self, action: Action, *, keep: bool = False) -> PlanResult:
        """Preview an action. Takes no lock and changes nothing; works beside an engine.

        ``keep``: with the text of a plan file, for which the sealing key is made if there is none.
        """
        from .planning import make_plan

        reader = self.reader
        if keep and not has_database(self.database):
            make_folder(self.database.parent)
            reader = self._keep(open_store(MEMORY, sealer=self._sealer)).reader()
        return make_plan(self, reader, self._with_types(action) if keep else action, keep=keep)

    def validate(
        self, bundle: Bundle, *, ignore_unknown: bool = False, all_given: bool = False
    ) -> ValidationResult:
        """Validate a bundle; raises ValidationErrors with every error. Changes nothing.

        Parameters need no values unless ``all_given``; what reads one that has none is unchecked.
        Whether a runner knows a workflow is not asked: it may be started later. With
        ``ignore_unknown`` types and custom constraints that are not installed are only warned of.
        """
        lender = self._make_lender(lenient=True)
        try:
            definition = self._make_template_loader(lender).load(
                bundle,
                Identity(self.ids.new(), "template", self.settings.project),
                None,
                True,
                all_given=all_given,
                with_warnings=True,
                ignore_unknown=ignore_unknown,
            )
            return ValidationResult.of(definition)
        finally:
            lender.close()

    @property
    def introspection(self) -> Introspection:
        """The queries on files and environments: types, capabilities, parameters."""
        from .introspection import Introspection

        return Introspection(self.plugins, self.function_table, self.limits, self.make_context)

    # -- store and engine -----------------------------------------------------------------------

    @property
    def database(self) -> Path:
        """The database file; raises StoreError for a folder, or if it is not SQLite."""
        url = self.settings.database_url
        if not url.startswith(_SQLITE):
            kind = url.partition(":")[0]
            raise StoreError(
                f"A database of kind {kind} cannot be used.",
                hint="Set database_url to sqlite:///PATH, or leave it out.",
            )
        path = Path(url.removeprefix(_SQLITE)).absolute()
        check_reachable(path)
        return path

    @property
    def key_file(self) -> Path:
        """The file of the sealing key, used unless a setting holds the key."""
        known = self.settings.key_file
        return Path(known).expanduser() if known else self.database.with_name("zonda.key")

    @property
    def exposed_paths(self) -> list[Path]:
        """The paths among home, database and key that every user of this machine may open."""
        return find_exposed((self.settings.home, self.database, self.key_file))

    @cached_property
    def _sealer(self) -> Sealer:
        keys = [key.strip() for key in self.settings.key.split(",") if key.strip()]
        return make_sealer(keys or None, self.key_file, database=self.database)

    @cached_property
    def store(self) -> Store:
        """The database, opened for writing; created if it does not exist."""
        for folder in (self.settings.home, self.database.parent):
            make_folder(folder)
        opened = open_store(
            self.database, sealer=self._sealer, synchronous=self.settings.synchronous
        )
        return self._keep(opened)

    @cached_property
    def lock(self) -> EngineLock:
        """The engine lock of this database."""
        return EngineLock(self.database)

    @property
    def has_engine(self) -> bool:
        """Whether any process is the engine of this database."""
        return self.lock.is_taken()

    @cached_property
    def lender(self) -> ResourceServices:
        """The services that resources may use: runners, clients, secrets."""
        return self._make_lender(lenient=False)

    def _make_lender(self, *, lenient: bool, plugins: Plugins | None = None) -> ResourceServices:
        from .resource_services import ResourceServices

        plugins = plugins or self.plugins
        return ResourceServices(self.settings, plugins, self.clock, self.random, lenient=lenient)

    @cached_property
    def template_loader(self) -> TemplateLoading:
        """The loader that makes definitions from bundles."""
        return self._make_template_loader(self.lender)

    def _make_template_loader(self, lender: ResourceServices) -> TemplateLoading:
        from zonda.core.engine.templates.loading import TemplateLoading

        parts = (self.plugins, self.function_table, self.limits, lender, self.clock, self.random)
        return TemplateLoading(*parts)

    def warnings(self, stack: StackView) -> list[TemplateWarning]:
        """List the warnings about a stack's template; empty where it cannot be read."""
        try:
            known = self.commands.definition(stack.template_id)
            if known is None and stack.template_id is not None:
                known = self.inspector.read_history(stack).template(stack.template_id).definition
        except ZondaError:
            return []
        return [] if known is None else list(known.warnings)

    @property
    def exporter(self) -> StackExporter:
        """The exporter, which makes documents of stacks and snapshots. Reads only."""
        from zonda.core.reports.export import StackExporter

        return StackExporter(self.reader, self.inspector.read)

    @property
    def inspector(self) -> StackInspector:
        """The inspector of stacks: their history, failures and graphs. Reads only."""
        from .inspection import StackInspector

        return StackInspector(self.reader, lambda: self.template_loader)

    @cached_property
    def commands(self) -> EngineClient:
        """The client that sends actions to the engine, wherever the engine runs."""
        return EngineClient(self)

    def act(self, action: Action, *, drive: bool = True, supersedes: bool = True) -> RunningAction:
        """Submit an action to the engine of the database; ``drive``: also carry it out here.

        Raises ZondaError where the action cannot be accepted: ActionInProgress while another one
        is carried out, unless it ``supersedes`` that and may.
        """
        return self.commands.act(self._with_types(action), drive=drive, supersedes=supersedes)

    def _with_types(self, action: Action) -> Action:
        """Add to ``action`` the manifests that a long-running engine may not know."""
        from .declared_types import add_declared_types

        return add_declared_types(action, self._type_folders, lambda: self.plugins)

    def wait(self, name_or_id: str) -> RunningAction:
        """Continue what a stack is doing, here or by watching the engine that does it."""
        return self.commands.wait(name_or_id)

    def wait_for_check(self, check_id: str, seconds: float) -> DriftCheckView:
        """Return a drift check as soon as it has ended, at the latest after ``seconds``."""
        return self.commands.wait_for_check(check_id, seconds)

    def run_engine(self, goes_on: Callable[[int | None], bool] = lambda holder: True) -> bool:
        """Become the engine of every stack until ``close``, as soon as no command is the engine.

        ``goes_on`` is asked while it waits, with the process that it waits for; False gives that
        up. Whether it is the engine now. Raises Conflict if another process is, or waits for it.
        """
        return self.commands.run_engine(goes_on)

    def test_sink(self, name: str) -> str:
        """Send a test event to an event sink; return the error text, or ''. Raises NotFound."""
        from .event_sinks import SinkFactory, send_test_event

        making = SinkFactory(self.settings, self.plugins, self.clock, self.random)
        return send_test_event(making, self.settings, name, self.ids, self.clock)

    def skip_sink(self, name: str) -> int:
        """Drop the events that wait for an event sink; see ``event_sinks``."""
        from .event_sinks import skip_events

        return skip_events(self.reader, self.store, name)

    def check_engine(self) -> None:
        """Raise StoreError if the engine of this process has died."""
        self.commands.check()

    # -- the bundled workflow service -----------------------------------------------------------

    def services(self) -> list[Service]:
        """The workflow services that run for this home."""
        from .runner_service import list_records

        found = (record.service() for record in list_records(self.settings))
        return [service for service in found if service is not None]

    def serve_workflows(
        self,
        files: list[Path],
        address: str | None,
        ready: Callable[[str, str], None],
        name: str = "",
    ) -> None:
        """Run a workflow service until SIGTERM or Ctrl-C; ``ready`` gets its name and its address.

        Raises UsageError for files or an address that cannot be used, Conflict if it runs already,
        or another one serves a workflow of the same name.
        """
        from zonda.core.settings.sections import read_callback_keys
        from zonda.workflows.service import config
        from zonda.workflows.service import server as service

        from .runner_service import run_service

        def run(state: Path, host: str, port: int, token: str, publish: Publish) -> None:
            keys = read_callback_keys(self.settings)
            service.serve(
                *files,
                state_dir=state,
                host=host,
                port=port,
                token=token,
                callback_keys=keys,
                ready=publish,
            )

        workflows = config.load_config(*files).workflows
        run_service(self.settings, files, workflows, address, name, ready, run)

    def check_endpoint(
        self,
        wanted: EndpointCheckOptions,
        pause: Callable[[float], object],
        on_row: Callable[[Row], object],
    ) -> Report:
        """Check an endpoint against the http contract; ``on_row`` gets each row of the report."""
        from zonda.hooks.conformance.pytest_runner import run_with_pytest
        from zonda.workflows.endpoint_check import probe, suite

        added = {"clock": self.clock, "random": self.random}
        section = {**added, **wanted.section(self.settings)}
        target = probe.Target(**wanted.target())
        with suite.EndpointSuite(
            target, section, pause=pause, new_id=self.ids, on_row=on_row
        ) as rules:
            run_with_pytest([rules])
        return rules.report

    # -- the end --------------------------------------------------------------------------------

    def _keep(self, store: Store) -> Store:
        self._opened.append(store)
        return store

    def finish(self, say: Callable[[str], None]) -> None:
        """Wait for other commands before ``close``; see ``EngineClient.finish``."""
        if "commands" in self.__dict__:
            self.commands.finish(say)

    def close(self) -> None:
        """Stop engine and scheduler, close runners and database, release the lock."""
        made = self.__dict__
        if "commands" in made:
            self.commands.close()
        if "lender" in made:
            self.lender.close()
        for store in self._opened:
            store.close()
        if "lock" in made:
            self.lock.release()


def _gather(
    files: list[DropIn],
    failures: list[PluginError],
    *,
    discover: bool = True,
    disabled: Collection[str] = (),
) -> Plugins:
    from zonda.builtin_resources import plugin as built_in
    from zonda.core.plugins.manager import gather_plugins, make_manager
    from zonda.workflows import plugin as workflows

    manager = make_manager(
        built_in,
        workflows,
        files=files,
        discover=discover,
        disabled=disabled,
        failures=failures,
    )
    plugins = gather_plugins(manager, failures)
    if plugins.type_texts:
        from .type_files import add_packages

        add_packages(plugins)
    return plugins


def builtin_kinds() -> Kinds:
    """Give zonda's own kinds of runners and sinks, by the group of their sections."""
    from zonda.workflows import plugin

    return {"runners": plugin.zonda_runners(), "sinks": plugin.zonda_event_sinks()}


def build_app(settings: Settings) -> App:
    """Build the application for these settings. Opens and imports nothing yet."""
    return App(settings)
