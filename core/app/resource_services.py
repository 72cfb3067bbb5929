"""Services for resources beyond their own record: runners, clients, patterns, constraints.

Made by ``core/app/parts.py`` from settings and plug-ins; the engine's ``ResourceContext`` hands the
questions of resources on to it. Many threads ask at once.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zonda.core.plugins.manager import Plugins
from zonda.core.settings.sections import add_networks, resolve_secrets
from zonda.core.settings.table import BUNDLED, DEFAULT_KIND, MISTRAL, Settings
from zonda.hooks.context import Clock
from zonda.hooks.errors import PluginError, UsageError
from zonda.hooks.lazy import LazyFactory
from zonda.hooks.runners.base import WorkflowRunner
from zonda.hooks.schema.constraints import NotChecked
from zonda.hooks.text import patterns
from zonda.hooks.text.borders import raise_interruption
from zonda.hooks.text.suggestions import format_suggestion
from zonda.hooks.text.urls import is_url

if TYPE_CHECKING:  # needed by servers alone
    from zonda.core.settings.project_grants import ProjectGrants

log = logging.getLogger(__name__)

#: The settings that decide what is lent, so that a check of a template may end otherwise with
#: another value. Limits and plug-ins count by themselves (``template/nested/validation_cache``).
LENT = (
    "allowed_networks",
    "connect_give_up",
    "database_url",
    "default_runner",
    "denied_networks",
    "home",
    "key_file",
    "mistral_runner",
    "pattern_seconds",
    "projects",
    "public_url",
    "region_name",
    "runners",
    "secret_sources",
    "service_address",
    "signal_url_days",
)


class ResourceServices:
    """The services that resources may use. Runners and clients are made on demand and kept.

    ``lenient``: workflows are not looked for, e.g. while a template is only looked at.
    ``grants``: what each project may use; None: all of them may use everything.
    """

    def __init__(
        self,
        settings: Settings,
        plugins: Plugins,
        clock: Clock,
        source: random.Random,
        *,
        lenient: bool = False,
        public_url: str = "",
        grants: ProjectGrants | None = None,
    ) -> None:
        self._settings = settings
        self._plugins = plugins
        self._clock = clock
        self._random = source
        self._lenient = lenient
        self._grants = grants
        #: Without a slash at its end; '' where nothing can be reached from outside.
        self.public_url = (settings.public_url or public_url).rstrip("/")
        self._lock = threading.RLock()
        self._runners: dict[str, WorkflowRunner] = {}
        self._clients: dict[str, Any] = {}

    @property
    def setup(self) -> str:
        """A text that changes with the settings that a check may depend on. May hold secrets.

        Where things lie is in it: the secrets that may be lent are said from the home on.
        """
        lent = {name: getattr(self._settings, name) for name in LENT}
        return repr((lent, self.public_url, self._grants is not None))

    @property
    def region(self) -> str:
        """The name of the region that this zonda is, or ''."""
        return self._settings.region_name

    @property
    def is_shared(self) -> bool:
        """Whether a server tells projects apart."""
        return self._grants is not None

    @property
    def signal_url_days(self) -> float:
        """Days until a signal URL expires; 0: never."""
        return self._settings.signal_url_days

    @cached_property
    def lenient(self) -> ResourceServices:
        """The same services for what is simulated: workflows are not looked for."""
        parts = (self._settings, self._plugins, self._clock, self._random)
        return ResourceServices(
            *parts, lenient=True, public_url=self.public_url, grants=self._grants
        )

    # -- runners --------------------------------------------------------------------------------

    def runner(self, workflow: str, project: str = "") -> tuple[WorkflowRunner, str]:
        """Return the runner of ``workflow``, and the workflow's name there; raises UsageError.

        An absolute http(s) URL is called as it is; ``NAME:workflow`` goes to the section
        ``[runners.NAME]``; a bare name to the setting ``default_runner``. ``project``: whose stack
        asks, for the grants.
        """
        if is_url(workflow):
            self._check_grant(project, workflow)
            return self._get_or_make_runner("", lambda: self._make(DEFAULT_KIND, {})), workflow
        name, colon, rest = workflow.partition(":")
        if colon:
            return self._get_named_runner(name, project), rest
        default = self._settings.runner_of_bare_names
        if is_url(default):
            self._check_grant(project, f"{default.rstrip('/')}/{workflow}")
            return self._get_or_make_runner(
                default, lambda: self._make(DEFAULT_KIND, {"endpoint": default})
            ), workflow
        return self._get_named_runner(default, project), workflow

    def load_runners(self) -> None:
        """Import what makes the runners of the settings, before a stack waits for that."""
        for section in self._settings.runners.values():
            factory = self._plugins.runners.get(str(section.get("kind", DEFAULT_KIND)))
            if isinstance(factory, LazyFactory):
                factory.load()

    def _check_grant(self, project: str, runner: str) -> None:
        if self._grants is not None:
            self._grants.check_runner(project, runner)

    def _get_named_runner(self, name: str, project: str) -> WorkflowRunner:
        if name == MISTRAL:
            name = self._settings.mistral_runner
        self._check_grant(project, name)
        section = self._settings.runners.get(name)
        if section is not None:
            return self._get_or_make_runner(name, lambda: self._make_named_runner(name, section))
        served = self._list_service_names()
        if name in served:
            return self._get_or_make_runner(name, lambda: self._make_bundled_runner(name))
        if self._lenient and name == self._settings.mistral_runner:
            # Heat's own types need it: their templates are good where there is none.
            raise NotChecked(
                f"Nothing is asked about what is at Mistral: no runner {name} is known"
            )
        known = [*self._settings.runners, *served]
        if self._grants is not None:
            known = [each for each in known if self._grants.may_use_runner(project, each)]
        raise UsageError(
            f"There is no runner {name}{format_suggestion(name, known)}.",
            hint=f"Add a section [runners.{name}] to zonda.toml, or serve workflows by that name "
            f"('zonda runner serve FILE --name {name}'). There are: {', '.join(known)}.",
        )

    def _list_service_names(self) -> list[str]:
        """List the names of the bundled services that run or have run."""
        from .runners.runner_service import list_records  # only workflows need a runner

        return [record.name for record in list_records(self._settings)]

    def _make_bundled_runner(self, name: str) -> WorkflowRunner:
        """Make the runner of one service; ``bundled`` means whichever has the workflow."""
        from .runners.bundled_runner import BundledRunner
        from .runners.runner_service import get_record, list_records

        one = [get_record(self._settings, name)]
        return BundledRunner(
            lambda: list_records(self._settings) if name == BUNDLED else one,
            lambda section: self._make(DEFAULT_KIND, section),
            self._clock,
            self._settings.connect_give_up,
            label=name,
            lenient=self._lenient,
        )

    def _make_named_runner(self, name: str, section: Mapping[str, Any]) -> WorkflowRunner:
        made = self._make(str(section.get("kind", DEFAULT_KIND)), section, name)
        made.label = name
        return made

    def _make(self, kind: str, section: Mapping[str, Any], name: str = "") -> WorkflowRunner:
        factory = self._plugins.runners.get(kind)
        if factory is None:
            known = ", ".join(sorted(self._plugins.runners))
            blamed = self._plugins.explain_missing("runner", kind)
            raise UsageError(
                f"No plug-in brings runners of kind {kind}.",
                hint=" ".join(filter(None, (f"There are: {known}.", blamed))),
            )
        from zonda.core.settings.section_checks import find_schema

        added = {"clock": self._clock, "random": self._random}
        section = add_networks(resolve_secrets(section, self._settings), self._settings)
        schema = find_schema(factory)
        entries = schema.entries if schema else {}
        if "connect_give_up" in entries:
            added["connect_give_up"] = self._settings.connect_give_up
        if "callback" in entries:
            from .runners.runner_service import get_service_location

            place = get_service_location(self._settings, self.public_url)
            added["service"] = {**place, "section": name}
        return factory({**added, **section})

    def _get_or_make_runner(self, key: str, make: Callable[[], WorkflowRunner]) -> WorkflowRunner:
        with self._lock:
            if key not in self._runners:
                self._runners[key] = make()
            return self._runners[key]

    # -- everything else ------------------------------------------------------------------------

    def secret(self, reference: str, project: str = "") -> str:
        """Read the secret that ``env:NAME`` or ``file:PATH`` names; raises UsageError."""
        from zonda.core.settings.secret_references import list_own_files, resolve_reference

        if self._grants is not None:
            self._grants.check_secret(project, reference)
        known = self._settings
        return resolve_reference(reference, known.home, known.secret_sources, list_own_files(known))

    def check_secret(self, reference: str, project: str = "") -> None:
        """Raise UsageError unless the secret may be named; it need not exist."""
        from zonda.core.settings.secret_references import check_reference, list_own_files

        if self._grants is not None:
            self._grants.check_secret(project, reference)
        known = self._settings
        check_reference(reference, known.home, known.secret_sources, list_own_files(known))

    def client_plugin(self, name: str) -> Any:
        """Return the client plug-in ``name``; raises PluginError where none is installed."""
        with self._lock:
            if name not in self._clients:
                cls = self._plugins.client_plugins.get(name)
                if cls is None:
                    text = f"No client plug-in {name or '(unnamed)'} is installed."
                    blamed = self._plugins.explain_missing("client plug-in", name)
                    raise PluginError(f"{text} {blamed}".strip())
                self._clients[name] = cls()
            return self._clients[name]

    def client(self, name: str) -> Any:
        """Return the client object of the client plug-in ``name``."""
        return self.client_plugin(name).client()

    def full_match(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` matches all of ``text``, within the setting ``pattern_seconds``."""
        return patterns.full_match(pattern, text, self._settings.pattern_seconds)

    def constraint(self, name: str) -> Any:
        """Return the class of the custom constraint ``name``, or None."""
        return self._plugins.constraints.get(name)

    def close(self) -> None:
        """Close the connections of the runners."""
        if "lenient" in self.__dict__:
            self.lenient.close()
        with self._lock:
            for name, runner in self._runners.items():
                try:
                    runner.close()
                except BaseException as error:  # border: a plug-in's runner is called
                    raise_interruption(error)
                    log.warning("The runner %s could not be closed", name, exc_info=True)
            self._runners.clear()
