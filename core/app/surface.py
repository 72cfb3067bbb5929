"""The protocol of an application: all that commands may ask for, by noun.

``App`` carries it out in this process, ``core/remote`` by asking a server. No command knows which
one it has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Protocol

from zonda.core.engine.actions import Action
from zonda.core.store.read.stack_reads import StackReads
from zonda.core.store.read.views import ActionView, StackView
from zonda.core.system.clock import SystemClock
from zonda.hooks.errors import Path, Place, TemplateWarning
from zonda.hooks.records import dataclass

if TYPE_CHECKING:  # imported by those who make them
    from zonda.core.introspection.catalog import CatalogResult
    from zonda.core.introspection.parameters import ParameterListing
    from zonda.core.introspection.type_resolution import Explanation as TypeExplanation
    from zonda.core.reports.differences import Differences
    from zonda.core.reports.export import Export, Sources
    from zonda.core.reports.failures import Failure
    from zonda.core.reports.generations import Generation
    from zonda.core.reports.graph import Graph
    from zonda.core.reports.past import Past
    from zonda.core.reports.why import Explanation
    from zonda.core.store.read.drift_views import DriftCheckView
    from zonda.core.store.read.views import OutputView
    from zonda.core.template.redaction import RedactedBundle
    from zonda.core.template.source.bundle import Bundle, Limits

    from .planning import PlanResult
    from .templates import ValidationResult


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """The message of a running operation that waits. ``since``: seconds since the epoch."""

    resource: str
    message: str
    since: float
    stack_id: str = ""


@dataclass(frozen=True, slots=True)
class RunningAction:
    """An accepted action: everything that is needed to watch it to its end.

    ``generation``: the number of the plan, None where this command has made none.
    ``events_before``: events up to this ``seq`` were there before. ``touches_all``: every resource
    will be worked on. ``check_id``: the drift check that belongs to it, or ''. ``warnings``: those
    about its template, as the engine has told; None where it has not.
    """

    client: EngineAccess
    stack_id: str
    name: str
    generation: int | None = None
    events_before: int = 0
    touches_all: bool = False
    check_id: str = ""
    warnings: tuple[TemplateWarning, ...] | None = None


class EngineAccess(Protocol):
    """The way to the engine, wherever it runs."""

    def act(self, action: Action, *, drive: bool = True, supersedes: bool = True) -> RunningAction:
        """Submit an action; ``drive``: also carry it out here. Raises ZondaError."""

    def wait(self, name_or_id: str) -> RunningAction:
        """Continue what a stack is doing, here or by watching the engine that does it."""

    def is_at_rest(self, stack: StackView) -> bool:
        """Whether nothing is planned or running in the stack, nor above or below it."""

    @property
    def look_again(self) -> float:
        """Seconds after which to look again while something goes on."""

    def look(self, stack_id: str, seconds: float, seen: int = 0) -> StackView:
        """Return the stack as soon as it is at rest, at the latest after ``seconds``.

        ``seen``: the last event that is known; news may end the waiting.
        """

    def wait_for_check(self, check_id: str, seconds: float) -> DriftCheckView:
        """Return a drift check as soon as it has ended, at the latest after ``seconds``."""

    def waiting(self, stack_id: str) -> list[PendingRequest] | None:
        """List the operations that wait, also nested ones; None: nobody tells them here."""

    def count_resources(self, stack_id: str) -> int:
        """Count the stack's resource instances, with those of nested stacks."""

    def find_holder(self, stack: StackView) -> str:
        """Find what carries out the actions of a stack now, for people; '' if nothing does."""

    @property
    def other_engine(self) -> str:
        """The name of another process that is the engine, for people; '' if there is none."""

    def finish(self, say: Callable[[str], None]) -> None:
        """Accept nothing more before ``close``; wait for handlers of other commands."""


class StackValuesAccess(Protocol):
    """The values of stacks through their templates."""

    def outputs(
        self, stack_id: str, *, refresh: bool = False, reveal: bool = False
    ) -> list[OutputView]:
        """Resolve the outputs; ``reveal``: hidden ones, too."""

    def parameters(self, stack_id: str) -> dict[str, Any]:
        """Return the parameters' values, hidden ones redacted."""


class StackAccess(Protocol):
    """The stacks of a project."""

    def find(self, name_or_id: str) -> StackView:
        """Find a stack of this project by name or id; raises NotFound."""

    def find_or_deleted(self, name_or_id: str) -> StackView:
        """Find a stack, else the last deleted one of this name; raises NotFound."""

    def list_all(self, *, nested: bool = False) -> list[StackView]:
        """List the live stacks of this project, the oldest first."""

    def make_values(self) -> StackValuesAccess:
        """Make the reader of parameters and outputs."""

    def list_warnings(self, stack: StackView) -> list[TemplateWarning]:
        """List the warnings about a stack's template; empty where it cannot be read."""

    def plan(self, action: Action, *, keep: bool = False) -> PlanResult:
        """Preview an action; ``keep``: with the text of a plan file."""


