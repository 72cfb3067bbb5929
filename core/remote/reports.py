"""Reports, documents and queries on templates, asked of a server."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from zonda.core.store.read.views import ActionView, StackView
from zonda.hooks.errors import Path, Place

from .connection import Connection

if TYPE_CHECKING:
    from zonda.core.app.templates import ValidationResult
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
    from zonda.core.template.redaction import RedactedBundle
    from zonda.core.template.source.bundle import Bundle


class RemoteTemplates:
    """Queries on files with the types of the server (``TemplateAccess``)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def validate(
        self, bundle: Bundle, *, ignore_unknown: bool = False, all_given: bool = False
    ) -> ValidationResult:
        """Validate a bundle."""
        found: ValidationResult = self._connection.read(
            "templates.validate",
            bundle=bundle.to_json(),
            ignore_unknown=ignore_unknown,
            all_given=all_given,
        )
        return found

    def explain_type(self, bundle: Bundle, type_name: str, resource: str = "") -> TypeExplanation:
        """Explain how a type is resolved."""
        found: TypeExplanation = self._connection.read(
            "templates.explain_type",
            bundle=bundle.to_json(),
            type_name=type_name,
            resource=resource,
        )
        return found

    def list_candidates(self, bundle: Bundle) -> CatalogResult:
        """List the candidates of the environments."""
        found: CatalogResult = self._connection.read(
            "templates.list_candidates", bundle=bundle.to_json()
        )
        return found

    def list_parameters(self, bundle: Bundle, *, given_too: bool = False) -> ParameterListing:
        """List every parameter of a tree of templates."""
        found: ParameterListing = self._connection.read(
            "templates.list_parameters", bundle=bundle.to_json(), given_too=given_too
        )
        return found


class RemoteReference:
    """The types and functions that the server has (``ReferenceAccess``)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_types(self) -> list[dict[str, str]]:
        """List every type by name, hidden ones too."""
        found: list[dict[str, str]] = self._connection.read("reference.list_types")
        return found

    def describe_type(self, name: str) -> dict[str, Any]:
        """Describe a type as its schemas do; raises NotFound."""
        found: dict[str, Any] = self._connection.read("reference.describe_type", type_name=name)
        return found

    def build_template(self, name: str, *, example: bool) -> dict[str, Any]:
        """Build an initial template of a type, or one with example values; raises NotFound."""
        found: dict[str, Any] = self._connection.read(
            "reference.build_template", type_name=name, example=example
        )
        return found

    def build_schema(self, version: str | None, patterns: list[str]) -> dict[str, Any]:
        """Build the JSON Schema of templates of a version, None: of any; raises NotFound."""
        found: dict[str, Any] = self._connection.read(
            "reference.build_schema", version=version, patterns=patterns
        )
        return found

    def list_plugins(self) -> list[dict[str, Any]]:
        """List every plug-in of the server."""
        found: list[dict[str, Any]] = self._connection.read("reference.list_plugins")
        return found

    def list_functions(self, version: str, *, conditions: bool) -> dict[str, str]:
        """List the first line on each function of a template version; raises NotFound."""
        found: dict[str, str] = self._connection.read(
            "reference.list_functions", version=version, conditions=conditions
        )
        return found


class RemoteInspector:
    """Reports on stacks (``InspectorAccess``)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _read(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.read(f"inspector.{name}", **arguments)

    def list_generations(self, stack: StackView) -> list[Generation]:
        """List every generation that is kept."""
        found: list[Generation] = self._read("list_generations", stack=stack.id)
        return found

    def read_past(self, stack: StackView, generation: int) -> Past:
        """Return a stack as it was at the end of a generation."""
        found: Past = self._read("read_past", stack=stack.id, generation=generation)
        return found

    def show_input(self, stack: StackView, action: ActionView) -> RedactedBundle:
        """Return the redacted input of a generation."""
        found: RedactedBundle = self._read(
            "show_input", stack=stack.id, generation=action.generation
        )
        return found

    def why(
        self, stack: StackView, resource: str | None = None, generation: int | None = None
    ) -> Explanation:
        """Explain the state of a stack, or of one resource."""
        found: Explanation = self._read(
            "why", stack=stack.id, resource=resource, generation=generation
        )
        return found

    def find_place(self, template_id: str, at: Path) -> Place | None:
        """Find the place of a part of a stored template."""
        found: Place | None = self._read("find_place", template_id=template_id, at=list(at))
        return found

    def list_innermost_failures(
        self, stack: StackView, since: int, names: Collection[str]
    ) -> dict[str, list[Failure]]:
        """List what has failed below each resource among ``names``."""
        found: dict[str, list[Failure]] = self._read(
            "list_innermost_failures", stack=stack.id, since=since, names=list(names)
        )
        return found

    def build_graph(self, stack: StackView, depth: int = 0) -> tuple[Graph, str]:
        """Build the graph of a stack."""
        found: tuple[Graph, str] = self._read("build_graph", stack=stack.id, depth=depth)
        return found

    def build_template_graph(self, bundle: Bundle, name: str) -> Graph:
        """Build the graph of a template."""
        found: Graph = self._read("build_template_graph", bundle=bundle.to_json(), name=name)
        return found

    def differences(
        self, stack: StackView, first: int | None, second: int | None
    ) -> tuple[ActionView, ActionView, Differences]:
        """Compare two generations."""
        found: tuple[ActionView, ActionView, Differences] = self._read(
            "differences", stack=stack.id, first=first, second=second
        )
        return found


class RemoteExporter:
    """Documents of stacks and snapshots (``ExporterAccess``)."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _read(self, name: str, /, **arguments: Any) -> Any:
        return self._connection.read(f"exporter.{name}", **arguments)

    def export(self, stack_id: str, *, with_secrets: bool) -> Export:
        """Export the whole document."""
        found: Export = self._read("export", stack=stack_id, with_secrets=with_secrets)
        return found

    def snapshots(self, stack_id: str) -> list[dict[str, Any]]:
        """List the snapshots of a stack."""
        found: list[dict[str, Any]] = self._read("snapshots", stack=stack_id)
        return found

    def snapshot(self, stack_id: str, key: str, *, with_secrets: bool = False) -> dict[str, Any]:
        """Return a snapshot with its data."""
        found: dict[str, Any] = self._read(
            "snapshot", stack=stack_id, key=key, with_secrets=with_secrets
        )
        return found

    def read_sources(self, stack_id: str, *, with_secrets: bool) -> Sources:
        """Read the template, the environment and the files of a stack."""
        found: Sources = self._read("read_sources", stack=stack_id, with_secrets=with_secrets)
        return found