class TemplateAccess(Protocol):
    """The queries on files."""

    def validate(
        self, bundle: Bundle, *, ignore_unknown: bool = False, all_given: bool = False
    ) -> ValidationResult:
        """Validate a bundle; raises ValidationErrors."""

    def explain_type(self, bundle: Bundle, type_name: str, resource: str = "") -> TypeExplanation:
        """Explain how the registry of the environments resolves a type."""

    def list_candidates(self, bundle: Bundle) -> CatalogResult:
        """List the candidates of the environments."""

    def list_parameters(self, bundle: Bundle, *, given_too: bool = False) -> ParameterListing:
        """List every parameter of a tree of templates."""


class InspectorAccess(Protocol):
    """Reports on stacks."""

    def list_generations(self, stack: StackView) -> list[Generation]:
        """List every generation that is kept, the oldest first."""

    def read_past(self, stack: StackView, generation: int) -> Past:
        """Return a stack as it was at the end of a generation; raises NotFound."""

    def show_input(self, stack: StackView, action: ActionView) -> RedactedBundle:
        """Return the redacted input of a generation; raises ZondaError if it cannot be read."""

    def why(
        self, stack: StackView, resource: str | None = None, generation: int | None = None
    ) -> Explanation:
        """Explain the state of a stack, or of one resource; raises NotFound."""

    def find_place(self, template_id: str, at: Path) -> Place | None:
        """Find the place of a part of a stored template; None where that has no file."""

    def list_innermost_failures(
        self, stack: StackView, since: int, names: Collection[str]
    ) -> dict[str, list[Failure]]:
        """List what has failed below each resource among ``names`` since a generation."""

    def build_graph(self, stack: StackView, depth: int = 0) -> tuple[Graph, str]:
        """Build the graph of a stack; also return why its edges cannot be explained, or ''."""

    def build_template_graph(self, bundle: Bundle, name: str) -> Graph:
        """Build the graph of a template without a stack; raises ValidationErrors."""

    def differences(
        self, stack: StackView, first: int | None, second: int | None
    ) -> tuple[ActionView, ActionView, Differences]:
        """Compare two generations; return both and their differences."""


class ExporterAccess(Protocol):
    """Documents of stacks and snapshots."""

    def export(self, stack_id: str, *, with_secrets: bool) -> Export:
        """Export the whole document, with nested stacks in the entries of their owners."""

    def snapshots(self, stack_id: str) -> list[dict[str, Any]]:
        """List the snapshots of a stack, the oldest first, without their data."""

    def snapshot(self, stack_id: str, key: str, *, with_secrets: bool = False) -> dict[str, Any]:
        """Return a snapshot by its id or name with its data; raises NotFound."""

    def read_sources(self, stack_id: str, *, with_secrets: bool) -> Sources:
        """Read the template, the environment with all parameters, and the files of a stack."""


class ReferenceAccess(Protocol):
    """The reference of resource types and functions."""

    def list_types(self) -> list[dict[str, str]]:
        """List every type by name, hidden ones too."""

    def describe_type(self, name: str) -> dict[str, Any]:
        """Describe a type as its schemas do; raises NotFound."""

    def build_template(self, name: str, *, example: bool) -> dict[str, Any]:
        """Build an initial template of a type, or one with example values; raises NotFound."""

    def build_schema(self, version: str | None, patterns: list[str]) -> dict[str, Any]:
        """Build the JSON Schema of templates of a version, None: of any; raises NotFound.

        Of types that come by the thousand only those are described that one of ``patterns`` (with
        ``*`` and ``?``) names.
        """

    def list_plugins(self) -> list[dict[str, Any]]:
        """List every plug-in, also failed ones, with what it provides by kind."""

    def list_functions(self, version: str, *, conditions: bool) -> dict[str, str]:
        """List the first line on each function of a template version; raises NotFound."""


class Application(Protocol):
    """An application: the database of this machine, or a server."""

    @property
    def clock(self) -> SystemClock:
        """The clock."""

    @property
    def limits(self) -> Limits:
        """The limits that templates must keep."""

    @property
    def reader(self) -> StackReads:
        """The reads of stacks, resources, events and drift."""

    @property
    def stacks(self) -> StackAccess:
        """The stacks of this project."""

    @property
    def engine(self) -> EngineAccess:
        """The way to the engine."""

    @property
    def templates(self) -> TemplateAccess:
        """The queries on templates and environments that need no stack."""

    @property
    def inspector(self) -> InspectorAccess:
        """The inspector of stacks."""

    @property
    def reference(self) -> ReferenceAccess:
        """The reference of resource types and functions."""

    @property
    def exporter(self) -> ExporterAccess:
        """The exporter of documents."""

    def check_home(self) -> None:
        """Raise StoreError where there is nothing that stacks could be read from."""

    def close(self) -> None:
        """Close it; whatever still runs can be continued later."""
